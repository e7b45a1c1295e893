package io.erdma.netlink;

import io.erdma.libc.Errno;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * NETLINK_RDMA's messages of its device client: bytes to records and back, no I/O. A message has no fixed header; which
 * request it answers is known by its sequence number alone, since the same answer comes under several types.
 */
final class RdmaMessages {
    private static final int DEVICE_CLIENT = 5 << 10;

    static final int GET_DEVICES = DEVICE_CLIENT | 1;
    static final int GET_PORTS = DEVICE_CLIENT | 5;
    static final int GET_SYSTEM = DEVICE_CLIENT | 6;
    static final int GET_RESOURCES = DEVICE_CLIENT | 9;
    static final int GET_QUEUE_PAIRS = DEVICE_CLIENT | 10;
    static final int GET_CHARACTER_DEVICE = DEVICE_CLIENT | 15;
    static final int GET_CONTEXTS = DEVICE_CLIENT | 22;

    /** Multicast group of device changes (kernel 6.12 on). */
    static final int GROUP_NOTIFY = 4;

    private static final int DEVICE_INDEX = 1;
    private static final int DEVICE_NAME = 2;
    private static final int PORT_INDEX = 3;
    private static final int FIRMWARE = 5;
    private static final int NODE_GUID = 6;
    private static final int PORT_STATE = 12;
    private static final int PORT_PHYSICAL_STATE = 13;
    private static final int NODE_TYPE = 14;
    private static final int RESOURCES = 15;
    private static final int RESOURCE = 16;
    private static final int RESOURCE_NAME = 17;
    private static final int RESOURCE_COUNT = 18;
    private static final int QUEUE_PAIRS = 19;
    private static final int QUEUE_PAIR = 20;
    private static final int QUEUE_PAIR_NUMBER = 21;
    private static final int QUEUE_PAIR_TYPE = 26;
    private static final int QUEUE_PAIR_STATE = 27;
    private static final int OWNER_PID = 28;
    private static final int OWNER_KERNEL_NAME = 29;
    private static final int NETDEV_INDEX = 50;
    private static final int NETDEV_NAME = 51;
    private static final int CONTEXT_NUMBER = 64;
    private static final int NETNS_MODE = 66;
    private static final int PROTOCOL = 67;
    private static final int CHARACTER_DEVICE_TYPE = 69;
    private static final int CHARACTER_DEVICE_NAME = 70;
    private static final int CHARACTER_DEVICE_ABI = 71;
    private static final int CHARACTER_DEVICE = 72;
    private static final int DRIVER_ID = 73;
    private static final int CONTEXTS = 86;
    private static final int CONTEXT = 87;

    private RdmaMessages() {}

    static byte[] aboutDevice(int deviceIndex) {
        return new Attributes.Writer().number(DEVICE_INDEX, deviceIndex).toBytes();
    }

    static byte[] aboutUverbsOf(int deviceIndex) {
        return new Attributes.Writer()
                .number(DEVICE_INDEX, deviceIndex)
                .text(CHARACTER_DEVICE_TYPE, "uverbs")
                .toBytes();
    }

    static Optional<RdmaLink> device(NetlinkMessage message) {
        Attributes attributes = message.attributes(0);
        OptionalInt index = attributes.number(DEVICE_INDEX);
        Optional<String> name = attributes.text(DEVICE_NAME).filter(text -> !text.isEmpty());
        if (index.isEmpty() || name.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new RdmaLink(
                index.getAsInt(),
                name.get(),
                // Of a device, the attribute that otherwise is a port's number gives the highest one.
                attributes.number(PORT_INDEX).orElse(0),
                // Unlike in sysfs and in verbs, the kernel sends it in host order.
                new NodeGuid(attributes.longNumber(NODE_GUID).orElse(0)),
                NodeType.of(attributes.unsignedByte(NODE_TYPE).orElse(NodeType.UNKNOWN.number())),
                attributes.text(FIRMWARE).orElse(""),
                attributes.text(PROTOCOL).orElse("")));
    }

    static Optional<RdmaPort> port(NetlinkMessage message) {
        Attributes attributes = message.attributes(0);
        OptionalInt device = attributes.number(DEVICE_INDEX);
        OptionalInt port = attributes.number(PORT_INDEX);
        if (device.isEmpty() || port.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new RdmaPort(
                device.getAsInt(),
                port.getAsInt(),
                PortState.of(attributes.unsignedByte(PORT_STATE).orElse(-1)),
                attributes.unsignedByte(PORT_PHYSICAL_STATE).orElse(0),
                attributes.number(NETDEV_INDEX),
                attributes.text(NETDEV_NAME).filter(name -> !name.isEmpty())));
    }

