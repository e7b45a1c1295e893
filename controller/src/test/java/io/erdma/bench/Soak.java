package io.erdma.bench;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.plugin.FakeKubelet;
import io.erdma.plugin.FakeKubelet.Wipe;
import io.erdma.verbs.FakeVerbs.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Restarts the kubelet and enumerates devices until a leak would show. Threads and descriptors must end where they were
 * after the first tenth. Resident memory as a whole can't tell a leak: without one it rises until the heap has filled its
 * small limit once, and the collector keeps up to 70 % of that free. So what is compared are the live bytes of the heap
 * after a full collection, which show a few hundred bytes a cycle, and the resident bytes outside of the heap. Prints one
 * line {@code ok - …} or {@code not ok - …} for each promise.
 */
public final class Soak {
    /** Room for what is filled once and then stays: caches, a ring of metrics, code that C1 compiles late. */
    private static final long LIVE_SLACK = 150_000;

    private static final long OUTSIDE_SLACK = 4_000_000;

    /** What one cycle holds for a moment is counted as live, so the least of some looks is taken as what was before. */
    private static final int LOOKS = 3;

    private static final Duration PATIENCE = Duration.ofMinutes(20);

    private static final Pattern ADDRESS = Pattern.compile("0x([0-9a-f]+)");

    /** @param outside resident bytes outside of the heap */
    private record Levels(int threads, int descriptors, long live, long outside) {
        /** Threads come and go with calls in flight, so the most that ran while nothing leaked is what may run later. */
        Levels asBefore(Levels other) {
            return new Levels(
                    Math.max(threads, other.threads),
                    Math.max(descriptors, other.descriptors),
                    Math.min(live, other.live),
                    Math.min(outside, other.outside));
        }
    }

    private int broken;

    private Soak() {}

    /** Arguments: {@code [--short] TREE LOGS}. */
    public static void main(String[] args) throws IOException {
        boolean brief = args.length == 3 && args[0].equals("--short");
        if (!brief && args.length != 2) {
            System.err.println("usage: Soak [--short] TREE LOGS");
            System.exit(64);
        }
        Soak soak = new Soak();
        soak.run(
                Path.of(args[args.length - 2]),
                Path.of(args[args.length - 1]),
                brief ? 60 : 1_000,
                brief ? 400 : 10_000);
        System.exit(soak.broken == 0 ? 0 : 1);
    }

    private void run(Path tree, Path logs, int restarts, int cycles) throws IOException {
        // The shortest interval that the agent accepts: ten discoveries a second.
        List<String> often = List.of("--rescan-interval=100ms", "--health-interval=100ms");
        try (Daemon daemon = Daemon.start(tree, logs.resolve("agent.log"), 2, often)) {
            restart(daemon, Math.max(restarts / 10, 15));
            Levels before = before(daemon);
            restart(daemon, restarts);
            compare(restarts + " kubelet restarts", before, settled(daemon, before));

            discover(daemon, cycles / 10);
            Levels then = before(daemon);
            before = new Levels(
                    Math.max(before.threads(), then.threads()), then.descriptors(), then.live(), then.outside());
            discover(daemon, cycles / 2);
            replugged(daemon);
            discover(daemon, cycles / 2);
            compare(cycles + " discovery cycles", before, settled(daemon, before));

            long open = balance(daemon, Counter.OPEN_DEVICE, Counter.CLOSE_DEVICE);
            result(
                    open == daemon.node().size(),
                    "as many devices are open as there are",
                    open + " of " + daemon.node().size());
            AgentProcess.Exit exit = daemon.stop();
            result(
                    exit.code() == 0 || exit.code() == 143,
                    "the agent stops cleanly",
                    "code " + exit.code() + " after " + exit.took().toMillis() + " ms");
            balanced(daemon, "each device that was opened is closed", Counter.OPEN_DEVICE, Counter.CLOSE_DEVICE);
            balanced(daemon, "each device list is freed", Counter.GET_DEVICE_LIST, Counter.FREE_DEVICE_LIST);
            balanced(daemon, "each event is acknowledged", Counter.GET_ASYNC_EVENT, Counter.ACK_ASYNC_EVENT);
        }
    }

