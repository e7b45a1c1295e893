package io.erdma.node;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Closes parts side by side, within one time for all of them: each allows itself a second or three for what may hang, and
 * the sum is more than a stop may take.
 */
final class Closing {
    private static final Log LOG = Log.of(Closing.class);

    private final long endNanos;

    /** Something to close, with a name for the log. */
    record Part(String name, AutoCloseable closeable) {
        Part {
            requireNonNull(name, "name is null");
            requireNonNull(closeable, "closeable is null");
        }
    }

    private record Begun(Part part, Thread thread) {}

    /** The time begins now. */
    Closing(Duration within) {
        this.endNanos = System.nanoTime() + within.toNanos();
    }

    /**
     * Returns when all are closed or the time is up; what is not closed by then is left to the end of the process. Of
     * parts that are given later, after the time, each is begun all the same.
     */
    void close(List<Part> parts) {
        List<Begun> begun = new ArrayList<>();
        for (Part part : parts) {
            begun.add(new Begun(
                    part,
                    Thread.ofPlatform()
                            .daemon()
                            .name("erdma-close " + part.name())
                            .start(() -> close(part))));
        }
        boolean interrupted = false;
        for (Begun one : begun) {
            try {
                long left = Math.max(1, endNanos - System.nanoTime());
                if (!interrupted && !one.thread().join(Duration.ofNanos(left))) {
                    LOG.warn(
                            "not closed in time; the end of the process does it",
                            Field.of("part", one.part().name()));
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void close(Part part) {
        try {
            part.closeable().close();
        } catch (Exception e) {
            LOG.error("closing failed", e, Field.of("part", part.name()));
        }
    }
}