    static Optional<RdmaCharacterDevice> characterDevice(NetlinkMessage message) {
        Attributes attributes = message.attributes(0);
        Optional<String> name = attributes.text(CHARACTER_DEVICE_NAME).filter(text -> !text.isEmpty());
        OptionalLong device = attributes.longNumber(CHARACTER_DEVICE);
        if (name.isEmpty() || device.isEmpty()) {
            return Optional.empty();
        }
        // The kernel's encoding of device numbers: the low eight bits of the minor number, the major number above
        // them, the rest of the minor number above that.
        long encoded = device.getAsLong();
        int major = (int) ((encoded >>> 8) & 0xfff);
        int minor = (int) ((encoded & 0xff) | ((encoded >>> 12) & 0xfff00));
        return Optional.of(
                new RdmaCharacterDevice(name.get(), attributes.number(DRIVER_ID).orElse(-1), major, minor, (int)
                        attributes.longNumber(CHARACTER_DEVICE_ABI).orElse(0)));
    }

    /** A kernel that is older than the mode doesn't send it: then every namespace sees every device. */
    static NetnsMode netnsMode(List<NetlinkMessage> answer) {
        return answer.stream()
                .flatMapToInt(message -> message.attributes(0).unsignedByte(NETNS_MODE).stream())
                .mapToObj(mode -> mode == 0 ? NetnsMode.EXCLUSIVE : NetnsMode.SHARED)
                .findFirst()
                .orElse(NetnsMode.SHARED);
    }

    /** What a refusal to tell the mode says about it: a kernel that doesn't know the command has no other mode. */
    static Optional<NetnsMode> netnsModeByRefusal(int errno) {
        return switch (errno) {
            case Errno.EINVAL, Errno.EOPNOTSUPP -> Optional.of(NetnsMode.SHARED);
            default -> Optional.empty();
        };
    }

    static Map<String, Long> resources(NetlinkMessage message) {
        var counts = new TreeMap<String, Long>();
        message.attributes(0).nested(RESOURCES).ifPresent(table -> {
            for (Attributes entry : table.everyNested(RESOURCE)) {
                OptionalLong count = entry.longNumber(RESOURCE_COUNT);
                if (count.isPresent()) {
                    entry.text(RESOURCE_NAME).ifPresent(name -> counts.put(name, count.getAsLong()));
                }
            }
        });
        return counts;
    }

    static List<RdmaQueuePair> queuePairs(NetlinkMessage message) {
        Attributes attributes = message.attributes(0);
        OptionalInt device = attributes.number(DEVICE_INDEX);
        var pairs = new ArrayList<RdmaQueuePair>();
        for (Attributes table : attributes.everyNested(QUEUE_PAIRS)) {
            for (Attributes entry : table.everyNested(QUEUE_PAIR)) {
                OptionalInt number = entry.number(QUEUE_PAIR_NUMBER);
                if (device.isEmpty() || number.isEmpty()) {
                    continue;
                }
                OptionalInt pid = entry.number(OWNER_PID);
                pairs.add(new RdmaQueuePair(
                        device.getAsInt(),
                        entry.number(PORT_INDEX).orElse(0),
                        Integer.toUnsignedLong(number.getAsInt()),
                        entry.unsignedByte(QUEUE_PAIR_TYPE).orElse(-1),
                        entry.unsignedByte(QUEUE_PAIR_STATE).orElse(-1),
                        pid.isEmpty() ? OptionalLong.empty() : OptionalLong.of(pid.getAsInt()),
                        entry.text(OWNER_KERNEL_NAME)));
            }
        }
        return pairs;
    }

    static List<RdmaContext> contexts(NetlinkMessage message) {
        Attributes attributes = message.attributes(0);
        OptionalInt device = attributes.number(DEVICE_INDEX);
        var contexts = new ArrayList<RdmaContext>();
        for (Attributes table : attributes.everyNested(CONTEXTS)) {
            for (Attributes entry : table.everyNested(CONTEXT)) {
                OptionalInt number = entry.number(CONTEXT_NUMBER);
                if (device.isEmpty() || number.isEmpty()) {
                    continue;
                }
                OptionalInt pid = entry.number(OWNER_PID);
                contexts.add(new RdmaContext(
                        device.getAsInt(),
                        Integer.toUnsignedLong(number.getAsInt()),
                        pid.isEmpty() ? OptionalLong.empty() : OptionalLong.of(pid.getAsInt())));
            }
        }
        return contexts;
    }
}
