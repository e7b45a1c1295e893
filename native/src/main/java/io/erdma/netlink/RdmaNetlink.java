package io.erdma.netlink;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/** The kernel's RDMA devices by NETLINK_RDMA: needs no right beyond a socket, and no /dev node. */
public final class RdmaNetlink implements AutoCloseable {
    /** Network namespace mode of the RDMA subsystem. */
    public enum NetnsMode {
        /** Every namespace sees every device; also what a kernel without the attribute does. */
        SHARED,
        EXCLUSIVE
    }

    private static final int MAX_DATAGRAMS_PER_CALL = 4096;

    private final NetlinkSocket requests;
    private final Optional<NetlinkSocket> notifications;

    private RdmaNetlink(NetlinkSocket requests, Optional<NetlinkSocket> notifications) {
        this.requests = requests;
        this.notifications = notifications;
    }

    /**
     * For requests alone.
     *
     * @throws NativeException EPROTONOSUPPORT when the kernel has no RDMA core (module not loaded)
     */
    public static RdmaNetlink open() throws NativeException {
        return new RdmaNetlink(openRequests(), Optional.empty());
    }

    private static NetlinkSocket openRequests() throws NativeException {
        return NetlinkSocket.open(NetlinkSocket.RDMA, "netlink for RDMA devices");
    }

    /** As {@link #open}; from here on changes are kept for {@link #drainChanges}, where the kernel notifies. */
    public static RdmaNetlink openWithNotifications() throws NativeException {
        NetlinkSocket requests = openRequests();
        try {
            return new RdmaNetlink(requests, openNotifications());
        } catch (NativeException e) {
            requests.close();
            throw e;
        }
    }

    private static Optional<NetlinkSocket> openNotifications() throws NativeException {
        NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.RDMA, "netlink notifications of RDMA devices");
        try {
            socket.join(RdmaMessages.GROUP_NOTIFY);
            return Optional.of(socket);
        } catch (NativeException e) {
            // A kernel without that group: the empty answer says so.
            socket.close();
            return Optional.empty();
        }
    }

    public List<RdmaLink> devices() throws NativeException {
        return requests.dump("RDMA_NLDEV_CMD_GET", RdmaMessages.GET_DEVICES, new byte[0]).stream()
                .flatMap(message -> RdmaMessages.device(message).stream())
                .toList();
    }

    /** @throws NativeException EINVAL when there is no such device */
    public List<RdmaPort> ports(int deviceIndex) throws NativeException {
        return requests
                .dump("RDMA_NLDEV_CMD_PORT_GET", RdmaMessages.GET_PORTS, RdmaMessages.aboutDevice(deviceIndex))
                .stream()
                .flatMap(message -> RdmaMessages.port(message).stream())
                .toList();
    }

    /** The uverbs node of a device; empty when it has none or the kernel doesn't tell. */
    public Optional<RdmaCharacterDevice> characterDevice(int deviceIndex) throws NativeException {
        try {
            return requests
                    .ask(
                            "RDMA_NLDEV_CMD_GET_CHARDEV",
                            RdmaMessages.GET_CHARACTER_DEVICE,
                            RdmaMessages.aboutUverbsOf(deviceIndex))
                    .stream()
                    .flatMap(message -> RdmaMessages.characterDevice(message).stream())
                    .findFirst();
        } catch (NativeException e) {
            return switch (e.errno()) {
                // No such device or no ib_uverbs for it; the command is unknown to kernels before 5.1.
                case Errno.ENODEV, Errno.ENOENT, Errno.EINVAL, Errno.EOPNOTSUPP -> Optional.empty();
                default -> throw e;
            };
        }
    }

    public NetnsMode netnsMode() throws NativeException {
        List<NetlinkMessage> answer;
        try {
            answer = requests.ask("RDMA_NLDEV_CMD_SYS_GET", RdmaMessages.GET_SYSTEM, new byte[0]);
        } catch (NativeException e) {
            return RdmaMessages.netnsModeByRefusal(e.errno()).orElseThrow(() -> e);
        }
        return RdmaMessages.netnsMode(answer);
    }

    /** Counts of objects in use per device: keys as the kernel names them ("qp", "ctx", "mr", …). */
    public Map<String, Long> resources(int deviceIndex) throws NativeException {
        var counts = new TreeMap<String, Long>();
        requests.ask("RDMA_NLDEV_CMD_RES_GET", RdmaMessages.GET_RESOURCES, RdmaMessages.aboutDevice(deviceIndex))
                .forEach(message -> counts.putAll(RdmaMessages.resources(message)));
        return Map.copyOf(counts);
    }

    /** Those of the kernel too, which have no pid: each device has one of its own for port management. */
    public List<RdmaQueuePair> queuePairs(int deviceIndex) throws NativeException {
        return requests
                .dump("RDMA_NLDEV_CMD_RES_QP_GET", RdmaMessages.GET_QUEUE_PAIRS, RdmaMessages.aboutDevice(deviceIndex))
                .stream()
                .flatMap(message -> RdmaMessages.queuePairs(message).stream())
                .toList();
    }

    /**
     * Open verbs contexts with their owners; empty when the kernel does not tell (before 5.9), which {@link #resources}
     * does not mean: its count "ctx" is older.
     */
    public Optional<List<RdmaContext>> contexts(int deviceIndex) throws NativeException {
        try {
            return Optional.of(requests
                    .dump(
                            "RDMA_NLDEV_CMD_RES_CTX_GET",
                            RdmaMessages.GET_CONTEXTS,
                            RdmaMessages.aboutDevice(deviceIndex))
                    .stream()
                    .flatMap(message -> RdmaMessages.contexts(message).stream())
                    .toList());
        } catch (NativeException e) {
            return switch (e.errno()) {
                case Errno.EINVAL, Errno.EOPNOTSUPP -> Optional.empty();
                default -> throw e;
            };
        }
    }

    /**
     * Descriptor that becomes readable when devices appear, vanish or are renamed, where the kernel notifies (6.12 on);
     * on others nothing ever comes, which can't be told apart, so callers keep a slow re-scan. Empty when the group
     * could not be joined, or was not asked for.
     */
    public OptionalInt changeDescriptor() {
        return notifications.map(socket -> OptionalInt.of(socket.descriptor())).orElse(OptionalInt.empty());
    }

    /** Reads away what was notified: true when anything was; never blocks. */
    public boolean drainChanges() throws NativeException {
        if (notifications.isEmpty()) {
            return false;
        }
        boolean any = false;
        for (int i = 0; i < MAX_DATAGRAMS_PER_CALL; i++) {
            try {
                if (notifications.get().receive().isEmpty()) {
                    break;
                }
            } catch (NativeException e) {
                if (e.errno() != Errno.ENOBUFS) {
                    throw e;
                }
                // Dropped ones are changes too.
            }
            any = true;
        }
        return any;
    }

    @Override
    public void close() {
        notifications.ifPresent(NetlinkSocket::close);
        requests.close();
    }
}
