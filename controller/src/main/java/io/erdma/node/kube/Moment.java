package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;

/**
 * One moment by two clocks: what people read may jump, what is measured by must not.
 *
 * @param wall what people read
 * @param nanos as {@link System#nanoTime} gives them
 */
record Moment(Instant wall, long nanos) {
    Moment {
        requireNonNull(wall, "wall is null");
    }

    boolean isBefore(long otherNanos) {
        return nanos - otherNanos < 0;
    }

    Duration since(long earlierNanos) {
        return Duration.ofNanos(nanos - earlierNanos);
    }

    long plus(Duration time) {
        return nanos + time.toNanos();
    }
}
