package io.erdma.health;

import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.NodeSources.OpenDevice;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Supplier;

/**
 * What may hang in a driver: each job has a thread of its own, and tells in the mailbox how it ended. Jobs are started
 * and the mailbox is read by the health thread alone.
 */
final class Jobs {
    /** What a job tells the health thread. */
    sealed interface Message {
        record Asked(Watched device, DeviceProbe.Outcome outcome, long startedAt) implements Message {}

        record Closed(Watched device) implements Message {}

        record Scanned(InventorySnapshot snapshot, long startedAt) implements Message {}

        /** A job died of a fault of ours. */
        record Faulty(String job, Optional<Watched> device, Throwable cause) implements Message {}
    }

    private final Runnable wakeUp;
    /** Guarded by itself. */
    private final Queue<Message> mailbox = new ArrayDeque<>();
    /** Guarded by the mailbox: nobody reads it any more. */
    private boolean ended;

    /** @param wakeUp wakes the health thread; not called after {@link #end} */
    Jobs(Runnable wakeUp) {
        this.wakeUp = wakeUp;
    }

    /** A daemon, so that one that hangs in a driver doesn't keep the process. */
    void start(String name, Optional<Watched> device, Supplier<Message> job) {
        Runnable guarded = () -> {
            try {
                leave(job.get());
            } catch (RuntimeException | Error e) {
                // Errors too: a job that ends without a message would keep its device busy for ever.
                leave(new Message.Faulty(name, device, e));
            }
        };
        try {
            Thread.ofPlatform().daemon().name(name).start(guarded);
        } catch (OutOfMemoryError e) {
            // What the JVM throws when the kernel gives no more threads (pids limit).
            leave(new Message.Faulty(name, device, e));
        }
    }

    Optional<Message> next() {
        synchronized (mailbox) {
            return Optional.ofNullable(mailbox.poll());
        }
    }

    /** From any thread. */
    void wakeUp() {
        synchronized (mailbox) {
            if (!ended) {
                wakeUp.run();
            }
        }
    }

    /**
     * From now on a job that finds nobody to tell releases what it has.
     *
     * @return what was not read, to be released
     */
    List<Message> end() {
        synchronized (mailbox) {
            ended = true;
            List<Message> unread = List.copyOf(mailbox);
            mailbox.clear();
            return unread;
        }
    }

    private void leave(Message message) {
        synchronized (mailbox) {
            if (!ended) {
                mailbox.add(message);
                wakeUp.run();
                return;
            }
        }
        release(message);
    }

    /** May hang, since it closes. */
    static void release(Message message) {
        switch (message) {
            case Message.Asked asked -> asked.outcome().context().ifPresent(OpenDevice::close);
            case Message.Closed _, Message.Scanned _, Message.Faulty _ -> {
                // They own nothing.
            }
        }
    }
}
