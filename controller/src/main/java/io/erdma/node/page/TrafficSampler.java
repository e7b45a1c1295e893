package io.erdma.node.page;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Log;
import io.erdma.traffic.TrafficHistory;
import io.erdma.traffic.TrafficTotals;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Takes the devices' traffic every ten seconds and remembers ten minutes. Its thread is {@code erdma-traffic}, which alone
 * touches what is not volatile or final.
 */
public final class TrafficSampler implements AutoCloseable {
    static final Duration PERIOD = Duration.ofSeconds(10);
    static final Duration REMEMBERED = Duration.ofMinutes(10);

    private static final Log LOG = Log.of(TrafficSampler.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

    private final Supplier<? extends Map<String, TrafficTotals>> traffic;
    private final Clock clock;
    private final TrafficHistory history = new TrafficHistory((int) REMEMBERED.dividedBy(PERIOD));
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("erdma-traffic").daemon().unstarted(this::run);
    private boolean failing;

    private volatile Map<String, TrafficHistory.Series> series = Map.of();

    /** @param traffic by device, as it is now; without those that are gone, or to be left alone */
    public TrafficSampler(Supplier<? extends Map<String, TrafficTotals>> traffic, Clock clock) {
        this.traffic = requireNonNull(traffic, "traffic is null");
        this.clock = requireNonNull(clock, "clock is null");
    }

    public void start() {
        thread.start();
    }

    /** By device, as of the last reading. */
    public Map<String, TrafficHistory.Series> series() {
        return series;
    }

    private void run() {
        try {
            do {
                sampleOrTell();
            } while (!stop.await(PERIOD.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A fault of ours is told once until it is over. */
    void sampleOrTell() {
        try {
            sample();
            failing = false;
        } catch (RuntimeException e) {
            if (!failing) {
                failing = true;
                LOG.error("reading the devices' counters failed; trying again every " + PERIOD.toSeconds() + " s", e);
            }
        }
    }

    /** One reading of all devices. */
    void sample() {
        history.add(clock.instant(), traffic.get());
        series = history.series();
    }

    @Override
    public void close() {
        stop.countDown();
        if (thread.getState() == Thread.State.NEW) {
            return;
        }
        try {
            thread.join(LONGEST_CLOSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
