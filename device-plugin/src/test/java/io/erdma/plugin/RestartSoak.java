package io.erdma.plugin;

import io.erdma.plugin.FakeKubelet.Wipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * One agent through many kubelet restarts, of every kind in turn; threads and descriptors must be the same at the end. Its
 * {@code main} is the long form: {@code RestartSoak [rounds]}, 1,000 unless told otherwise; in every tenth of them the
 * kubelet is away for up to three seconds.
 */
final class RestartSoak {
    private static final List<Wipe> KINDS = List.of(Wipe.values());
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(3);
    private static final Duration WITHIN = Duration.ofSeconds(10);
    private static final long HEAP_SLACK_BYTES = 4L << 20;

    private final Node node;
    private final FakeKubelet kubelet;
    private final SplittableRandom random = new SplittableRandom(7);

    RestartSoak(Node node, FakeKubelet kubelet) {
        this.node = node;
        this.kubelet = kubelet;
    }

    public static void main(String[] args) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        Path root = Files.createTempDirectory("erdma-soak");
        try (Node node = new Node(root);
                FakeKubelet kubelet = FakeKubelet.start(root)) {
            System.out.println("ok - " + new RestartSoak(node, kubelet).run(rounds, 10));
        }
    }

    /**
     * Answers what to print about it.
     *
     * @param longEvery in how many rounds there is one in which the kubelet stays away for longer
     */
    String run(int rounds, int longEvery) throws IOException {
        Node.Agent agent = node.agent();
        kubelet.awaitRegistration(1, WITHIN);
        int warmUp = Math.min(10, rounds / 2);
        for (int round = 0; round < warmUp; round++) {
            restart(agent, round, SHORT);
        }
        ProcessUse before = ProcessUse.now();
        long[] micros = new long[rounds];
        for (int round = 0; round < rounds; round++) {
            micros[round] = restart(agent, round, round % longEvery == longEvery - 1 ? LONG : SHORT);
        }
        until(
                () -> ProcessUse.now().holdsNoMoreThan(before, HEAP_SLACK_BYTES),
                () -> "as little in use as before: " + before + " before, " + ProcessUse.now() + " now");
        until(() -> agent.plugin.open() == 1, () -> "one stream, but " + agent.plugin.open());
        until(() -> node.sockets().size() == 1, () -> "one socket, but " + node.sockets());
        Arrays.sort(micros);
        return "%d restarts; new kubelet.sock to registered: p50 %.1f ms, p99 %.1f ms, most %.1f ms; %s before, %s after"
                .formatted(
                        rounds,
                        micros[rounds / 2] / 1e3,
                        micros[rounds * 99 / 100] / 1e3,
                        micros[rounds - 1] / 1e3,
                        before,
                        ProcessUse.now());
    }

    private long restart(Node.Agent agent, int round, Duration longest) throws IOException {
        kubelet.stop();
        // Else it fills the heap in which we look for the agent's own growth.
        kubelet.forget();
        kubelet.restart(
                KINDS.get(round % KINDS.size()),
                Duration.ofMillis(random.nextInt(Math.toIntExact(longest.toMillis()))));
        FakeKubelet.Registration registration = kubelet.awaitRegistration(1, WITHIN);
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 200, WITHIN);
        until(() -> agent.session.status().serving(), () -> "serving: " + agent.session.status());
        if (kubelet.registrations().size() != 1 || kubelet.messages().size() != 1) {
            throw new AssertionError(
                    "round " + round + ": " + kubelet.registrations().size() + " registrations and "
                            + kubelet.messages().size() + " lists instead of one each");
        }
        return (registration.acceptedNanos() - kubelet.listeningSinceNanos()) / 1000;
    }

    private interface Question<T> {
        T ask() throws IOException;
    }

    private static void until(Question<Boolean> condition, Question<String> what) throws IOException {
        long end = System.nanoTime() + WITHIN.toNanos();
        while (!condition.ask()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + WITHIN.toSeconds() + " s: " + what.ask());
            }
            LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
        }
    }
}
