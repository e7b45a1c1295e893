package io.erdma.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Measured durations; safe for use from several threads. */
final class Samples {
    private final List<Long> nanos = new ArrayList<>();

    synchronized void add(long value) {
        nanos.add(value);
    }

    synchronized int size() {
        return nanos.size();
    }

    /** The smallest value that at least this share of the samples does not exceed (nearest rank). */
    synchronized Duration percentile(double share) {
        if (nanos.isEmpty()) {
            throw new IllegalStateException("nothing was measured");
        }
        List<Long> sorted = nanos.stream().sorted().toList();
        int rank = (int) Math.ceil(share * sorted.size());
        return Duration.ofNanos(sorted.get(Math.max(rank, 1) - 1));
    }

    double p50Millis() {
        return percentile(0.50).toNanos() / 1e6;
    }

    double p99Millis() {
        return percentile(0.99).toNanos() / 1e6;
    }
}
