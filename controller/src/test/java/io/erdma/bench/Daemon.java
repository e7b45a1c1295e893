package io.erdma.bench;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.lab.Command;
import io.erdma.plugin.FakeKubelet;
import io.erdma.verbs.FakeVerbs;
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
import java.util.Optional;
import java.util.stream.Stream;

/** The real agent process on a {@link BenchNode}, with a kubelet of its own, both in a directory that goes with them. */
final class Daemon implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final int SHARES = 200;

    private final Path directory;
    private final BenchNode node;
    private final FakeKubelet kubelet;
    /** The agent, or what runs it in a container and hands signals on. */
    private final AgentProcess agent;

    private final Optional<String> container;

    private Daemon(
            Path directory, BenchNode node, FakeKubelet kubelet, AgentProcess agent, Optional<String> container) {
        this.directory = directory;
        this.node = node;
        this.kubelet = kubelet;
        this.agent = agent;
        this.container = container;
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
        List<String> command = new ArrayList<>(
                List.of(tree.toAbsolutePath().resolve("bin/erdma").toString(), "agent"));
        command.addAll(options);
        Map<String, String> variables = new HashMap<>(environment);
        variables.putAll(node.verbs().environment());
        return start(directory, node, command, variables, log, Optional.empty());
    }

    /** The same in a container with a read-only root and no capability; it counts from the start of {@code docker run}. */
    static Daemon startInContainer(String image, Path log, int devices, Map<String, String> environment)
            throws IOException {
        Path directory = Files.createTempDirectory("erdma-bench");
        BenchNode node = new BenchNode(directory, devices);
        Path library = FakeVerbs.library().getParent();
        String name = directory.getFileName().toString();
        List<String> command = new ArrayList<>(List.of("docker", "run", "--rm", "--name", name, "--network=none"));
        command.addAll(List.of("--read-only", "--cap-drop=ALL", "--label=io.erdma.test=true"));
        command.addAll(List.of("--volume", directory + ":" + directory, "--volume", library + ":" + library + ":ro"));
        Map<String, String> variables = new HashMap<>(environment);
        variables.putAll(node.verbs().environment());
        variables.put("ERDMA_METADATA_ADDRESS", "http://127.0.0.1:1");
        variables.forEach((variable, value) -> command.addAll(List.of("--env", variable + "=" + value)));
        command.addAll(List.of(image, "agent"));
        return start(directory, node, command, Map.of(), log, Optional.of(name));
    }

    private static Daemon start(
            Path directory,
            BenchNode node,
            List<String> command,
            Map<String, String> environment,
            Path log,
            Optional<String> container)
            throws IOException {
        FakeKubelet kubelet = FakeKubelet.start(directory.resolve("kubelet"));
        kubelet.dialDeadline(Duration.ofSeconds(10));
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(
                "--kubelet-root-dir=" + directory.resolve("kubelet"),
                "--probe-address=127.0.0.1:0",
                "--page-address=127.0.0.1:0"));
        all.addAll(node.agentOptions());
        AgentProcess agent = AgentProcess.start(all, log, environment);
        Daemon daemon = new Daemon(directory, node, kubelet, agent, container);
        try {
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, (long) node.size() * SHARES, PATIENCE);
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
        return ProcessFigures.of(pid());
    }

    /** What the agent's JVM answers to a diagnostic command; the first one starts a thread in it. */
    String jcmd(String command) {
        return Command.check(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid()),
                        command)
                .out();
    }

    AgentProcess.Exit stop() {
        return agent.terminate(PATIENCE);
    }

    long pid() {
        return container
                .map(name -> Long.parseLong(Command.check("docker", "inspect", "--format", "{{.State.Pid}}", name)
                        .out()
                        .strip()))
                .orElseGet(agent::pid);
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
            container.ifPresent(name -> Command.run(List.of("docker", "rm", "--force", name)));
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
