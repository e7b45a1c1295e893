package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.traffic.CounterReader;
import io.erdma.traffic.CounterReading;
import io.erdma.traffic.TrafficDevice;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads counters of devices whose drivers may never answer: a device that is still being asked is not asked again. For
 * one thread.
 */
final class PatientCounters {
    sealed interface Answer {}

    record Counted(CounterReading reading) implements Answer {}

    /** There is no such device (any more). */
    record Gone() implements Answer {}

    record Late(Duration patience) implements Answer {
        /** To be read behind the device's name. */
        String problem() {
            return "does not answer within " + patience.toSeconds()
                    + " s; its driver may be hanging, see the kernel log";
        }
    }

    private final CounterReader reader;
    private final Duration patience;
    private final Map<String, FutureTask<Optional<CounterReading>>> unanswered = new HashMap<>();

    PatientCounters(CounterReader reader, Duration patience) {
        this.reader = requireNonNull(reader, "reader is null");
        this.patience = requireNonNull(patience, "patience is null");
    }

    Answer read(TrafficDevice device) {
        FutureTask<Optional<CounterReading>> before = unanswered.remove(device.name());
        if (before != null && !before.isDone()) {
            unanswered.put(device.name(), before);
            return new Late(patience);
        }
        FutureTask<Optional<CounterReading>> task = new FutureTask<>(() -> reader.read(device));
        Thread.ofPlatform().daemon().name("erdma-ask-" + device.name()).start(task);
        try {
            return task.get(patience.toNanos(), TimeUnit.NANOSECONDS)
                    .<Answer>map(Counted::new)
                    .orElseGet(Gone::new);
        } catch (TimeoutException late) {
            unanswered.put(device.name(), task);
            return new Late(patience);
        } catch (ExecutionException e) {
            throw new IllegalStateException("reading the counters of " + device.name() + " failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Late(patience);
        }
    }
}
