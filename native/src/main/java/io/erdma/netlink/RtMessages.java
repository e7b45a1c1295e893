package io.erdma.netlink;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** NETLINK_ROUTE's messages about links, addresses and routes: bytes to records and back, no I/O. */
final class RtMessages {
    static final int NEW_LINK = 16;
    static final int DELETE_LINK = 17;
    static final int GET_LINK = 18;
    static final int SET_LINK = NEW_LINK;
    static final int NEW_ADDRESS = 20;
    static final int DELETE_ADDRESS = 21;
    static final int GET_ADDRESS = 22;
    static final int NEW_ROUTE = 24;
    static final int DELETE_ROUTE = 25;
    static final int GET_ROUTE = 26;

    /** Multicast groups of notifications. */
    static final int GROUP_LINK = 1;

    static final int GROUP_IPV4_ADDRESS = 5;
    static final int GROUP_IPV4_ROUTE = 7;
    static final int GROUP_IPV6_ADDRESS = 9;
    static final int GROUP_IPV6_ROUTE = 11;

    private static final int LINK_HEADER = 16;
    private static final int LINK_INDEX = 4;
    private static final int LINK_FLAGS = 8;
    private static final int LINK_CHANGE = 12;

    private static final int ADDRESS = 1;
    private static final int NAME = 3;
    private static final int MTU = 4;
    private static final int MASTER = 10;
    private static final int OPER_STATE = 16;
    private static final int LINK_INFO = 18;
    private static final int LINK_INFO_KIND = 1;
    private static final int EXTENSION_MASK = 29;
    private static final int CARRIER = 33;
    private static final int PERMANENT_ADDRESS = 54;
    private static final int PARENT_DEVICE_NAME = 56;

    private static final int EXTENSION_SKIP_STATISTICS = 8;

    private static final int FAMILY_IPV4 = 2;
    private static final int FAMILY_IPV6 = 10;

    private static final int ADDRESS_HEADER = 8;
    private static final int IFA_ADDRESS = 1;
    private static final int IFA_LOCAL = 2;
    private static final int IFA_FLAGS = 8;

    private static final int ROUTE_HEADER = 12;
    private static final int ROUTE_FLAGS = 8;
    private static final int RTA_DESTINATION = 1;
    private static final int RTA_LINK = 4;
    private static final int RTA_GATEWAY = 5;
    private static final int RTA_METRIC = 6;
    private static final int RTA_SOURCE = 7;
    private static final int RTA_MULTIPATH = 9;
    private static final int RTA_TABLE = 15;
    private static final int RTA_VIA = 18;
    private static final int RTA_NEXT_HOP_ID = 30;

    /** A cached copy of another route, not one of the table's own. */
    private static final int ROUTE_CLONED = 0x200;
    /** In a request to delete: a route of any scope. */
    private static final int SCOPE_NOWHERE = 255;

    private static final int NEXT_HOP_HEADER = 8;

    private RtMessages() {}

