package io.erdma.bench;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.lab.Command;
import io.erdma.plugin.FakeKubelet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The real agent process on a {@link BenchNode}, with a kubelet of its own, both in a directory that goes with them. */
final class Daemon implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final int SHARES = 200;

    private final Path directory;
    private final BenchNode node;
    private final FakeKubelet kubelet;
    private final AgentProcess agent;

    private Daemon(Path directory, BenchNode node, FakeKubelet kubelet, AgentProcess agent) {
        this.directory = directory;
        this.node = node;
        this.kubelet = kubelet;
        this.agent = agent;
    }

    static Daemon start(Path tree, Path log, int devices, List<String> options) throws IOException {
        return start(tree, log, devices, options, Map.of());
    }

    /**
     * Returns once every share is offered.
     *
     * @param environment settings of the launcher
     */
    static Daemon start(Path tree, Path log, int devices, List<String> options, Map<String, String> environment)
            throws IOException {
        Path directory = Files.createTempDirectory("erdma-bench");
        BenchNode node = new BenchNode(directory, devices);
        FakeKubelet kubelet = FakeKubelet.start(directory.resolve("kubelet"));
        kubelet.dialDeadline(Duration.ofSeconds(10));
        List<String> command = new ArrayList<>(List.of(
                tree.toAbsolutePath().resolve("bin/erdma").toString(),
                "agent",
                "--kubelet-root-dir=" + directory.resolve("kubelet"),
                "--probe-address=127.0.0.1:0",
                "--page-address=127.0.0.1:0"));
        command.addAll(node.agentOptions());
        command.addAll(options);
        Map<String, String> variables = new HashMap<>(environment);
        variables.putAll(node.verbs().environment());
        AgentProcess agent = AgentProcess.start(command, log, variables);
        Daemon daemon = new Daemon(directory, node, kubelet, agent);
        try {
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, (long) devices * SHARES, PATIENCE);
            kubelet.awaitRegistration(1, PATIENCE);
            return daemon;
        } catch (AssertionError e) {
            daemon.close();
            throw new IllegalStateException("the agent did not offer its devices; its log is " + log, e);
        }
    }

    BenchNode node() {
        return node;
    }

    FakeKubelet kubelet() {
        return kubelet;
    }

    /** From exec to the arrival of the first Register. */
    Duration startToRegister() {
        return Duration.ofNanos(kubelet.registrations().getFirst().arrivedNanos() - agent.startedNanos());
    }

    ProcessFigures figures() {
        return ProcessFigures.of(agent.pid());
    }

    /** What the agent's JVM answers to a diagnostic command; the first one starts a thread in it. */
    String jcmd(String command) {
        return Command.check(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(agent.pid()),
                        command)
                .out();
    }

    AgentProcess.Exit stop() {
        return agent.terminate(PATIENCE);
    }

    long pid() {
        return agent.pid();
    }

    /** Restarts the kubelet and waits until everything is offered again; answers from kubelet.sock to accepted. */
    Duration restartKubelet() throws IOException {
        return restartKubelet(FakeKubelet.Wipe.SOCKETS);
    }

    Duration restartKubelet(FakeKubelet.Wipe wipe) throws IOException {
        int before = kubelet.registrations().size();
        kubelet.restart(wipe, Duration.ZERO);
        FakeKubelet.Registration again = kubelet.awaitRegistration(before + 1, PATIENCE);
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, (long) node.size() * SHARES, PATIENCE);
        return Duration.ofNanos(again.acceptedNanos() - kubelet.listeningSinceNanos());
    }

    @Override
    public void close() throws IOException {
        try {
            if (agent.isAlive()) {
                agent.terminate(PATIENCE);
            }
        } finally {
            agent.close();
            kubelet.close();
            Await.until("the agent has ended", PATIENCE, () -> !agent.isAlive());
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).forEach(Daemon::delete);
            }
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
