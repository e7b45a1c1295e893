package io.erdma.node.net;

import java.time.Duration;

/**
 * Keeps a log readable while something changes without end: so many lines at once, and then one now and then. What is
 * held back is counted; how things stand, the status tells. Time is that of {@link System#nanoTime}. For one thread.
 */
final class LineBudget {
    /** Far more than it takes to set all cards of a node up, and to tear them down again. */
    static final int AT_ONCE = 100;

    static final Duration EACH = Duration.ofSeconds(10);

    private long left = AT_ONCE;
    private long filled;
    private long heldBack;

    LineBudget(long now) {
        this.filled = now;
    }

    /** @return whether a line may be written */
    boolean spend(long now) {
        long more = (now - filled) / EACH.toNanos();
        left = Math.min(left + more, AT_ONCE);
        filled += more * EACH.toNanos();
        if (left == 0) {
            heldBack++;
            return false;
        }
        left--;
        return true;
    }

    /** How many lines were not written since this was last asked. */
    long takeHeldBack() {
        long count = heldBack;
        heldBack = 0;
        return count;
    }
}
