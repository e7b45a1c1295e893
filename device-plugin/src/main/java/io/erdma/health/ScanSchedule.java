package io.erdma.health;

import java.time.Duration;
import java.util.function.IntSupplier;

/**
 * When the node is to be scanned, and which scan counts. A scan may hang in a driver, then another takes its place. Owned by
 * the health thread; times are passed in, as {@link System#nanoTime} gives them.
 */
final class ScanSchedule {
    private final Pace pace;
    private final IntSupplier silentDrivers;

    private int running;
    private long startedAt;
    private long accepted = Long.MIN_VALUE;
    private long next;
    private boolean secondLook;
    /** A scan came due while another was running: what that one has read already may be out of date. */
    private boolean waiting;

    private boolean paused;

    /** @param silentDrivers how many devices the scans under way wait for */
    ScanSchedule(Pace pace, IntSupplier silentDrivers) {
        this.pace = pace;
        this.silentDrivers = silentDrivers;
    }

    /** Something has happened; the scan that it leads to is followed by a second look. */
    void soon(long now) {
        secondLook = true;
        long earliest = Math.max(now, startedAt + pace.betweenScans().toNanos());
        if (next - earliest > 0) {
            next = earliest;
        }
    }

    /** No scan is due until {@link #startOver}, and those under way count no more. */
    void pause() {
        paused = true;
        accepted = startedAt;
    }

    /** A scan is due now, and only what begins from now on counts. */
    void startOver(long now) {
        paused = false;
        accepted = startedAt;
        next = now;
    }

    /** The first one. */
    void startAt(long now) {
        next = now;
    }

    boolean due(long now) {
        return !paused && (now - next >= 0 || (mayGetStuck() && late(now)));
    }

    /** How long nothing is due. */
    long nanosUntilDue(long now) {
        if (paused) {
            return Long.MAX_VALUE;
        }
        long wait = next - now;
        return mayGetStuck() ? Math.min(wait, startedAt + pace.scanPatience().toNanos() - now) : wait;
    }

    /**
     * A scan is due.
     *
     * @param interval until the next one, when nothing happens
     * @return whether it may start; else it is due again when one of those that hang has ended
     */
    boolean begin(long now, Duration interval) {
        boolean mayStart = running == 0 || (late(now) && running <= replacements());
        if (!mayStart) {
            waiting = true;
            next = now + pace.scanPatience().toNanos();
            return false;
        }
        next = now + (secondLook ? pace.secondLook() : interval).toNanos();
        secondLook = false;
        waiting = false;
        startedAt = now;
        running++;
        return true;
    }

    /** @return whether what it found is to be used, being newer than what is known */
    boolean ended(long itsStart, long now) {
        running--;
        if (waiting) {
            next = now;
        }
        boolean newer = itsStart > accepted;
        if (newer) {
            accepted = itsStart;
        }
        return newer;
    }

    void died() {
        running--;
    }

    private boolean late(long now) {
        return now - startedAt >= pace.scanPatience().toNanos();
    }

    /** Whether the latest scan is still under way and can be replaced. */
    private boolean mayGetStuck() {
        return accepted < startedAt && running > 0 && running <= replacements();
    }

    /**
     * Beside a scan that hangs, another may run for each driver that doesn't answer, since it leaves that device out.
     * Whatever else holds it up may hold up the next one too, so for that there is only one more.
     */
    private int replacements() {
        return Math.max(1, silentDrivers.getAsInt());
    }
}
