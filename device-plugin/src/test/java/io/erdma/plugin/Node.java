package io.erdma.plugin;

import io.erdma.log.InotifyShortage;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A kubelet's root in a temporary directory, with whatever agents a test starts there; all end with it. */
final class Node implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(20);

    private static final Duration REGISTER = Duration.ofSeconds(10);
    private static final Duration STREAM = Duration.ofSeconds(2);
    private static final Duration CLOSE = Duration.ofSeconds(2);

    private final Path root;
    private final Deque<Agent> agents = new ArrayDeque<>();

    Node(Path root) {
        this.root = root;
    }

    /** One agent: its own transport, service and session. */
    static final class Agent implements AutoCloseable {
        final UnixTransport transport = UnixTransport.open();
        final TestPlugin plugin = new TestPlugin(200);
        final List<String> failures = new CopyOnWriteArrayList<>();
        final KubeletSession session;

        private Agent(SessionSettings settings, DirectoryWatch.Factory watches) {
            PluginObserver observer = new PluginObserver() {
                @Override
                public void registrationFailed(String reason) {
                    failures.add(reason);
                }
            };
            session = new KubeletSession(settings, transport, plugin, observer, watches, new InotifyShortage());
            session.start();
        }

        @Override
        public void close() {
            session.close();
            transport.close();
        }
    }

    Path root() {
        return root;
    }

    SessionSettings settings() {
        return settings(REGISTER, STREAM, SOON, CLOSE);
    }

    /** For a kubelet that hangs. */
    SessionSettings impatient() {
        return settings(Duration.ofMillis(500), STREAM, SOON, CLOSE);
    }

    /** For a kubelet that opens no stream. */
    SessionSettings awaitingTheStreamFor(Duration patience) {
        return settings(REGISTER, patience, SOON, CLOSE);
    }

    /** For a kubelet that stays away. */
    SessionSettings warningAfter(Duration absence) {
        return settings(REGISTER, STREAM, absence, CLOSE);
    }

    /** For a session that does not end in time. */
    SessionSettings closingWithin(Duration patience) {
        return settings(REGISTER, STREAM, SOON, patience);
    }

    private SessionSettings settings(
            Duration registerDeadline, Duration streamPatience, Duration absence, Duration closeWithin) {
        return new SessionSettings(
                root,
                FakeKubelet.RESOURCE,
                registerDeadline,
                Duration.ofMillis(20),
                Duration.ofMillis(500),
                streamPatience,
                Duration.ofMillis(60),
                absence,
                Duration.ofMillis(100),
                closeWithin);
    }

    Agent agent() {
        return agent(settings(), InotifyWatch::open);
    }

    Agent agent(SessionSettings settings, DirectoryWatch.Factory watches) {
        Agent agent = new Agent(settings, watches);
        agents.push(agent);
        return agent;
    }

    List<Path> sockets() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve("device-plugins"), "erdma-*.sock")) {
            entries.forEach(found::add);
        }
        return found;
    }

    @Override
    public void close() {
        agents.forEach(Agent::close);
    }
}
