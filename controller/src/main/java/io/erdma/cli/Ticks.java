package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Moments at a fixed distance by the machine's own clock. One that was missed is left out, so that none come in a row. */
final class Ticks implements LiveStat.Pace {
    private final long interval;
    private final long last;
    private final CountDownLatch stop;
    private final long start = System.nanoTime();
    private long tick;
    private long given;

    /**
     * @param count how many there are to be
     * @param stop ends them at once
     */
    Ticks(Duration interval, long count, CountDownLatch stop) {
        this.interval = interval.toNanos();
        this.last = count;
        this.stop = requireNonNull(stop, "stop is null");
    }

    @Override
    public boolean next() {
        if (given == last) {
            return false;
        }
        given++;
        tick = Math.max(tick + 1, (System.nanoTime() - start) / interval);
        try {
            return !stop.await(start + tick * interval - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
