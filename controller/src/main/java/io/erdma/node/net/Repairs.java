package io.erdma.node.net;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * How often one interface is set right again that somebody else keeps changing: at once the first time, then with
 * growing pauses, and seldom once it is clear that this leads nowhere. A change that wasn't made before never waits: it
 * may be the one that keeps our routes behind the primary interface's. Time is that of {@link System#nanoTime}.
 */
final class Repairs {
    /**
     * @param firstPause after the first repair; doubles with each further one
     * @param longestPause also after each one from the last attempt on
     * @param attempts that many repairs in a row make clear that somebody means it
     * @param forget after being left in peace for so long, a repair is the first again
     */
    record Limits(Duration firstPause, Duration longestPause, int attempts, Duration forget) {
        static final Limits STANDARD =
                new Limits(Duration.ofSeconds(1), Duration.ofMinutes(1), 8, Duration.ofMinutes(10));
    }

    /** Far more than one interface needs; what was forgotten counts as new. */
    private static final int REMEMBERED = 256;

    private final Limits limits;
    private final Set<NetChange> made = new HashSet<>();
    private int inARow;
    private Duration pause = Duration.ZERO;
    private long lastRepair;
    private long lastUndone;

    Repairs(Limits limits) {
        this.limits = limits;
    }

    /**
     * Of the changes that one interface needs now.
     *
     * @return how long to wait before they are made; zero: make them now
     */
    Duration waitBefore(List<NetChange> changes, long now) {
        if (inARow > 0 && now - lastUndone > limits.forget().toNanos()) {
            inARow = 0;
            pause = Duration.ZERO;
        }
        if (!areUndone(changes)) {
            return Duration.ZERO;
        }
        lastUndone = now;
        Duration left = inARow == 0 ? Duration.ZERO : pause.minusNanos(now - lastRepair);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** @return whether it was a repair, of what had been made before */
    boolean made(List<NetChange> changes, long now) {
        boolean repair = areUndone(changes);
        if (repair) {
            inARow++;
            lastRepair = now;
            lastUndone = now;
            Duration doubled = pause.isZero() ? limits.firstPause() : pause.multipliedBy(2);
            pause = gaveUp() || doubled.compareTo(limits.longestPause()) > 0 ? limits.longestPause() : doubled;
        }
        if (made.size() > REMEMBERED) {
            made.clear();
        }
        made.addAll(changes);
        return repair;
    }

    /** Nothing but things that were made before. */
    private boolean areUndone(List<NetChange> changes) {
        return !changes.isEmpty() && made.containsAll(changes);
    }

    /** How often in a row it was set right in vain. */
    int inARow() {
        return inARow;
    }

    boolean gaveUp() {
        return inARow >= limits.attempts();
    }

    Duration pause() {
        return pause;
    }
}
