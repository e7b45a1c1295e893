package io.erdma.bench;

import io.erdma.plugin.FakeKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Leaves an agent with two devices and its ordinary settings alone, then changes the health of one. A kubelet that nobody
 * has news for gets no message, the log stays as it is, and the process hardly ever runs. Prints one line {@code ok - …} or
 * {@code not ok - …} for each promise.
 */
public final class IdleWatch {
    private static final int DEVICES = 2;

    /** Of one core; the periodic checks of two devices are what it is spent on. */
    private static final double CPU_PERCENT = 0.5;

    private static final Duration SETTLING = Duration.ofSeconds(30);

    private int broken;

    private IdleWatch() {}

    /** Arguments: {@code MINUTES TREE LOGS}. */
    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("usage: IdleWatch MINUTES TREE LOGS");
            System.exit(64);
        }
        IdleWatch watch = new IdleWatch();
        watch.run(Integer.parseInt(args[0]), Path.of(args[1]), Path.of(args[2]).resolve("idle-agent.log"));
        System.exit(watch.broken == 0 ? 0 : 1);
    }

    private void run(int minutes, Path tree, Path log) throws IOException {
        try (Daemon daemon = Daemon.start(tree, log, DEVICES, List.of())) {
            // What a start leaves to do is not idleness.
            pass(SETTLING);
            long linesBefore = lines(log);
            ProcessFigures before = daemon.figures();
            Duration idle = Duration.ofMinutes(minutes);
            pass(idle);
            ProcessFigures after = daemon.figures();
            int messages = daemon.kubelet().messages().size();
            long lines = lines(log) - linesBefore;
            double cpu = (after.cpuTicks() - before.cpuTicks()) / (double) idle.toSeconds();
            result(messages == 1, minutes + " idle minutes bring the kubelet one list", messages + " lists in all");
            result(lines == 0, minutes + " idle minutes bring no line to the log", lines + " lines");
            result(
                    cpu <= CPU_PERCENT,
                    minutes + " idle minutes take hardly any CPU",
                    "%.3f %% of a core".formatted(cpu));
            result(
                    after.threads() <= before.threads() && after.descriptors() <= before.descriptors(),
                    minutes + " idle minutes leave threads and descriptors as they were",
                    before.threads() + " → " + after.threads() + ", " + before.descriptors() + " → "
                            + after.descriptors());

            daemon.node().setPort(1, false);
            daemon.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Daemon.SHARES, Daemon.PATIENCE);
            pass(SETTLING);
            messages = daemon.kubelet().messages().size();
            result(messages == 2, "a port that goes down then brings one list more", messages + " lists in all");
        }
    }

    /** Nothing is waited for here: that nothing happens meanwhile is the promise. */
    private static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static long lines(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.count();
        }
    }

    private void result(boolean kept, String promise, String told) {
        if (!kept) {
            broken++;
        }
        System.out.println((kept ? "ok - " : "not ok - ") + promise + " (" + told + ")");
        System.out.flush();
    }
}
