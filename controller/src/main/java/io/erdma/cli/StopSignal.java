package io.erdma.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Turns Ctrl-C and SIGTERM, while it is open, into a quiet end: the command finishes its line, and the process ends with
 * 0 where the JVM would say 130 or 143.
 */
final class StopSignal implements AutoCloseable {
    /** For the line under way; a driver that hangs must not keep the process. */
    private static final long SECONDS_TO_FINISH = 1;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = Thread.ofPlatform().name("erdma-stop").unstarted(this::end);

    StopSignal() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Opens when the process is asked to end. */
    CountDownLatch asked() {
        return asked;
    }

    private void end() {
        asked.countDown();
        boolean inTime = false;
        try {
            inTime = finished.await(SECONDS_TO_FINISH, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(inTime ? ExitCode.OK : ExitCode.NOT_USABLE);
    }

    @Override
    public void close() {
        finished.countDown();
        if (asked.getCount() > 0) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException justAsked) {
                // Then the hook ends the process.
                return;
            }
        }
    }
}
