package io.erdma.plugin;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Where the kernel cannot tell us: wakes every so often. */
final class PollingWatch implements DirectoryWatch {
    private final Duration interval;
    private final Semaphore wakeUps = new Semaphore(0);

    PollingWatch(Duration interval) {
        this.interval = interval;
    }

    @Override
    public void await(Duration atMost) {
        Duration wait = atMost.compareTo(interval) < 0 ? atMost : interval;
        try {
            if (wakeUps.tryAcquire(wait.toNanos(), TimeUnit.NANOSECONDS)) {
                wakeUps.drainPermits();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void wakeUp() {
        wakeUps.release();
    }

    @Override
    public boolean intact() {
        return true;
    }

    @Override
    public void close() {
        // Holds nothing.
    }
}
