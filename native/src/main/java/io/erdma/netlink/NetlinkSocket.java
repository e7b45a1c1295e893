package io.erdma.netlink;

import static java.util.Objects.requireNonNull;

import io.erdma.libc.Errno;
import io.erdma.libc.LibC;
import io.erdma.libc.NativeException;
import io.erdma.libc.SystemCall;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Owns one netlink socket. It belongs to the network namespace of the thread that opened it, and may then be used from
 * any thread, one at a time. No call blocks longer than the time an answer is waited for.
 */
final class NetlinkSocket implements AutoCloseable {
    static final int ROUTE = 0;
    static final int RDMA = 20;

    private static final int ADDRESS_LENGTH = 12;
    private static final int ADDRESS_PORT = 4;
    private static final int ADD_MEMBERSHIP = 1;
    private static final int CAPPED_ACKNOWLEDGEMENT = 10;
    private static final int EXTENDED_ACKNOWLEDGEMENT = 11;

    private static final int FIRST_BUFFER = 64 << 10;
    private static final int MAX_BUFFER = 16 << 20;

    /** For an answer to begin, and from one part of it to the next. */
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);
    /** Millions of routes come within seconds. */
    private static final Duration WHOLE_ANSWER_WITHIN = Duration.ofMinutes(1);

    /** The kernel dumps thousands of links within milliseconds; who interrupts that so often never stops. */
    private static final int MAX_INTERRUPTED_DUMPS = 32;
    /** A large table is not dumped so often. */
    private static final Duration INTERRUPTED_FOR = Duration.ofSeconds(10);

    private final LibC libc;
    private final String subject;
    private final int descriptor;
    private final ReentrantLock lock = new ReentrantLock();
    private byte[] buffer = new byte[FIRST_BUFFER];
    private int sequence;
    private boolean closed;

    private NetlinkSocket(LibC libc, String subject, int descriptor) {
        this.libc = libc;
        this.subject = subject;
        this.descriptor = descriptor;
    }

    /** @param subject what messages call this socket */
    static NetlinkSocket open(int family, String subject) throws NativeException {
        LibC libc = LibC.load();
        int descriptor = SystemCall.checked(
                "socket", subject, () -> libc.socket(LibC.AF_NETLINK, LibC.SOCK_RAW | LibC.SOCK_CLOEXEC, family));
        var socket = new NetlinkSocket(libc, requireNonNull(subject, "subject is null"), descriptor);
        try {
            // Port 0: the kernel chooses a free one.
            byte[] address = address();
            SystemCall.checked("bind", subject, () -> libc.bind(descriptor, address, address.length));
            socket.set(LibC.SOL_NETLINK, CAPPED_ACKNOWLEDGEMENT, 1);
            socket.set(LibC.SOL_NETLINK, EXTENDED_ACKNOWLEDGEMENT, 1);
            return socket;
        } catch (NativeException e) {
            socket.close();
            throw e;
        }
    }

    private static byte[] address() {
        return ByteBuffer.allocate(ADDRESS_LENGTH)
                .order(ByteOrder.nativeOrder())
                .putShort((short) LibC.AF_NETLINK)
                .array();
    }

    void join(int group) throws NativeException {
        set(LibC.SOL_NETLINK, ADD_MEMBERSHIP, group);
    }

    /** @param bytes the kernel doubles it, and keeps to its own smallest and largest value */
    void receiveBuffer(int bytes) throws NativeException {
        set(LibC.SOL_SOCKET, LibC.SO_RCVBUF, bytes);
    }

    private void set(int level, int option, int value) throws NativeException {
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array();
        SystemCall.checked(
                "setsockopt",
                subject + " (option " + option + ")",
                () -> libc.setsockopt(descriptor, level, option, bytes, bytes.length));
    }

    int descriptor() {
        return descriptor;
    }

    /** One try at something that the kernel may have changed meanwhile. */
    @FunctionalInterface
    interface Dump<T> {
        NetlinkAnswer<T> once() throws NativeException;
    }

    /** Asks for a table, again and again while the kernel says that it changed under its hands. */
    List<NetlinkMessage> dump(String request, int type, byte[] body) throws NativeException {
        return dump(request, type, body, () -> Optional::of);
    }

    /**
     * As {@link #dump(String, int, byte[])}, of tables that may be far larger than what is kept of them.
     *
     * @param reader asked for anew at each try; what to keep of a message as it comes
     */
    <T> List<T> dump(String request, int type, byte[] body, Supplier<Function<NetlinkMessage, Optional<T>>> reader)
            throws NativeException {
        return consistent(
                request, subject, () -> exchange(request, type, NetlinkMessage.FLAG_DUMP, body, reader.get()));
    }

    /** Asks for a table; what comes may be interrupted. */
    NetlinkAnswer<NetlinkMessage> dumpOnce(String request, int type, byte[] body) throws NativeException {
        return exchange(request, type, NetlinkMessage.FLAG_DUMP, body, Optional::of);
    }

    static <T> List<T> consistent(String request, String subject, Dump<T> dump) throws NativeException {
        long start = System.nanoTime();
        int dumps = 0;
        do {
            NetlinkAnswer<T> answer = dump.once();
            if (!answer.interrupted()) {
                return answer.kept();
            }
            dumps++;
        } while (dumps < MAX_INTERRUPTED_DUMPS && System.nanoTime() - start < INTERRUPTED_FOR.toNanos());
        throw new NativeException(request, Errno.EBUSY, subject + " (it changed during each of " + dumps + " dumps)");
    }

    /** Asks for one thing. */
    List<NetlinkMessage> ask(String request, int type, byte[] body) throws NativeException {
        return exchange(request, type, NetlinkMessage.FLAG_ACK, body, Optional::of)
                .kept();
    }

    /** Has the kernel add something that must not exist yet. */
    void add(String request, int type, byte[] body) throws NativeException {
        int flags = NetlinkMessage.FLAG_ACK | NetlinkMessage.FLAG_CREATE | NetlinkMessage.FLAG_EXCLUSIVE;
        exchange(request, type, flags, body, Optional::of);
    }

    private <T> NetlinkAnswer<T> exchange(
            String request, int type, int flags, byte[] body, Function<NetlinkMessage, Optional<T>> reader)
            throws NativeException {
        lock.lock();
        try {
            checkOpen();
            // 0 is what notifications bear.
            sequence = sequence == Integer.MAX_VALUE ? 1 : sequence + 1;
            byte[] message = NetlinkMessage.request(type, flags, sequence, body);
            byte[] kernel = address();
            SystemCall.checkedLong(
                    "sendto",
                    subject,
                    () -> libc.sendto(descriptor, message, message.length, 0, kernel, kernel.length));
            NetlinkAnswer<T> answer =
                    collect(request, new NetlinkAnswer<>(sequence, flags == NetlinkMessage.FLAG_DUMP, reader));
            if (answer.failure().isPresent()) {
                NetlinkMessage.Verdict verdict = answer.failure().get();
                throw new NativeException(request, verdict.errno(), subject, verdict.text());
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    private <T> NetlinkAnswer<T> collect(String request, NetlinkAnswer<T> answer) throws NativeException {
        long end = System.nanoTime() + WHOLE_ANSWER_WITHIN.toNanos();
        long deadline = System.nanoTime() + ANSWER_WITHIN.toNanos();
        while (true) {
            Optional<byte[]> datagram = receive();
            if (datagram.isEmpty()) {
                awaitReadable(request, deadline);
                continue;
            }
            try {
                if (answer.accept(datagram.get())) {
                    return answer;
                }
                if (answer.progressed()) {
                    deadline = System.nanoTime() + ANSWER_WITHIN.toNanos();
                }
            } catch (NetlinkFormatException e) {
                var failure = new NativeException(request, Errno.EIO, subject + " (" + e.getMessage() + ")");
                failure.initCause(e);
                throw failure;
            }
            long now = System.nanoTime();
            if (now - deadline > 0 || now - end > 0) {
                throw new NativeException(request, Errno.ETIMEDOUT, subject);
            }
        }
    }

    private void awaitReadable(String request, long deadline) throws NativeException {
        byte[] pollfd = ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putInt(descriptor)
                .putShort((short) LibC.POLLIN)
                .array();
        int ready = SystemCall.checked("poll", subject, () -> {
            // Computed anew when a signal interrupted the wait.
            long left = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
            return libc.poll(pollfd, 1, (int) Math.max(0, left));
        });
        if (ready == 0) {
            throw new NativeException(request, Errno.ETIMEDOUT, subject);
        }
    }

    /**
     * The next datagram from the kernel, whatever its length; empty when none waits. Never blocks.
     *
     * @throws NativeException with ENOBUFS, once, when the kernel had to drop notifications, or for one too large
     */
    Optional<byte[]> receive() throws NativeException {
        lock.lock();
        try {
            checkOpen();
            byte[] sender = new byte[ADDRESS_LENGTH];
            while (true) {
                Optional<Integer> length = receive(LibC.MSG_PEEK, sender);
                if (length.isEmpty()) {
                    return Optional.empty();
                }
                if (length.get() > buffer.length) {
                    buffer = new byte[Math.min(length.get(), MAX_BUFFER)];
                }
                length = receive(0, sender);
                if (length.isEmpty()) {
                    return Optional.empty();
                }
                if (length.get() > buffer.length) {
                    throw new NativeException(
                            "recv", Errno.ENOBUFS, subject + " (a datagram of " + length.get() + " bytes)");
                }
                // A privileged process can write to this socket too; the kernel's own port is 0.
                if (ByteBuffer.wrap(sender).getInt(ADDRESS_PORT) == 0) {
                    return Optional.of(Arrays.copyOf(buffer, length.get()));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private Optional<Integer> receive(int flag, byte[] sender) throws NativeException {
        int[] senderLength = {sender.length};
        try {
            return Optional.of(SystemCall.checked("recv", subject, () -> (int) libc.recvfrom(
                    descriptor,
                    buffer,
                    buffer.length,
                    LibC.MSG_DONTWAIT | LibC.MSG_TRUNC | flag,
                    sender,
                    senderLength)));
        } catch (NativeException e) {
            if (e.errno() == Errno.EAGAIN) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException(subject + " is closed");
        }
    }

    /** Waits for a call under way in another thread. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                SystemCall.close(libc, descriptor, subject);
            }
        } catch (NativeException e) {
            // Only EBADF is possible: somebody else closed our descriptor.
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }
}
