package io.erdma.netlink;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.OptionalInt;

/** NETLINK_ROUTE's messages about links: bytes to records and back, no I/O. */
final class RtMessages {
    static final int NEW_LINK = 16;
    static final int DELETE_LINK = 17;
    static final int GET_LINK = 18;

    /** Multicast group of link notifications. */
    static final int GROUP_LINK = 1;

    private static final int LINK_HEADER = 16;
    private static final int LINK_INDEX = 4;
    private static final int LINK_FLAGS = 8;

    private static final int ADDRESS = 1;
    private static final int NAME = 3;
    private static final int MTU = 4;
    private static final int OPER_STATE = 16;
    private static final int LINK_INFO = 18;
    private static final int LINK_INFO_KIND = 1;
    private static final int EXTENSION_MASK = 29;
    private static final int CARRIER = 33;
    private static final int PERMANENT_ADDRESS = 54;
    private static final int PARENT_DEVICE_NAME = 56;

    private static final int EXTENSION_SKIP_STATISTICS = 8;

    private RtMessages() {}

    /** What follows the header of a GET_LINK dump request: all links, without their statistics. */
    static byte[] allLinks() {
        byte[] mask = new Attributes.Writer()
                .number(EXTENSION_MASK, EXTENSION_SKIP_STATISTICS)
                .toBytes();
        return ByteBuffer.allocate(LINK_HEADER + mask.length)
                .order(ByteOrder.nativeOrder())
                .position(LINK_HEADER)
                .put(mask)
                .array();
    }

    /** The link that a NEW_LINK describes; empty for any other message. */
    static Optional<Link> link(NetlinkMessage message) {
        if (message.type() != NEW_LINK || !aboutTheLinkItself(message)) {
            return Optional.empty();
        }
        Attributes attributes = message.attributes(LINK_HEADER);
        Optional<String> name = attributes.text(NAME).filter(text -> !text.isEmpty());
        int index = message.payload().getInt(LINK_INDEX);
        if (name.isEmpty() || index <= 0) {
            return Optional.empty();
        }
        OptionalInt carrier = attributes.unsignedByte(CARRIER);
        return Optional.of(new Link(
                index,
                name.get(),
                message.payload().getInt(LINK_FLAGS),
                mtu(attributes.number(MTU).orElse(0)),
                attributes.unsignedByte(OPER_STATE).orElse(0),
                carrier.isEmpty() ? Optional.empty() : Optional.of(carrier.getAsInt() != 0),
                attributes.bytes(ADDRESS).flatMap(MacAddress::of),
                attributes.bytes(PERMANENT_ADDRESS).flatMap(MacAddress::of),
                attributes
                        .nested(LINK_INFO)
                        .flatMap(info -> info.text(LINK_INFO_KIND))
                        .filter(kind -> !kind.isEmpty()),
                attributes.text(PARENT_DEVICE_NAME).filter(parent -> !parent.isEmpty())));
    }

    /** What a notification says; empty when it is about something else. */
    static Optional<LinkChange> change(NetlinkMessage message) {
        return switch (message.type()) {
            case NetlinkMessage.OVERRUN -> Optional.of(new LinkChange.Lost());
            case NEW_LINK -> link(message).map(LinkChange.Changed::new);
            case DELETE_LINK ->
                aboutTheLinkItself(message)
                        ? Optional.of(new LinkChange.Removed(
                                message.payload().getInt(LINK_INDEX),
                                message.attributes(LINK_HEADER).text(NAME).orElse("")))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    // A bridge tells of its ports by the same types with its own family: there, DELETE_LINK means that an interface
    // left the bridge, not that it is gone.
    private static boolean aboutTheLinkItself(NetlinkMessage message) {
        return message.payload().limit() >= LINK_HEADER && message.payload().get(0) == 0;
    }

    private static int mtu(int unsigned) {
        return unsigned < 0 ? Integer.MAX_VALUE : unsigned;
    }
}
