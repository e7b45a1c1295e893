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
        return new SessionSettings(
                root,
                FakeKubelet.RESOURCE,
                Duration.ofSeconds(10),
                Duration.ofMillis(20),
                Duration.ofMillis(500),
                Duration.ofSeconds(2),
                Duration.ofMillis(60),
                Duration.ofSeconds(1),
                Duration.ofMillis(100),
                Duration.ofSeconds(2));
    }

    /** For a kubelet that hangs. */
    SessionSettings impatient() {
        SessionSettings usual = settings();
        return new SessionSettings(
                root,
                usual.resource(),
                Duration.ofSeconds(1),
                usual.firstBackOff(),
                usual.longestBackOff(),
                usual.streamPatience(),
                usual.settle(),
                usual.absence(),
                usual.poll(),
                usual.closeWithin());
    }

    /** For a session that does not end in time. */
    SessionSettings closingWithin(Duration patience) {
        SessionSettings usual = settings();
        return new SessionSettings(
                root,
                usual.resource(),
                usual.registerDeadline(),
                usual.firstBackOff(),
                usual.longestBackOff(),
                usual.streamPatience(),
                usual.settle(),
                usual.absence(),
                usual.poll(),
                patience);
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