    /** What follows the header of a GET_LINK dump request: all links, without their statistics. */
    static byte[] allLinks() {
        byte[] mask = new Attributes.Writer()
                .number(EXTENSION_MASK, EXTENSION_SKIP_STATISTICS)
                .toBytes();
        return body(new byte[LINK_HEADER], mask);
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
        int master = attributes.number(MASTER).orElse(0);
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
                attributes.text(PARENT_DEVICE_NAME).filter(parent -> !parent.isEmpty()),
                master > 0 ? OptionalInt.of(master) : OptionalInt.empty()));
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

    /** What follows the header of a SET_LINK that changes the MTU. */
    static byte[] mtu(int index, int bytes) {
        return body(link(index, 0), new Attributes.Writer().number(MTU, bytes).toBytes());
    }

    /** What follows the header of a SET_LINK that sets a link up. */
    static byte[] up(int index) {
        return link(index, Link.IFF_UP);
    }

    private static byte[] link(int index, int flagsToSet) {
        return ByteBuffer.allocate(LINK_HEADER)
                .order(ByteOrder.nativeOrder())
                .putInt(LINK_INDEX, index)
                .putInt(LINK_FLAGS, flagsToSet)
                .putInt(LINK_CHANGE, flagsToSet)
                .array();
    }

    /** What follows the header of a GET_ADDRESS dump request: those of all families. */
    static byte[] allAddresses() {
        return new byte[ADDRESS_HEADER];
    }

    /** The address that a NEW_ADDRESS describes; empty for any other message. */
    static Optional<InterfaceAddress> address(NetlinkMessage message) {
        if (message.type() != NEW_ADDRESS || message.payload().limit() < ADDRESS_HEADER) {
            return Optional.empty();
        }
        ByteBuffer header = message.payload();
        Attributes attributes = message.attributes(ADDRESS_HEADER);
        int link = header.getInt(4);
        // On a point-to-point link ADDRESS is the other side's; IPv6 gives LOCAL only there.
        Optional<IpPrefix> address = attributes
                .bytes(IFA_LOCAL)
                .or(() -> attributes.bytes(IFA_ADDRESS))
                .flatMap(bytes -> ip(header.get(0), bytes))
                .flatMap(ip -> prefix(ip, Byte.toUnsignedInt(header.get(1))));
        if (address.isEmpty() || link <= 0) {
            return Optional.empty();
        }
        int flags = attributes.number(IFA_FLAGS).orElse(Byte.toUnsignedInt(header.get(2)));
        return Optional.of(new InterfaceAddress(link, address.get(), flags, Byte.toUnsignedInt(header.get(3))));
    }

    /**
     * What follows the header of a NEW_ADDRESS or DELETE_ADDRESS.
     *
     * @param address of global scope
     */
    static byte[] address(InterfaceAddress address) {
        byte[] ip = address.address().address().getAddress();
        byte[] header = ByteBuffer.allocate(ADDRESS_HEADER)
                .order(ByteOrder.nativeOrder())
                .put(family(ip))
                .put((byte) address.address().length())
                .put((byte) 0)
                .put((byte) address.scope())
                .putInt(address.link())
                .array();
        // The flags that matter don't fit into the header's byte.
        return body(
                header,
                new Attributes.Writer()
                        .add(IFA_LOCAL, ip)
                        .add(IFA_ADDRESS, ip)
                        .number(IFA_FLAGS, address.flags())
                        .toBytes());
    }

    /** What follows the header of a GET_ROUTE dump request: those of all families and tables. */
    static byte[] allRoutes() {
        return new byte[ROUTE_HEADER];
    }

    /** What follows the header of a GET_ROUTE that asks how packets to an address leave. */
    static byte[] routeTo(InetAddress destination) {
        byte[] ip = destination.getAddress();
        byte[] header = new byte[ROUTE_HEADER];
        header[0] = family(ip);
        header[1] = (byte) (ip.length * Byte.SIZE);
        return body(header, new Attributes.Writer().add(RTA_DESTINATION, ip).toBytes());
    }

    private static int table(NetlinkMessage message, Attributes attributes) {
        // The header's byte holds 252 for tables that don't fit into it.
        return attributes
                .number(RTA_TABLE)
                .orElse(Byte.toUnsignedInt(message.payload().get(4)));
    }

    /** The IPv4 or IPv6 route that a NEW_ROUTE describes; empty for any other message. */
    static Optional<Route> route(NetlinkMessage message) {
        return message.type() == NEW_ROUTE ? route(message, _ -> true) : Optional.empty();
    }

    /** The same where it is an entry of the main table, of whatever type. */
    static Optional<Route> routeOfMainTable(NetlinkMessage message) {
        return message.type() == NEW_ROUTE ? entryOfMainTable(message) : Optional.empty();
    }

    /**
     * Whether a notification is about anything but routes that nobody wants to hear of.
     *
     * @param wanted of the main table's routes, which may have come or gone
     */
    static boolean mayMatter(NetlinkMessage message, Predicate<Route> wanted) {
        return (message.type() != NEW_ROUTE && message.type() != DELETE_ROUTE)
                || entryOfMainTable(message).filter(wanted).isPresent();
    }

    private static Optional<Route> entryOfMainTable(NetlinkMessage message) {
        return route(message, table -> table == Route.TABLE_MAIN)
                .filter(_ -> (message.payload().getInt(ROUTE_FLAGS) & ROUTE_CLONED) == 0);
    }

    private static Optional<Route> route(NetlinkMessage message, IntPredicate wantedTable) {
        if (message.payload().limit() < ROUTE_HEADER) {
            return Optional.empty();
        }
        ByteBuffer header = message.payload();
        int family = header.get(0);
        if (family != FAMILY_IPV4 && family != FAMILY_IPV6) {
            return Optional.empty();
        }
        Attributes attributes = message.attributes(ROUTE_HEADER);
        int table = table(message, attributes);
        if (!wantedTable.test(table)) {
            return Optional.empty();
        }
        Optional<IpPrefix> destination = ip(
                        family,
                        attributes.bytes(RTA_DESTINATION).orElseGet(() -> new byte[family == FAMILY_IPV4 ? 4 : 16]))
                .flatMap(ip -> prefix(ip, Byte.toUnsignedInt(header.get(1))));
        return destination.map(prefix -> new Route(
                prefix,
                Byte.toUnsignedInt(header.get(3)),
                Integer.toUnsignedLong(attributes.number(RTA_METRIC).orElse(0)),
                table,
                Byte.toUnsignedInt(header.get(7)),
                Byte.toUnsignedInt(header.get(5)),
                Byte.toUnsignedInt(header.get(6)),
                attributes.bytes(RTA_SOURCE).flatMap(bytes -> ip(family, bytes)),
                hops(family, attributes),
                attributes.number(RTA_NEXT_HOP_ID).orElse(0)));
    }

    private static List<Route.Hop> hops(int family, Attributes attributes) {
        Optional<byte[]> multipath = attributes.bytes(RTA_MULTIPATH);
        if (multipath.isPresent()) {
            return multipath(family, ByteBuffer.wrap(multipath.get()).order(ByteOrder.nativeOrder()));
        }
        int link = attributes.number(RTA_LINK).orElse(0);
        return link > 0 ? List.of(new Route.Hop(link, gateway(family, attributes))) : List.of();
    }

    /** @param bytes {@code struct rtnexthop}, each followed by attributes: length u16, flags u8, weight u8, index i32 */
    private static List<Route.Hop> multipath(int family, ByteBuffer bytes) {
        var hops = new ArrayList<Route.Hop>();
        int at = 0;
        while (bytes.limit() - at >= NEXT_HOP_HEADER) {
            int length = Short.toUnsignedInt(bytes.getShort(at));
            if (length < NEXT_HOP_HEADER || length > bytes.limit() - at) {
                break;
            }
            Attributes attributes = Attributes.read(bytes.slice(at + NEXT_HOP_HEADER, length - NEXT_HOP_HEADER));
            hops.add(new Route.Hop(bytes.getInt(at + 4), gateway(family, attributes)));
            at += NetlinkMessage.align(length);
        }
        return hops;
    }

    private static Optional<InetAddress> gateway(int family, Attributes attributes) {
        // VIA has the gateway's family in front: it is IPv6 where an IPv4 route leads through such a one.
        return attributes
                .bytes(RTA_GATEWAY)
                .flatMap(bytes -> ip(family, bytes))
                .or(() -> attributes
                        .bytes(RTA_VIA)
                        .filter(via -> via.length > Short.BYTES)
                        .flatMap(via -> ip(
                                ByteBuffer.wrap(via)
                                        .order(ByteOrder.nativeOrder())
                                        .getShort(),
                                Arrays.copyOfRange(via, Short.BYTES, via.length))));
    }

    /**
     * What follows the header of a NEW_ROUTE.
     *
     * @param route with exactly one hop
     */
    static byte[] newRoute(Route route) {
        Attributes.Writer attributes = identity(route);
        route.gateway().ifPresent(gateway -> attributes.add(RTA_GATEWAY, gateway.getAddress()));
        route.source().ifPresent(source -> attributes.add(RTA_SOURCE, source.getAddress()));
        return body(routeHeader(route, route.scope(), route.type()), attributes.toBytes());
    }

    /**
     * What follows the header of a DELETE_ROUTE for exactly this route. The kernel deletes the first one that fits what
     * it is told, so it is told the interface, the metric and who made it; the scope is left open.
     *
     * @param route with exactly one hop
     */
    static byte[] deleteRoute(Route route) {
        Attributes.Writer attributes = identity(route);
        route.gateway().ifPresent(gateway -> attributes.add(RTA_GATEWAY, gateway.getAddress()));
        return body(routeHeader(route, SCOPE_NOWHERE, 0), attributes.toBytes());
    }

    private static byte[] routeHeader(Route route, int scope, int type) {
        return new byte[] {
            family(route.destination().address().getAddress()),
            (byte) route.destination().length(),
            0,
            (byte) route.tos(),
            (byte) route.table(),
            (byte) route.protocol(),
            (byte) scope,
            (byte) type,
            0,
            0,
            0,
            0
        };
    }

    private static Attributes.Writer identity(Route route) {
        if (route.link().isEmpty() || route.nextHopId() != 0 || route.table() > 255) {
            throw new IllegalArgumentException("not a route with one hop of its own: " + route);
        }
        var attributes = new Attributes.Writer();
        if (!route.isDefault()) {
            attributes.add(RTA_DESTINATION, route.destination().address().getAddress());
        }
        return attributes.number(RTA_LINK, route.link().getAsInt()).number(RTA_METRIC, (int) route.metric());
    }

    private static byte family(byte[] ip) {
        return (byte) (ip.length == 4 ? FAMILY_IPV4 : FAMILY_IPV6);
    }

    private static Optional<InetAddress> ip(int family, byte[] bytes) {
        int length = family == FAMILY_IPV4 ? 4 : family == FAMILY_IPV6 ? 16 : 0;
        return length > 0 && bytes.length == length ? Optional.of(IpPrefix.of(bytes)) : Optional.empty();
    }

    private static Optional<IpPrefix> prefix(InetAddress ip, int length) {
        return length <= ip.getAddress().length * Byte.SIZE ? Optional.of(new IpPrefix(ip, length)) : Optional.empty();
    }

    private static byte[] body(byte[] header, byte[] attributes) {
        byte[] body = Arrays.copyOf(header, header.length + attributes.length);
        System.arraycopy(attributes, 0, body, header.length, attributes.length);
        return body;
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
