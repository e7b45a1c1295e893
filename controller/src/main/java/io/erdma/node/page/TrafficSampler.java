package io.erdma.node.page;

import static java.util.Objects.requireNonNull;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaDevice;
import io.erdma.log.Log;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.TrafficCounters;
import io.erdma.traffic.TrafficDevice;
import io.erdma.traffic.TrafficHistory;
import io.erdma.traffic.TrafficTotals;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Reads the devices' counters every ten seconds and remembers ten minutes. A thread of its own, {@code erdma-traffic},
 * since a driver that hangs holds up whoever reads its counters; it ends with the program then.
 */
public final class TrafficSampler implements AutoCloseable {
    static final Duration PERIOD = Duration.ofSeconds(10);
    static final Duration REMEMBERED = Duration.ofMinutes(10);

    private static final Log LOG = Log.of(TrafficSampler.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

    private final SysfsCounters sysfs;
    private final Supplier<List<RdmaDevice>> devices;
    private final Clock clock;
    private final TrafficHistory history = new TrafficHistory((int) REMEMBERED.dividedBy(PERIOD));
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("erdma-traffic").daemon().unstarted(this::run);
    private boolean failing;

    private volatile Map<String, TrafficHistory.Series> series = Map.of();

    /** @param devices those to read now; none while they are to be left alone */
    public TrafficSampler(SysfsCounters sysfs, Supplier<List<RdmaDevice>> devices, Clock clock) {
        this.sysfs = requireNonNull(sysfs, "sysfs is null");
        this.devices = requireNonNull(devices, "devices is null");
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
    private void sampleOrTell() {
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
        // A new one each time, so that nothing is remembered of devices that have gone.
        CounterReader reader = new CounterReader(sysfs, System::nanoTime);
        Map<String, TrafficTotals> totals = new HashMap<>();
        for (RdmaDevice device : devices.get()) {
            reader.read(new TrafficDevice(
                            device.name(), device.driver(), device.netdev().map(Netdev::name)))
                    .ifPresent(reading -> totals.put(device.name(), TrafficCounters.of(reading)));
        }
        history.add(clock.instant(), totals);
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
