package io.erdma.plugin;

import static io.erdma.plugin.FakeKubelet.RESOURCE;
import static io.erdma.plugin.Node.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.plugin.FakeKubelet.OldEndpoint;
import io.erdma.plugin.FakeKubelet.Wipe;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KubeletSessionTest {
    @TempDir
    private Path root;

    private Node node;
    private FakeKubelet kubelet;

    @BeforeAll
    static void lookOften() {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
    }

    @BeforeEach
    void startKubelet() throws IOException {
        node = new Node(root);
        kubelet = FakeKubelet.start(root);
    }

    @AfterEach
    void stopAll() throws IOException {
        node.close();
        kubelet.close();
    }

    private void awaitServing(Node.Agent agent) {
        await().atMost(SOON).until(() -> agent.session.status().serving());
    }

    @Test
    void registersAndOffersTheWholeList() {
        Node.Agent agent = node.agent();

        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        awaitServing(agent);

        FakeKubelet.Registration registration = kubelet.registrations().getFirst();
        assertThat(registration.request().getVersion()).isEqualTo("v1beta1");
        assertThat(registration.request().getResourceName()).isEqualTo(RESOURCE);
        assertThat(registration.request().getEndpoint()).matches("erdma-[0-9a-f]{16}\\.sock");
        assertThat(registration.options().getGetPreferredAllocationAvailable()).isTrue();
        // Strict servers refuse anything else, such as the socket's path.
        assertThat(kubelet.authorities()).containsExactly("localhost");
        assertThat(agent.session.status().problem()).isEmpty();
        assertThat(agent.session.status().registrations()).isEqualTo(1);
    }

    @Test
    void letsOnlyTheOwnerUseItsSocket() throws IOException {
        awaitServing(node.agent());

        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(node.sockets().getFirst())))
                .isEqualTo("rw-------");
    }

    @Test
    void answersTheKubeletThatDialsBackInsideRegisterAtEachStart() throws IOException {
        for (int start = 1; start <= 10; start++) {
            try (Node fresh = new Node(root)) {
                fresh.agent();
                kubelet.awaitRegistration(start, SOON);
            }
        }

        assertThat(kubelet.refusals()).isEmpty();
        assertThat(kubelet.registerCalls()).isEqualTo(10);
        assertThat(node.sockets()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Wipe.class)
    void registersAgainAfterKubeletRestart(Wipe wipe) throws IOException {
        Node.Agent agent = node.agent();
        awaitServing(agent);

        kubelet.restart(wipe, Duration.ZERO);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        assertThat(kubelet.registrations().get(1).request().getEndpoint())
                .isNotEqualTo(kubelet.registrations().get(0).request().getEndpoint());
        await().atMost(SOON).until(() -> node.sockets().size() == 1);
    }

    /** P19: nothing was removed, and the kubelet still holds the stream; only another kubelet.sock tells. */
    @Test
    void registersAgainWhenOnlyTheKubeletsSocketIsReplaced() throws IOException {
        awaitServing(node.agent());

        kubelet.listenAnew();

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
    }

    @Test
    void registersAgainOnAFreshSocketWhenOnlyItsOwnWasRemoved() throws IOException {
        awaitServing(node.agent());

        kubelet.removePluginSocket(RESOURCE);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        assertThat(node.sockets()).hasSize(1);
    }

    @Test
    void registersAgainWhenTheKubeletCancelsTheStream() {
        Node.Agent agent = node.agent();
        awaitServing(agent);

        kubelet.cancelStream(RESOURCE);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        awaitServing(agent);
    }

    @Test
    void registersAgainWhenTheConnectionBreaks() {
        Node.Agent agent = node.agent();
        awaitServing(agent);

        kubelet.dropConnection(RESOURCE);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        awaitServing(agent);
    }

    @Test
    void registersAgainWhenTheServiceItselfEndsTheStream() {
        Node.Agent agent = node.agent();
        awaitServing(agent);

        agent.plugin.completeStreams();

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
    }

    @Test
    void registersAgainWhenTheKubeletOpensNoStream() {
        kubelet.openNoStream(true);
        Node.Agent agent = node.agent(node.awaitingTheStreamFor(Duration.ofMillis(500)), InotifyWatch::open);
        kubelet.awaitRegistration(1, SOON);
        await().atMost(SOON).until(() -> agent.session.status().registered());
        assertThat(agent.session.status().serving()).isFalse();
        assertThat(agent.session.status().problem()).isPresent();

        kubelet.openNoStream(false);

        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        awaitServing(agent);
    }

    @Test
    void slowsDownAndWarnsWhenTheKubeletCancelsEachStream() {
        Lines lines = Lines.record();
        kubelet.cancelEachStream(true);
        node.agent();
        long start = System.nanoTime();

        FakeKubelet.Registration fifth = kubelet.awaitRegistration(5, SOON);

        // 60 (settle), 60, 80, 160 ms lie between five registrations; the next gaps are 320 and 500 ms.
        assertThat(Duration.ofNanos(fifth.arrivedNanos() - start)).isGreaterThan(Duration.ofMillis(300));
        FakeKubelet.Registration seventh = kubelet.awaitRegistration(7, SOON);
        assertThat(Duration.ofNanos(seventh.arrivedNanos() - fifth.arrivedNanos()))
                .isGreaterThan(Duration.ofMillis(700));
        lines.close();
        // Once would be a kubelet that restarts; and more often is no news.
        assertThat(lines.atLeast(Level.WARNING)).hasSize(1);
        assertThat(lines.atLeast(Level.INFO))
                .filteredOn(line -> line.startsWith("registered"))
                .hasSizeLessThan(4);
    }

    @Test
    void keepsTryingWhileTheKubeletRefusesAndSaysItOnce() {
        try (Lines lines = Lines.record()) {
            kubelet.refuse(5);
            Node.Agent agent = node.agent();

            kubelet.awaitAllocatable(RESOURCE, 200, SOON);
            awaitServing(agent);

            assertThat(agent.failures)
                    .hasSize(5)
                    .allSatisfy(reason -> assertThat(reason).contains("refused on demand"));
            assertThat(lines.atLeast(Level.WARNING))
                    .hasSize(1)
                    .first()
                    .asString()
                    .contains("refused on demand");
            assertThat(lines.atLeast(Level.INFO)).anyMatch(line -> line.contains("after 5 failed tries"));
        }
    }

    /** P15. */
    @Test
    void waitsForAKubeletThatIsSlowToAnswer() {
        Duration slowness = Duration.ofMillis(500);
        kubelet.slow(slowness);
        Node.Agent agent = node.agent();

        FakeKubelet.Registration registration = kubelet.awaitRegistration(1, SOON);
        awaitServing(agent);

        assertThat(Duration.ofNanos(registration.acceptedNanos() - registration.arrivedNanos()))
                .isGreaterThanOrEqualTo(slowness);
        assertThat(kubelet.registerCalls()).isEqualTo(1);
        assertThat(agent.failures).isEmpty();
        assertThat(agent.session.status().registrations()).isEqualTo(1);
    }

    @Test
    void aRestartOfTheKubeletIsNoWarning() throws IOException {
        try (Lines lines = Lines.record()) {
            Node.Agent agent = node.agent();
            awaitServing(agent);

            kubelet.restart(Wipe.SOCKETS, Duration.ofMillis(300));
            kubelet.awaitRegistration(2, SOON);
            awaitServing(agent);

            assertThat(lines.atLeast(Level.WARNING)).isEmpty();
            assertThat(lines.atLeast(Level.INFO)).anyMatch(line -> line.contains("has no socket"));
        }
    }

    /** A kubelet that ends leaves its socket behind, on which nobody answers until the next one starts. */
    @Test
    void norIsOneThatLeavesADeadSocketForAWhile() throws IOException {
        try (Lines lines = Lines.record()) {
            Node.Agent agent = node.agent();
            awaitServing(agent);

            kubelet.kill();
            await().atMost(SOON).until(() -> !agent.failures.isEmpty());
            kubelet.listen(Wipe.SOCKETS);
            kubelet.awaitRegistration(2, SOON);
            awaitServing(agent);

            assertThat(lines.atLeast(Level.WARNING)).isEmpty();
            assertThat(lines.atLeast(Level.INFO)).anyMatch(line -> line.contains("does not answer"));
        }
    }

    @Test
    void warnsOnceOfAKubeletThatStaysAway() throws IOException {
        try (Lines lines = Lines.record()) {
            Node.Agent agent = node.agent(node.warningAfter(Duration.ofMillis(300)), InotifyWatch::open);
            awaitServing(agent);
            kubelet.stop();

            await().during(Duration.ofMillis(500))
                    .atMost(SOON)
                    .until(() -> lines.atLeast(Level.WARNING).size() == 1);

            assertThat(lines.atLeast(Level.WARNING).getFirst()).contains("has no socket", "--kubelet-root-dir");
            assertThat(agent.session.status().problem().orElseThrow()).contains("has no socket");
        }
    }

    @Test
    void givesUpOnARegisterThatHangsAndTriesAgain() {
        kubelet.hangInRegister(true);
        Node.Agent agent = node.agent(node.impatient(), InotifyWatch::open);
        await().atMost(SOON).until(() -> kubelet.registerCalls() >= 2);
        assertThat(agent.session.status().registered()).isFalse();
        assertThat(agent.failures.getFirst()).contains("DEADLINE_EXCEEDED");

        kubelet.hangInRegister(false);

        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
    }

    @Test
    void neverRegistersASocketAgainThatASlowKubeletMayStillAccept() {
        kubelet.slow(node.impatient().registerDeadline().plusMillis(300));
        Node.Agent agent = node.agent(node.impatient(), InotifyWatch::open);
        await().atMost(SOON).until(() -> !agent.failures.isEmpty());
        kubelet.slow(Duration.ZERO);

        awaitServing(agent);

        assertThat(kubelet.registerRequests())
                .hasSizeGreaterThan(1)
                .extracting(RegisterRequest::getEndpoint)
                .doesNotHaveDuplicates();
    }

    @Test
    void saysWhenTheReasonOfARefusalChanges() throws IOException {
        try (Lines lines = Lines.record()) {
            kubelet.refuse(Integer.MAX_VALUE);
            Node.Agent agent = node.agent(node.warningAfter(Duration.ofMillis(300)), InotifyWatch::open);
            await().atMost(SOON).until(() -> agent.failures.size() > 2);

            kubelet.kill();
            await().atMost(SOON).until(() -> lines.atLeast(Level.WARNING).size() > 1);

            assertThat(lines.atLeast(Level.WARNING))
                    .doesNotHaveDuplicates()
                    .anyMatch(line -> line.contains("refused on demand"))
                    .anyMatch(line -> line.contains("UNAVAILABLE"));
        }
    }

    @Test
    void noticesARestartWhileRegisterHangs() throws IOException {
        kubelet.hangInRegister(true);
        node.agent();
        await().atMost(SOON).until(() -> kubelet.registerCalls() == 1);

        kubelet.hangInRegister(false);
        kubelet.restart(Wipe.SOCKETS, Duration.ZERO);

        kubelet.awaitRegistration(1, Duration.ofMillis(1900));
    }

    @Test
    void waitsForAKubeletThatIsKilledAndComesBackLater() throws IOException {
        Node.Agent agent = node.agent();
        awaitServing(agent);

        kubelet.kill();

        await().atMost(SOON).until(() -> !agent.failures.isEmpty());
        assertThat(agent.session.status().registered()).isFalse();
        kubelet.listen(Wipe.SOCKETS);
        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
    }

    @Test
    void waitsForTheDirectoryInsteadOfMakingIt() throws IOException {
        kubelet.close();
        Path late = root.resolve("late");
        Files.createDirectory(late);
        try (Node other = new Node(late)) {
            Node.Agent agent = other.agent();
            await().atMost(SOON)
                    .until(() -> agent.session.status().problem().orElse("").contains("is missing"));
            assertThat(late.resolve("device-plugins")).doesNotExist();

            kubelet = FakeKubelet.start(late);

            kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        }
    }

    @Test
    void registersAgainWhenTheDirectoryIsRemovedAndMadeAgain() throws IOException {
        awaitServing(node.agent());
        kubelet.stop();
        await().atMost(SOON).until(() -> node.sockets().isEmpty());
        Files.delete(kubelet.directory().resolve(FakeKubelet.CHECKPOINT));
        Files.delete(kubelet.directory());

        kubelet.listen(Wipe.SOCKETS);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
    }

    @Test
    void fallsBackToPollingWithOneWarningWhenInotifyIsExhausted() throws IOException {
        try (Lines lines = Lines.record()) {
            node.agent(node.settings(), directory -> {
                throw new NativeException("inotify_init1", Errno.EMFILE, directory.toString());
            });
            kubelet.awaitRegistration(1, SOON);
            for (int round = 2; round <= 6; round++) {
                kubelet.restart(Wipe.SOCKETS, Duration.ZERO);
                kubelet.awaitRegistration(round, SOON);
                kubelet.awaitAllocatable(RESOURCE, 200, SOON);
            }

            assertThat(lines.atLeast(Level.WARNING))
                    .filteredOn(line -> line.contains("fs.inotify.max_user_instances"))
                    .hasSize(1);
        }
    }

    @Test
    void removesOnlyDeadSocketsOfItsKindWhenItStarts() throws IOException {
        Path directory = kubelet.directory();
        Path dead = deadSocket(directory.resolve("erdma-dead.sock"));
        Path foreign = deadSocket(directory.resolve("nvidia-gpu.sock"));
        Path goAgents = deadSocket(directory.resolve("1700000000-erdma.sock"));
        Path file = Files.writeString(directory.resolve("erdma-file.sock"), "not a socket");
        Path link = Files.createSymbolicLink(directory.resolve("erdma-link.sock"), goAgents);
        try (ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            Path live = directory.resolve("erdma-live.sock");
            listening.bind(UnixDomainSocketAddress.of(live));

            awaitServing(node.agent());

            assertThat(dead).doesNotExist();
            assertThat(List.of(live, foreign, goAgents, file, link)).allMatch(Files::exists);
        }
    }

    /** A socket whose owner is gone: closing it leaves the file. */
    private static Path deadSocket(Path path) throws IOException {
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(path));
        }
        return path;
    }

    @Test
    void refusesAKubeletRootWhoseSocketsWouldHaveTooLongAPath() {
        Path deep = Path.of("/" + "x".repeat(80));

        assertThatThrownBy(() -> SessionSettings.of(deep, RESOURCE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too long")
                .hasMessageContaining("107");
        assertThat(SessionSettings.of(Path.of("/var/lib/kubelet"), RESOURCE).kubeletRoot())
                .isEqualTo(Path.of("/var/lib/kubelet"));
    }

    @ParameterizedTest
    @EnumSource(OldEndpoint.class)
    void twoAgentsInARollingUpdateDoNotTakeTheResourceFromEachOther(OldEndpoint behaviour) {
        kubelet.oldEndpoint(behaviour);
        Node.Agent old = node.agent();
        awaitServing(old);
        Node.Agent fresh = node.agent();
        kubelet.awaitRegistration(2, SOON);
        awaitServing(fresh);

        awaitStanding(
                2,
                () -> (old.session.status().serving() || behaviour == OldEndpoint.CLOSED)
                        && fresh.session.status().serving());
        if (behaviour == OldEndpoint.CLOSED) {
            assertThat(old.session.status().problem().orElseThrow()).contains("another agent");
        }

        old.close();

        awaitStanding(2, () -> fresh.session.status().serving());
    }

    /** All devices allocatable, and nobody has registered again for a while. */
    private void awaitStanding(int mostAgain, BooleanSupplier alsoTrue) {
        int before = kubelet.registrations().size();
        AtomicInteger seen = new AtomicInteger();
        // Longer than an agent waits for another one to come back.
        await().during(node.settings().settle().multipliedBy(14)).atMost(SOON).until(() -> {
            int now = kubelet.registrations().size();
            return seen.getAndSet(now) == now && kubelet.allocatable(RESOURCE) == 200 && alsoTrue.getAsBoolean();
        });
        assertThat(kubelet.registrations().size() - before).isLessThanOrEqualTo(mostAgain);
    }

    @ParameterizedTest
    @EnumSource(OldEndpoint.class)
    void theOlderAgentTakesOverWhenTheNewerOneIsGone(OldEndpoint behaviour) {
        kubelet.oldEndpoint(behaviour);
        Node.Agent old = node.agent();
        awaitServing(old);
        Node.Agent fresh = node.agent();
        kubelet.awaitRegistration(2, SOON);
        awaitServing(fresh);

        fresh.close();

        kubelet.awaitRegistration(3, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        awaitServing(old);
    }

    @Test
    void agentsOfDifferentResourcesAreNoRivals() throws IOException {
        Node.Agent first = node.agent();
        SessionSettings other = SessionSettings.of(root, "example.com/other");
        Node.Agent second = node.agent(other, InotifyWatch::open);
        awaitServing(first);
        awaitServing(second);

        kubelet.cancelStream(RESOURCE);

        await().atMost(SOON).until(() -> first.session.status().registrations() == 2);
        awaitServing(first);
    }

    @Test
    void leavesNothingOfADeadStreamBehind() {
        Node.Agent agent = node.agent();
        awaitServing(agent);
        for (int round = 2; round <= 6; round++) {
            kubelet.dropConnection(RESOURCE);
            kubelet.awaitRegistration(round, SOON);
            kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        }

        await().atMost(SOON).until(() -> agent.plugin.open() == 1);
        int before = kubelet.messages().size();
        try (Lines lines = Lines.record()) {
            agent.plugin.sendAgain();
            kubelet.awaitMessage(before, message -> message.count("Healthy") == 200, SOON);
            assertThat(kubelet.messages()).hasSize(before + 1);
            assertThat(lines.atLeast(Level.INFO)).isEmpty();
        }
    }

    @Test
    void closesWithinTwoSecondsAndRemovesItsSocket() throws IOException {
        Node.Agent agent = node.agent();
        awaitServing(agent);
        long start = System.nanoTime();

        agent.session.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
        assertThat(node.sockets()).isEmpty();
        assertThat(agent.plugin.open()).isZero();
        assertThat(agent.session.status().registered()).isFalse();
        await().atMost(SOON).until(() -> kubelet.streamsEnded() == 1);
    }

    /** As when the file system hangs for longer than the agent waits for the session. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cleansUpAlsoWhenItEndsOnlyAfterItsTransport(boolean registering) throws IOException {
        kubelet.hangInRegister(registering);
        AtomicBoolean hangs = new AtomicBoolean();
        CountDownLatch latch = new CountDownLatch(1);
        try (Uncaught uncaught = Uncaught.record()) {
            Node.Agent agent = node.agent(
                    node.closingWithin(Duration.ofMillis(100)),
                    directory -> new HangingWatch(InotifyWatch.open(directory), hangs, latch));
            if (registering) {
                await().atMost(SOON).until(() -> kubelet.registerCalls() == 1);
            } else {
                awaitServing(agent);
            }
            hangs.set(true);

            agent.close();
            latch.countDown();

            await().dontCatchUncaughtExceptions()
                    .atMost(SOON)
                    .until(() -> Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().equals(KubeletSession.THREAD)));
            assertThat(uncaught.deaths()).isEmpty();
            assertThat(node.sockets()).isEmpty();
            assertThat(agent.session.status().registered()).isFalse();
        }
    }

    /** Comes back from a wait only once the latch is open, while it hangs. */
    private record HangingWatch(DirectoryWatch watch, AtomicBoolean hangs, CountDownLatch latch)
            implements DirectoryWatch {
        @Override
        public void await(Duration atMost) throws IOException {
            watch.await(atMost);
            if (hangs.get()) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        public void wakeUp() {
            watch.wakeUp();
        }

        @Override
        public boolean intact() {
            return watch.intact();
        }

        @Override
        public void close() {
            watch.close();
        }
    }

    @Test
    void closesWithinTwoSecondsWhileRegisterHangs() {
        kubelet.hangInRegister(true);
        Node.Agent agent = node.agent();
        await().atMost(SOON).until(() -> kubelet.registerCalls() == 1);
        long start = System.nanoTime();

        agent.session.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void leavesTheFileThatTookThePlaceOfItsSocket() throws IOException {
        awaitServing(node.agent());
        Path socket = node.sockets().getFirst();
        Path anothers = Files.writeString(root.resolve("anothers"), "another's");

        Files.move(anothers, socket, StandardCopyOption.ATOMIC_MOVE);

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        assertThat(socket).hasContent("another's");
    }

    @Test
    void saysNothingOfNettysOwn() throws IOException {
        try (Lines lines = Lines.record()) {
            Node.Agent agent = node.agent();
            awaitServing(agent);
            kubelet.restart(Wipe.SOCKETS, Duration.ZERO);
            kubelet.awaitRegistration(2, SOON);
            agent.close();

            assertThat(lines.loggers(Level.INFO)).allMatch(name -> name.startsWith("io.erdma."));
        }
    }

    @Test
    void holdsNoMoreAfterManyKubeletRestartsThanBefore() throws IOException {
        new RestartSoak(node, kubelet).run(9, 100);
    }
}
