package io.erdma.lab;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions, in programs that run where the test libraries are not. */
public final class Await {
    private static final Duration STEP = Duration.ofMillis(20);

    private Await() {}

    /** @throws IllegalStateException naming what did not happen */
    public static void until(String what, Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("still not after " + limit.toSeconds() + " s: " + what);
            }
            LockSupport.parkNanos(STEP.toNanos());
        }
    }
}
