package io.erdma.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/**
 * Stands for {@code erdma agent} in the list of commands. The agent reads its arguments itself, so {@link ErdmaMain}
 * starts it before picocli is even loaded.
 */
@Command(name = "agent", header = "Offer this node's eRDMA devices to the kubelet (the DaemonSet's program).")
final class AgentCommand implements Runnable {
    @Unmatched
    private List<String> arguments = new ArrayList<>();

    @Override
    public void run() {
        throw new IllegalStateException("the agent is started before the command line is parsed: " + arguments);
    }
}
