package io.erdma.health;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Whether the health thread is to let go of all devices, and whether it has. Asked for by any thread, done by that one. */
final class Suspension {
    /**
     * What is asked for now.
     *
     * @param reason why the devices are to be let go of; empty when they are to be watched
     * @param suspensions how many times they were to be let go of until now; so one that was over before the health thread
     *     saw it isn't missed
     */
    record Wish(Optional<String> reason, long suspensions) {
        static final Wish WATCH = new Wish(Optional.empty(), 0);
    }

    /** Guarded by this, like all that follows. */
    private Wish wish = Wish.WATCH;

    private boolean reached;
    private boolean ended;

    /** @return whether that is news */
    synchronized boolean suspend(String reason) {
        if (wish.reason().equals(Optional.of(reason))) {
            return false;
        }
        wish = new Wish(Optional.of(reason), wish.suspensions() + 1);
        reached = false;
        return true;
    }

    /** @return whether that is news */
    synchronized boolean resume() {
        if (wish.reason().isEmpty()) {
            return false;
        }
        wish = new Wish(Optional.empty(), wish.suspensions());
        reached = false;
        notifyAll();
        return true;
    }

    synchronized Wish wish() {
        return wish;
    }

    /** That wish is fulfilled. */
    synchronized void reached(Wish fulfilled) {
        if (fulfilled.equals(wish) && !reached) {
            reached = true;
            notifyAll();
        }
    }

    /** The health thread is no more. */
    synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** @return whether all devices are let go of; false at once when that isn't asked for */
    synchronized boolean await(Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            while (!reached && !ended && wish.reason().isPresent()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return reached && wish.reason().isPresent();
    }
}
