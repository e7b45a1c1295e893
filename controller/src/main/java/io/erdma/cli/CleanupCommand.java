package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.Leftovers;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.PodShares;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
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
            "For after the agent was uninstalled: its CDI specification, sockets on which nobody listens any more, and"
                    + " its own routes and addresses. Routes and addresses stay while a pod holds a share, or while"
                    + " nobody can tell. Prints a line for each thing removed; a second run has nothing to do.",
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
    private final NetworkCleanup network;
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

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    CleanupCommand(Console console, NetworkCleanup network) {
        this.console = requireNonNull(console, "console is null");
        this.network = requireNonNull(network, "network is null");
    }

    @Override
    public Integer call() throws IOException {
        Leftovers leftovers = new Leftovers(kubelet.rootDirectory(), cdiDirectory);
        removeSockets(leftovers);
        List<Path> running = leftovers.liveSockets();
        if (running.isEmpty()) {
            removeSpec(leftovers);
            cleanNetwork();
        } else {
            leave("an agent still runs (" + running.getFirst()
                    + " answers): its CDI specification, routes and addresses" + " stay; uninstall it first");
        }
        if (removed == 0 && left == 0) {
            console.print("nothing to do: this node is clean\n");
        }
        return left == 0 ? ExitCode.OK : ExitCode.NOT_USABLE;
    }

    private void removeSockets(Leftovers leftovers) throws IOException {
        for (Path socket : leftovers.staleSockets()) {
            remove("socket", socket);
        }
    }

    private void removeSpec(Leftovers leftovers) throws IOException {
        Optional<Path> spec = leftovers.cdiSpec();
        if (spec.isPresent()) {
            remove("CDI specification", spec.get());
        }
    }

    private void remove(String what, Path file) throws IOException {
        try {
            if (Files.deleteIfExists(file)) {
                tell(what + " " + file);
            }
        } catch (IOException e) {
            leave(what + " " + file + " cannot be removed: " + e);
        }
    }

    private void cleanNetwork() throws IOException {
        Optional<String> inUse = inUse();
        if (inUse.isPresent()) {
            leave("routes and addresses stay: " + inUse.get());
            return;
        }
        try {
            NetworkCleanup.Result result = network.run();
            for (String line : result.removed()) {
                tell(line);
            }
            result.left().forEach(this::leave);
        } catch (IOException e) {
            leave(e.getMessage());
        }
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

    private void tell(String what) throws IOException {
        removed++;
        console.print("removed " + TerminalText.escape(what) + "\n");
    }

    private void leave(String why) {
        left++;
        console.complain("left: " + why);
    }
}
