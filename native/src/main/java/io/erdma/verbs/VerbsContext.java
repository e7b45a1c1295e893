package io.erdma.verbs;

import static java.util.Objects.requireNonNull;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.libc.SystemCall;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jnr.ffi.Pointer;

/**
 * An open device. Any method after {@link #close} throws {@link IllegalStateException}; close waits for calls under
 * way, so no pointer is used after its owner has gone. Safe for use from several threads; of two threads in
 * {@link #nextEvent} each gets different events.
 */
public final class VerbsContext implements AutoCloseable {
    /** One ioctl attribute is at most 65535 bytes long, so libibverbs refuses a larger table with EINVAL. */
    private static final int MAX_GIDS_PER_CALL = 65535 / GidEntryField.BUFFER;

    private static final int ETHERNET = 2;

    private final LibIbverbs library;
    private final Optional<LibIbverbs.GidTable> gidTable;
    private final Pointer context;
    private final VerbsDevice device;
    private final int asyncFd;
    /** Calls hold the read lock, close the write lock. */
    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();
    /** Set before close waits, so that a call that comes while another hangs is refused at once. */
    private volatile boolean closed;
    /** Guarded by the write lock: the native context is closed once. */
    private boolean released;

    VerbsContext(
            LibIbverbs library,
            Optional<LibIbverbs.GidTable> gidTable,
            Pointer context,
            VerbsDevice device,
            int asyncFd) {
        this.library = requireNonNull(library, "library is null");
        this.gidTable = requireNonNull(gidTable, "gidTable is null");
        this.context = requireNonNull(context, "context is null");
        this.device = requireNonNull(device, "device is null");
        this.asyncFd = asyncFd;
    }

    public VerbsDevice device() {
        requireOpen();
        return device;
    }

    public DeviceAttributes queryDevice() throws NativeException {
        return whileOpen(this::readDevice);
    }

    /** How many completion vectors, that is, interrupts for completion queues, the device has. */
    public int completionVectors() throws NativeException {
        return whileOpen(() -> context.getInt(ContextStruct.NUM_COMP_VECTORS.offset()));
    }

    /** @param port 1-based */
    public PortAttributes queryPort(int port) throws NativeException {
        requirePortNumber(port);
        return whileOpen(() -> readPort(port));
    }

    /**
     * All filled slots of all ports, in order. Where the library can't tell (before rdma-core 32) the interface of a GID
     * is 0, and one on Ethernet counts as RoCE v1, as {@code ibv_devinfo} does it. A slot of a type that this release
     * doesn't know is left out.
     */
    public List<GidEntry> gids() throws NativeException {
        return whileOpen(this::readGids);
    }

    /** Descriptor that becomes readable when {@link #nextEvent} has something; it is non-blocking. */
    public int asyncDescriptor() {
        requireOpen();
        return asyncFd;
    }

    /**
     * The next event, acknowledged; empty when none waits. Never blocks.
     *
     * @throws NativeException EIO when the device has gone: close this context and enumerate again
     */
    public Optional<VerbsEvent> nextEvent() throws NativeException {
        return whileOpen(this::readEvent);
    }

    @Override
    public void close() {
        closed = true;
        calls.writeLock().lock();
        try {
            if (released) {
                return;
            }
            released = true;
            // Always answers 0.
            library.ibv_close_device(context);
        } finally {
            calls.writeLock().unlock();
        }
    }

    private DeviceAttributes readDevice() throws NativeException {
        byte[] struct = new byte[DeviceAttr.BUFFER];
        check("ibv_query_device", device.name(), library.ibv_query_device(context, struct));
        return DeviceAttr.read(struct);
    }

    private PortAttributes readPort(int port) throws NativeException {
        byte[] struct = new byte[PortAttr.BUFFER];
        check("ibv_query_port", portName(port), library.ibv_query_port(context, (byte) port, struct));
        return PortAttr.read(struct);
    }

    private List<GidEntry> readGids() throws NativeException {
        int ports = readDevice().physPortCount();
        Map<Integer, PortAttributes> attributes = new TreeMap<>();
        for (int port = 1; port <= ports; port++) {
            int number = port;
            answering(port).ifPresent(ofPort -> attributes.put(number, ofPort));
        }
        int slots = attributes.values().stream()
                .mapToInt(PortAttributes::gidTableLength)
                .sum();
        if (slots == 0) {
            return List.of();
        }
        if (gidTable.isPresent() && slots <= MAX_GIDS_PER_CALL) {
            byte[] entries = new byte[slots * GidEntryField.BUFFER];
            long count = gidTable.get()._ibv_query_gid_table(context, entries, slots, 0, GidEntryField.BUFFER);
            if (count >= 0) {
                return gidsOf(entries, (int) Math.min(count, slots));
            }
            if (!isUnsupported((int) -count)) {
                throw new NativeException("_ibv_query_gid_table", (int) -count, device.name());
            }
        }
        List<GidEntry> gids = new ArrayList<>();
        for (Map.Entry<Integer, PortAttributes> port : attributes.entrySet()) {
            PortAttributes ofPort = port.getValue();
            for (int index = 0; index < ofPort.gidTableLength(); index++) {
                readGid(port.getKey(), index, ofPort.linkLayer()).ifPresent(gids::add);
            }
        }
        return List.copyOf(gids);
    }

