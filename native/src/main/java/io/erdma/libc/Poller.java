package io.erdma.libc;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Waits until one of several descriptors is readable, a time has passed, or another thread calls {@link #wakeUp}. */
public final class Poller implements AutoCloseable {
    private static final String SUBJECT = "the poller's wake-up descriptor";
    /** {@code struct pollfd}: fd (i32), events (i16), revents (i16). */
    private static final int POLLFD = 8;

    /**
     * What a wait ended with.
     *
     * @param readable descriptors with something to read
     * @param broken descriptors that reported POLLERR, POLLHUP or POLLNVAL: their other side is gone
     */
    public record Ready(Set<Integer> readable, Set<Integer> broken) {
        public Ready {
            readable = Set.copyOf(readable);
            broken = Set.copyOf(broken);
        }
    }

    private final LibC libc;
    private final int wakeUpFd;
    /** Held by a wait for its whole length, so that close frees the descriptor only behind it. */
    private final ReentrantLock waiting = new ReentrantLock();
    /** Writers of the descriptor hold the read lock: none of them may meet a number that was given away anew. */
    private final ReentrantReadWriteLock descriptor = new ReentrantReadWriteLock();

    private volatile boolean closed;

    private Poller(LibC libc, int wakeUpFd) {
        this.libc = libc;
        this.wakeUpFd = wakeUpFd;
    }

    public static Poller open() throws NativeException {
        LibC libc = LibC.load();
        return new Poller(
                libc,
                SystemCall.checked("eventfd", SUBJECT, () -> libc.eventfd(0, LibC.EFD_NONBLOCK | LibC.EFD_CLOEXEC)));
    }

    /**
     * One thread at a time. Returns with empty sets after the timeout or a wake-up; EINTR is retried.
     *
     * @throws IllegalStateException when the poller is closed, also when that happens during the wait
     */
    public Ready await(Collection<Integer> descriptors, Duration timeout) throws NativeException {
        requireNonNull(timeout, "timeout is null");
        List<Integer> asked = List.copyOf(descriptors);
        waiting.lock();
        try {
            requireOpen();
            ByteBuffer pollfds =
                    ByteBuffer.allocate((asked.size() + 1) * POLLFD).order(ByteOrder.nativeOrder());
            pollfds.putInt(wakeUpFd).putShort((short) LibC.POLLIN).putShort((short) 0);
            for (int fd : asked) {
                pollfds.putInt(fd).putShort((short) LibC.POLLIN).putShort((short) 0);
            }
            long deadline = System.nanoTime() + nanos(timeout);
            SystemCall.checked(
                    "poll",
                    asked.size() + " descriptors",
                    () -> libc.poll(pollfds.array(), asked.size() + 1L, millisUntil(deadline)));
            requireOpen();
            if (events(pollfds, 0) != 0) {
                drainWakeUps();
            }
            return ready(asked, pollfds);
        } finally {
            waiting.unlock();
        }
    }

    private static Ready ready(List<Integer> asked, ByteBuffer pollfds) {
        Set<Integer> readable = new HashSet<>();
        Set<Integer> broken = new HashSet<>();
        for (int i = 0; i < asked.size(); i++) {
            int events = events(pollfds, i + 1);
            if ((events & LibC.POLLIN) != 0) {
                readable.add(asked.get(i));
            }
            if ((events & (LibC.POLLERR | LibC.POLLHUP | LibC.POLLNVAL)) != 0) {
                broken.add(asked.get(i));
            }
        }
        return new Ready(readable, broken);
    }

    private static int events(ByteBuffer pollfds, int index) {
        return pollfds.getShort(index * POLLFD + 6);
    }

    /** A day is as long as needed, and saves the sum from overflowing. */
    private static long nanos(Duration timeout) {
        Duration longest = Duration.ofDays(1);
        return (timeout.compareTo(longest) < 0 ? timeout : longest).toNanos();
    }

    /** Rounded up, so that a wait is never shorter than asked for; computed anew after each interruption. */
    private static int millisUntil(long deadline) {
        long left = deadline - System.nanoTime();
        return left <= 0 ? 0 : (int) ((left + 999_999) / 1_000_000);
    }

    private void drainWakeUps() throws NativeException {
        // One read takes the whole count. Only this thread reads, so there is something to read.
        byte[] count = new byte[Long.BYTES];
        SystemCall.checkedLong("read", SUBJECT, () -> libc.read(wakeUpFd, count, count.length));
    }

    /** From any thread: the current or the next {@link #await} returns at once. After close it does nothing. */
    public void wakeUp() {
        descriptor.readLock().lock();
        try {
            if (!closed) {
                signal();
            }
        } finally {
            descriptor.readLock().unlock();
        }
    }

    private void signal() {
        byte[] one = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(1)
                .array();
        while (libc.write(wakeUpFd, one, one.length) < 0) {
            int errno = SystemCall.errno();
            if (errno == Errno.EAGAIN) {
                // The count is at its maximum, so the descriptor is readable already.
                return;
            }
            if (errno != Errno.EINTR) {
                throw new IllegalStateException("cannot write to " + SUBJECT + ": " + Errno.describe(errno));
            }
        }
    }

    /** Ends a wait under way. */
    @Override
    public void close() {
        descriptor.writeLock().lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            signal();
        } finally {
            descriptor.writeLock().unlock();
        }
        waiting.lock();
        try {
            // An eventfd has nothing to flush: close can't fail in a way that anyone could act upon.
            libc.close(wakeUpFd);
        } finally {
            waiting.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the poller has been closed");
        }
    }
}
