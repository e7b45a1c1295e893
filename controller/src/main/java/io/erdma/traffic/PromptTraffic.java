package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The traffic of devices, for those who must not wait for a driver. All devices are asked at once, by threads named
 * {@code erdma-counters} that end when there is nothing more to ask, and one that still owes an answer is not asked
 * again: a driver that hangs costs one thread, and one wait.
 */
public final class PromptTraffic implements AutoCloseable {
    private static final Duration IDLE_THREADS_END_AFTER = Duration.ofSeconds(1);

    private final CounterReader reader;
    private final Duration patience;
    private final ThreadPoolExecutor askers = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_THREADS_END_AFTER.toMillis(),
            TimeUnit.MILLISECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("erdma-counters").factory());
    private final Map<String, Future<Optional<CounterReading>>> unanswered = new HashMap<>();

    /** @param patience with all devices together */
    public PromptTraffic(CounterReader reader, Duration patience) {
        this.reader = requireNonNull(reader, "reader is null");
        this.patience = requireNonNull(patience, "patience is null");
    }

    /** By device's name, without those that are gone or did not answer in time. */
    public synchronized SortedMap<String, TrafficTotals> of(List<TrafficDevice> devices) {
        long end = System.nanoTime() + patience.toNanos();
        unanswered.values().removeIf(Future::isDone);
        Map<String, Future<Optional<CounterReading>>> asked = new HashMap<>();
        for (TrafficDevice device : devices) {
            if (!unanswered.containsKey(device.name())) {
                asked.put(device.name(), askers.submit(() -> reader.read(device)));
            }
        }
        SortedMap<String, TrafficTotals> traffic = new TreeMap<>();
        asked.forEach((device, answer) -> {
            try {
                answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)
                        .ifPresent(reading -> traffic.put(device, TrafficCounters.of(reading)));
            } catch (TimeoutException late) {
                unanswered.put(device, answer);
            } catch (ExecutionException e) {
                throw new IllegalStateException("reading the counters of " + device + " failed", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                unanswered.put(device, answer);
            }
        });
        return traffic;
    }

    /** Waits for nobody: the threads are daemons. */
    @Override
    public void close() {
        askers.shutdown();
    }
}