    /** A sick port has no GIDs to tell, and must not hide those of the others; queryPort says what it has. */
    private Optional<PortAttributes> answering(int port) {
        try {
            return Optional.of(readPort(port));
        } catch (NativeException e) {
            return Optional.empty();
        }
    }

    private static List<GidEntry> gidsOf(byte[] entries, int count) {
        List<GidEntry> gids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] entry = Arrays.copyOfRange(entries, i * GidEntryField.BUFFER, (i + 1) * GidEntryField.BUFFER);
            gidOf(entry).ifPresent(gids::add);
        }
        gids.sort((a, b) -> a.port() == b.port() ? a.index() - b.index() : a.port() - b.port());
        return List.copyOf(gids);
    }

    private static Optional<GidEntry> gidOf(byte[] entry) {
        Gid gid = gid(entry);
        return GidEntry.Type.of(GidEntryField.GID_TYPE.signed(entry))
                .filter(type -> !gid.isZero())
                .map(type -> new GidEntry(
                        gid,
                        GidEntryField.GID_INDEX.signed(entry),
                        GidEntryField.PORT_NUM.signed(entry),
                        type,
                        GidEntryField.NDEV_IFINDEX.signed(entry)));
    }

    private static Gid gid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
        return new Gid(buffer.getLong(0), buffer.getLong(Long.BYTES));
    }

    private Optional<GidEntry> readGid(int port, int index, int linkLayer) throws NativeException {
        String subject = portName(port) + " GID " + index;
        if (gidTable.isPresent()) {
            byte[] entry = new byte[GidEntryField.BUFFER];
            int errno = gidTable.get()._ibv_query_gid_ex(context, port, index, entry, 0, GidEntryField.BUFFER);
            if (errno == 0) {
                return gidOf(entry);
            }
            if (errno == Errno.ENODATA) {
                return Optional.empty();
            }
            if (!isUnsupported(errno)) {
                throw new NativeException("_ibv_query_gid_ex", errno, subject);
            }
        }
        byte[] bytes = new byte[16];
        if (library.ibv_query_gid(context, (byte) port, index, bytes) != 0) {
            throw new NativeException("ibv_query_gid", SystemCall.errno(), subject);
        }
        Gid gid = gid(bytes);
        GidEntry.Type type = linkLayer == ETHERNET ? GidEntry.Type.ROCE_V1 : GidEntry.Type.IB;
        return gid.isZero() ? Optional.empty() : Optional.of(new GidEntry(gid, index, port, type, 0));
    }

    private Optional<VerbsEvent> readEvent() throws NativeException {
        byte[] struct = new byte[AsyncEvent.BUFFER];
        while (library.ibv_get_async_event(context, struct) != 0) {
            int errno = SystemCall.errno();
            if (errno == Errno.EAGAIN) {
                return Optional.empty();
            }
            if (errno != Errno.EINTR) {
                throw new NativeException("ibv_get_async_event", errno, device.name());
            }
        }
        library.ibv_ack_async_event(struct);
        return Optional.of(AsyncEvent.read(struct));
    }

    /** An older kernel or provider without the operation; EINVAL is what a kernel without the method answers. */
    private static boolean isUnsupported(int errno) {
        return switch (errno) {
            case Errno.EOPNOTSUPP, Errno.ENOSYS, Errno.EPROTONOSUPPORT, Errno.EINVAL -> true;
            default -> false;
        };
    }

    /** For the calls that answer an errno value; a provider that answers -1 left it in errno. */
    private static void check(String function, String subject, int result) throws NativeException {
        if (result != 0) {
            throw new NativeException(function, result > 0 ? result : SystemCall.errno(), subject);
        }
    }

    private String portName(int port) {
        return device.name() + " port " + port;
    }

    private static void requirePortNumber(int port) {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("port " + port + " is not between 1 and 255");
        }
    }

    private interface Call<T> {
        T run() throws NativeException;
    }

    private <T> T whileOpen(Call<T> call) throws NativeException {
        requireOpen();
        calls.readLock().lock();
        try {
            requireOpen();
            return call.run();
        } finally {
            calls.readLock().unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(device.name() + " has been closed");
        }
    }
}
