package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.node.kube.CleanupRollout;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterClient;
import io.erdma.node.kube.ClusterException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code erdma await-cleanup}, for the chart's last job alone. */
@Command(
        name = "await-cleanup",
        hidden = true,
        sortOptions = false,
        header = "Wait until the pods of a DaemonSet have cleaned their nodes.",
        description = "For the Job that the Helm chart starts when it is uninstalled. Asks the cluster's API once a"
                + " second, and names the nodes that are not clean when the time is up.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:all nodes are clean",
            " 1:some are not, or nobody could tell; the error stream says which and why",
            "64:wrong usage",
            "70:our own fault"
        })
final class AwaitCleanupCommand implements Callable<Integer> {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final Console console;
    private final Map<String, String> environment;

    @Option(
            names = "--timeout-seconds",
            paramLabel = "N",
            defaultValue = "120",
            description = "How long to wait. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Parameters(paramLabel = "NAMESPACE", description = "The DaemonSet's namespace.")
    private String namespace;

    @Parameters(paramLabel = "DAEMONSET", description = "Its name.")
    private String daemonSet;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    AwaitCleanupCommand(Console console, Map<String, String> environment) {
        this.console = requireNonNull(console, "console is null");
        this.environment = Map.copyOf(environment);
    }

    @Override
    public Integer call() throws IOException {
        Optional<ClusterAccess> access = ClusterAccess.find(environment, ClusterAccess.SERVICE_ACCOUNT);
        if (access.isEmpty()) {
            console.complain("there are no credentials here for the cluster's API");
            return ExitCode.NOT_USABLE;
        }
        try (StopSignal signal = new StopSignal();
                ClusterClient client = ClusterClient.open(access.get())) {
            return await(
                    () -> CleanupRollout.read(client, namespace, daemonSet),
                    new Ticks(PERIOD, Math.max(1, seconds), signal.asked()),
                    console);
        } catch (ClusterException e) {
            console.complain(e.getMessage());
            return ExitCode.NOT_USABLE;
        }
    }

    /** Tells how far the pods are. */
    @FunctionalInterface
    interface Rollout {
        CleanupRollout read() throws ClusterException;
    }

    /** Looks at each tick until there is none, so that an API server that is away for a while costs nothing but time. */
    static int await(Rollout rollout, LiveStat.Pace pace, Console console) throws IOException {
        CleanupRollout last = null;
        String failure = "nobody has told how far they are";
        while (pace.next()) {
            try {
                last = rollout.read();
                if (last.isDone()) {
                    console.print("all " + last.clean() + " nodes are clean\n");
                    return ExitCode.OK;
                }
            } catch (ClusterException e) {
                failure = e.getMessage();
            }
        }
        if (last == null) {
            console.complain("whether the nodes are clean is not known: " + failure);
            return ExitCode.NOT_USABLE;
        }
        console.complain(last.clean() + " of "
                + (last.nodes().isPresent() ? last.nodes().getAsInt() : "an unknown number of")
                + " nodes are clean");
        last.open().forEach(open -> console.complain("not clean: " + open.node() + ": " + open.why()));
        return ExitCode.NOT_USABLE;
    }
}