    /** All that kubelets do to the plugins' directory when they start, in turn. */
    private static void restart(Daemon daemon, int times) throws IOException {
        Wipe[] kinds = Wipe.values();
        for (int i = 0; i < times; i++) {
            daemon.restartKubelet(kinds[i % kinds.length]);
        }
    }

    private static void discover(Daemon daemon, int cycles) {
        long until = lists(daemon) + cycles;
        Await.until(cycles + " discovery cycles", PATIENCE, () -> lists(daemon) >= until);
    }

    private static long lists(Daemon daemon) {
        return daemon.node().verbs().count(Counter.GET_DEVICE_LIST, daemon.pid());
    }

    /** A device is unplugged and comes back. */
    private void replugged(Daemon daemon) {
        daemon.node().remove(1);
        daemon.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Daemon.SHARES, Daemon.PATIENCE);
        daemon.node().addAgain(1);
        daemon.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, 2L * Daemon.SHARES, Daemon.PATIENCE);
    }

    private static Levels before(Daemon daemon) {
        Levels all = levels(daemon);
        for (int look = 1; look < LOOKS; look++) {
            all = all.asBefore(levels(daemon));
        }
        return all;
    }

    private static Levels levels(Daemon daemon) {
        // The histogram begins with a full collection, and its last line is "Total COUNT BYTES".
        String total = daemon.jcmd("GC.class_histogram")
                .lines()
                .filter(line -> line.startsWith("Total"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the histogram has no total"));
        List<Long> addresses = ADDRESS.matcher(daemon.jcmd("GC.heap_info")
                        .lines()
                        .filter(line -> line.contains("DefNew") || line.contains("Tenured"))
                        .collect(Collectors.joining("\n")))
                .results()
                .map(match -> Long.parseLong(match.group(1), 16))
                .sorted()
                .toList();
        ProcessFigures process = daemon.figures();
        return new Levels(
                process.threads(),
                process.descriptors(),
                Long.parseLong(total.replaceAll(".* ", "")),
                process.rss() - ProcessFigures.residentIn(daemon.pid(), addresses.getFirst(), addresses.getLast()));
    }

    /** What the last cycle needs may take a moment to go; what stays after that is a leak. */
    private static Levels settled(Daemon daemon, Levels before) {
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        Levels now = levels(daemon);
        while (!fits(before, now) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
            now = levels(daemon);
        }
        return now;
    }

    private static boolean fits(Levels before, Levels now) {
        return now.threads() <= before.threads()
                && now.descriptors() <= before.descriptors()
                && now.live() <= before.live() + LIVE_SLACK
                && now.outside() <= before.outside() + OUTSIDE_SLACK;
    }

    private void compare(String what, Levels before, Levels after) {
        result(
                after.threads() <= before.threads(),
                what + " leave the threads as they were",
                before.threads() + " → " + after.threads());
        result(
                after.descriptors() <= before.descriptors(),
                what + " leave the descriptors as they were",
                before.descriptors() + " → " + after.descriptors());
        result(
                after.live() <= before.live() + LIVE_SLACK,
                what + " leave nothing in the heap",
                "%.2f → %.2f MB live".formatted(before.live() / 1e6, after.live() / 1e6));
        result(
                after.outside() <= before.outside() + OUTSIDE_SLACK,
                what + " leave resident memory outside of the heap as it was",
                "%.1f → %.1f MB".formatted(before.outside() / 1e6, after.outside() / 1e6));
    }

    private static long balance(Daemon daemon, Counter got, Counter given) {
        return daemon.node().verbs().count(got, daemon.pid())
                - daemon.node().verbs().count(given, daemon.pid());
    }

    private void balanced(Daemon daemon, String promise, Counter got, Counter given) {
        long all = daemon.node().verbs().count(got, daemon.pid());
        long difference = balance(daemon, got, given);
        result(all > 0 && difference == 0, promise, all + ", " + difference + " left");
    }

    private void result(boolean kept, String promise, String told) {
        if (!kept) {
            broken++;
        }
        System.out.println((kept ? "ok - " : "not ok - ") + promise + " (" + told + ")");
        System.out.flush();
    }
}
