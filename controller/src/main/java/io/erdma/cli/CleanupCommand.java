package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.node.Hostname;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.plugin.Leftovers;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.PodShares;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code erdma cleanup}. */
@Command(
        name = "cleanup",
        sortOptions = false,
        header = "Remove from this node what the agent left there.",
        description = {
            "For after the agent was uninstalled: its CDI specification, sockets on which nobody listens any more,"
                    + " directories of driver installers, and its own routes and addresses. Routes and addresses stay"
                    + " while a pod holds a share, or while nobody can tell. Prints a line for each thing removed; a"
                    + " second run has nothing to do.",
            "Neither links, nor routes of anybody else, nor the kernel's modules are touched."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:the node is clean",
            " 1:something was left; the error stream says what and why",
            "64:wrong usage",
            "70:our own fault"
        })
final class CleanupCommand implements Callable<Integer> {
    /** On a busy node a Java that was just started takes seconds for its first call, and an uninstallation can wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Console console;
    private final List<Leftover> leftovers;
    private final Supplier<List<Long>> agents;
    private final Map<String, String> environment;
    private int removed;
    private int left;

    @Mixin
    private KubeletOptions kubelet;

    @Option(
            names = "--cdi-dir",
            paramLabel = "DIR",
            defaultValue = "/var/run/cdi",
            description = "Where the CDI specification was written. Default: ${DEFAULT-VALUE}.")
    private Path cdiDirectory;

    @Option(
            names = "--node-marks",
            description =
                    "Also remove the condition ErdmaReady and the label aliyun.accelerator/erdma that the agent set on"
                            + " its Node object; needs credentials for the cluster's API with get and patch on nodes and patch on"
                            + " nodes/status.")
    private boolean nodeMarks;

    @Option(
            names = "--node-name",
            paramLabel = "NAME",
            defaultValue = "",
            description =
                    "With --node-marks: the Node object's name. Default: NODE_NAME of the environment, else the host's"
                            + " name.")
    private String nodeName;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    /**
     * @param leftovers beside sockets and the CDI specification, in the order in which they go
     * @param agents ids of the agents' processes on this node, as far as this process sees them
     * @param environment tells how the cluster's API is reached
     */
    CleanupCommand(
            Console console, List<Leftover> leftovers, Supplier<List<Long>> agents, Map<String, String> environment) {
        this.console = requireNonNull(console, "console is null");
        this.leftovers = List.copyOf(leftovers);
        this.agents = requireNonNull(agents, "agents is null");
        this.environment = Map.copyOf(environment);
    }

    @Override
    public Integer call() {
        Leftovers files = new Leftovers(kubelet.rootDirectory(), cdiDirectory);
        attempt("sockets", () -> FileCleanup.remove("socket", files.staleSockets()));
        Optional<String> agent = runningAgent(files);
        List<Leftover> all = new ArrayList<>(List.of(new SpecCleanup(files)));
        all.addAll(leftovers);
        if (nodeMarks) {
            all.add(new MarksCleanup(ClusterAccess.find(environment, ClusterAccess.SERVICE_ACCOUNT), node()));
        }
        if (agent.isPresent()) {
            leave(agent.get() + ": " + names(all) + " stay; uninstall it first");
        } else {
            Optional<Optional<String>> inUse = Optional.empty();
            for (Leftover one : all) {
                if (one.podsNeedIt() && inUse.isEmpty()) {
                    inUse = Optional.of(inUse());
                }
                Optional<String> why = one.podsNeedIt() ? inUse.orElseThrow() : Optional.empty();
                if (why.isPresent()) {
                    leave(one.name() + " stay: " + why.get());
                } else {
                    attempt(one.name(), one::remove);
                }
            }
        }
        if (removed == 0 && left == 0) {
            print("nothing to do: this node is clean\n");
        }
        return left == 0 ? ExitCode.OK : ExitCode.NOT_USABLE;
    }

    private String node() {
        if (!nodeName.isEmpty()) {
            return nodeName;
        }
        String given = environment.getOrDefault("NODE_NAME", "");
        return given.isEmpty() ? Hostname.read() : given;
    }

    private static String names(List<Leftover> all) {
        List<String> names = all.stream().map(Leftover::name).toList();
        return String.join(", ", names.subList(0, names.size() - 1))
                + (names.size() > 1 ? " and " : "")
                + names.getLast();
    }

    /** One kind that cannot be looked at keeps no other from being cleaned up. */
    private void attempt(String name, Attempt attempt) {
        try {
            Leftover.Result result = attempt.remove();
            result.removed().forEach(this::tell);
            result.left().forEach(this::leave);
        } catch (IOException e) {
            leave(name + " cannot be looked at: " + e);
        }
    }

    @FunctionalInterface
    private interface Attempt {
        Leftover.Result remove() throws IOException;
    }

    /** While there is no kubelet, an agent that runs has no socket, and only its process shows. */
    private Optional<String> runningAgent(Leftovers files) {
        try {
            List<Path> sockets = files.liveSockets();
            if (!sockets.isEmpty()) {
                return Optional.of("an agent still runs (" + sockets.getFirst() + " answers)");
            }
        } catch (IOException e) {
            return Optional.of("whether an agent still runs cannot be told (" + e + ")");
        }
        return agents.get().stream().findFirst().map(pid -> "an agent still runs (pid " + pid + ")");
    }

    /** Why traffic of pods may depend on our routes; absent when none does. */
    private Optional<String> inUse() {
        try (UnixTransport transport = UnixTransport.open()) {
            return switch (new PodShares(transport, kubelet.rootDirectory(), kubelet.resourceName(), PATIENCE).list()) {
                case PodShares.Answer.Known known when known.holders().isEmpty() -> Optional.empty();
                case PodShares.Answer.Known known ->
                    Optional.of("these pods hold shares of " + kubelet.resourceName() + ": " + names(known));
                case PodShares.Answer.Unreadable unreadable ->
                    Optional.of("whether pods hold shares cannot be told: " + unreadable.reason());
            };
        }
    }

    private static String names(PodShares.Answer.Known known) {
        List<String> names = new ArrayList<>();
        known.holders().forEach(holder -> names.add(holder.namespace() + "/" + holder.pod()));
        return names.stream().distinct().collect(Collectors.joining(", "));
    }

    private void tell(String what) {
        removed++;
        print("removed " + TerminalText.escape(what) + "\n");
    }

    /** That nobody reads on must not end the work in the middle; the exit code tells of the work. */
    private void print(String text) {
        try {
            console.print(text);
        } catch (IOException nobodyReads) {
            return;
        }
    }

    private void leave(String why) {
        left++;
        console.complain("left: " + why);
    }
}
