package io.erdma.lab;

import io.erdma.plugin.FakeKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A node of the lab: a kubelet that runs, and the real agent as often as it is started. */
public final class Node implements AutoCloseable {
    /** Far beyond what anything takes, also on an emulated machine beside others. */
    public static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Path launcher;
    private final Path out;
    private final Path kubeletRoot;
    private final FakeKubelet kubelet;

    /**
     * @param tree what {@code mvn package} leaves at controller/target/erdma
     * @param out where logs go
     */
    public Node(Path tree, Path out) throws IOException {
        this.launcher = tree.toAbsolutePath().resolve("bin/erdma");
        this.out = out;
        this.kubeletRoot = Files.createTempDirectory("kubelet");
        this.kubelet = FakeKubelet.start(kubeletRoot);
        // What the real kubelet allows.
        kubelet.dialDeadline(Duration.ofSeconds(10));
    }

    public FakeKubelet kubelet() {
        return kubelet;
    }

    public Path launcher() {
        return launcher;
    }

    /** What the agent is told as {@code --kubelet-root-dir}. */
    public Path kubeletRoot() {
        return kubeletRoot;
    }

    /** The project's directory, above controller/target/erdma. */
    public Path project() {
        return launcher.resolve("../../../../..").normalize();
    }

    public List<String> agentCommand(List<String> options) {
        List<String> command = new ArrayList<>(List.of(
                launcher.toString(),
                "agent",
                "--kubelet-root-dir=" + kubeletRoot,
                "--device-selector=driver=rdma_rxe"));
        command.addAll(options);
        return command;
    }

    public List<String> cleanupCommand() {
        return List.of(
                launcher.toString(),
                "cleanup",
                "--kubelet-root-dir=" + kubeletRoot,
                "--cdi-dir=" + kubeletRoot.resolve("cdi"));
    }

    public AgentProcess startAgent(String logName, List<String> command) {
        return AgentProcess.start(command, out.resolve(logName), Map.of());
    }

    /** Number of healthy shares of each device in a list, 0 for one that is there and unhealthy. */
    public static Map<String, Integer> healthyShares(FakeKubelet.Message message) {
        Map<String, Integer> shares = new TreeMap<>();
        message.list().getDevicesList().forEach(device -> {
            String name = device.getID().substring(0, device.getID().lastIndexOf('/'));
            shares.merge(name, device.getHealth().equals("Healthy") ? 1 : 0, Integer::sum);
        });
        return shares;
    }

    /** The first message from that position on with exactly these healthy shares. */
    public FakeKubelet.Message awaitShares(int from, Map<String, Integer> shares) {
        return kubelet.awaitMessage(from, message -> healthyShares(message).equals(shares), PATIENCE);
    }

    @Override
    public void close() throws IOException {
        kubelet.close();
    }
}
