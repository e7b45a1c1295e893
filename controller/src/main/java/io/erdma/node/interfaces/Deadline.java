package io.erdma.node.interfaces;

import java.time.Duration;

/** A moment until which something may take. */
record Deadline(long nanos) {
    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    /** That time from now, or this moment if it comes sooner. */
    Deadline within(Duration time) {
        Deadline other = in(time);
        return other.nanos - nanos < 0 ? other : this;
    }

    /** Zero when it is over. */
    Duration left() {
        return Duration.ofNanos(Math.max(0, nanos - System.nanoTime()));
    }

    boolean isOver() {
        return left().isZero();
    }
}
