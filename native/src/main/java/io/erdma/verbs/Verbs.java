package io.erdma.verbs;

import static java.util.Objects.requireNonNull;

import io.erdma.libc.Errno;
import io.erdma.libc.LibC;
import io.erdma.libc.NativeException;
import io.erdma.libc.NativeLibrary;
import io.erdma.libc.SystemCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jnr.ffi.Pointer;

/** The verbs library: lists devices and opens them. Safe for use from several threads. */
public final class Verbs {
    public static final String DEFAULT_LIBRARY = "libibverbs.so.1";

    /** Compiled into libibverbs, which opens no other; so this is the one to ask about, wherever the tests keep theirs. */
    private static final String NODES = "/dev/infiniband";

    private final LibIbverbs library;
    private final Optional<LibIbverbs.GidTable> gidTable;
    private final LibC libc;
    private final String nodes;

    private Verbs(LibIbverbs library, Optional<LibIbverbs.GidTable> gidTable, LibC libc, String nodes) {
        this.library = library;
        this.gidTable = gidTable;
        this.libc = libc;
        this.nodes = nodes;
    }

    /** @param library a soname or an absolute path */
    public static Verbs load(String library) throws VerbsUnavailableException {
        return load(library, NODES);
    }

    /** @param nodes directory of the uverbs nodes */
    static Verbs load(String library, String nodes) throws VerbsUnavailableException {
        try {
            NativeLibrary opened = NativeLibrary.open(requireNonNull(library, "library is null"));
            LibIbverbs functions = opened.bind(LibIbverbs.class);
            Optional<LibIbverbs.GidTable> gidTable =
                    opened.has("_ibv_query_gid_table") && opened.has("_ibv_query_gid_ex")
                            ? Optional.of(opened.bind(LibIbverbs.GidTable.class))
                            : Optional.empty();
            return new Verbs(functions, gidTable, LibC.load(), nodes);
        } catch (NativeException e) {
            throw new VerbsUnavailableException(
                    "cannot use the verbs library " + library + ": " + e.getMessage() + adviceFor(e), e);
        }
    }

    private static String adviceFor(NativeException e) {
        return e.function().equals(NativeLibrary.STUB)
                ? "."
                : ". Install the packages libibverbs1 and ibverbs-providers (Debian, Ubuntu) or rdma-core (RHEL, Alibaba"
                        + " Cloud Linux), or name the file with --verbs-library.";
    }

    /**
     * The devices that libibverbs would open; empty when there are none, also when the kernel has no verbs at all
     * (ENOSYS).
     */
    public List<VerbsDevice> devices() throws NativeException {
        Optional<Pointer> list = deviceList();
        if (list.isEmpty()) {
            return List.of();
        }
        try {
            List<VerbsDevice> devices = new ArrayList<>();
            for (Pointer device : entries(list.get())) {
                devices.add(copyOf(device));
            }
            return List.copyOf(devices);
        } finally {
            library.ibv_free_device_list(list.get());
        }
    }

    /**
     * @throws NativeException ENODEV when libibverbs has no device of that name; when the kernel refuses to open its
     *     node, that open with its errno; else the errno of {@code ibv_open_device}
     */
    public VerbsContext open(String deviceName) throws NativeException {
        requireNonNull(deviceName, "deviceName is null");
        Optional<Pointer> list = deviceList();
        if (list.isEmpty()) {
            throw new NativeException("ibv_open_device", Errno.ENODEV, deviceName);
        }
        try {
            for (Pointer device : entries(list.get())) {
                if (deviceName.equals(library.ibv_get_device_name(device))) {
                    return open(device);
                }
            }
        } finally {
            // After the open: an open device keeps its struct, any other one dies with the list.
            library.ibv_free_device_list(list.get());
        }
        throw new NativeException("ibv_open_device", Errno.ENODEV, deviceName);
    }

    private VerbsContext open(Pointer device) throws NativeException {
        VerbsDevice copy = copyOf(device);
        Pointer context = library.ibv_open_device(device);
        if (context == null) {
            int errno = SystemCall.errno();
            askKernel(copy.uverbsName());
            throw new NativeException("ibv_open_device", errno, copy.name());
        }
        try {
            int asyncFd = context.getInt(ContextStruct.ASYNC_FD.offset());
            String subject = copy.name() + "'s event descriptor";
            int flags = SystemCall.checked("fcntl", subject, () -> libc.fcntl(asyncFd, LibC.F_GETFL, 0));
            SystemCall.checked("fcntl", subject, () -> libc.fcntl(asyncFd, LibC.F_SETFL, flags | LibC.O_NONBLOCK));
            return new VerbsContext(library, gidTable, context, copy, asyncFd);
        } catch (NativeException e) {
            library.ibv_close_device(context);
            throw e;
        }
    }

    /**
     * When libibverbs can't open a node, it looks for another that leads to the same device, and what it reports in the
     * end is that this one isn't there: ENOENT, whatever had been wrong with the first. So the kernel is asked itself.
     *
     * @throws NativeException why the node can't be opened; nothing when it can, or when there is none
     */
    private void askKernel(String uverbsName) throws NativeException {
        String node = nodes + "/" + uverbsName;
        try {
            int fd = SystemCall.checked("open", node, () -> libc.open(node, LibC.O_RDWR | LibC.O_CLOEXEC));
            SystemCall.close(libc, fd, node);
        } catch (NativeException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Empty when the kernel has no verbs; the caller frees it. */
    private Optional<Pointer> deviceList() throws NativeException {
        Pointer list = library.ibv_get_device_list(new int[1]);
        if (list != null) {
            return Optional.of(list);
        }
        int errno = SystemCall.errno();
        if (errno == Errno.ENOSYS) {
            return Optional.empty();
        }
        throw new NativeException("ibv_get_device_list", errno, "this machine");
    }

    private static List<Pointer> entries(Pointer list) {
        List<Pointer> entries = new ArrayList<>();
        for (long at = 0; ; at += Long.BYTES) {
            Pointer device = list.getPointer(at);
            if (device == null) {
                return entries;
            }
            entries.add(device);
        }
    }

    private VerbsDevice copyOf(Pointer device) {
        byte[] struct = new byte[DeviceStruct.READ];
        device.get(0, struct, 0, struct.length);
        return new VerbsDevice(
                library.ibv_get_device_name(device),
                DeviceStruct.DEV_NAME.text(struct),
                new NodeGuid(Long.reverseBytes(library.ibv_get_device_guid(device))),
                NodeType.of(DeviceStruct.NODE_TYPE.signed(struct)),
                DeviceStruct.TRANSPORT_TYPE.signed(struct));
    }
}
