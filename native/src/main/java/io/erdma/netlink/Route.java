package io.erdma.netlink;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A route as RTM_NEWROUTE describes it. Within a table the kernel tells IPv4 routes apart by destination, tos and
 * metric; the interface is no part of that.
 *
 * @param destination a network; length 0 is the default route
 * @param tos 0: for packets of every kind
 * @param metric 0 to 2³²−1; of several routes to one destination the lowest wins
 * @param table RT_TABLE_ number
 * @param type RTN_ number: 1 unicast; others (blackhole, unreachable …) lead nowhere
 * @param protocol RTPROT_ number: who made it
 * @param scope RT_SCOPE_ number
 * @param source the preferred source address of packets that leave by it
 * @param hops where it leads; several share the traffic, none for a type that leads nowhere
 * @param nextHopId of the nexthop object that the hops come from; 0: they are the route's own
 */
public record Route(
        IpPrefix destination,
        int tos,
        long metric,
        int table,
        int type,
        int protocol,
        int scope,
        Optional<InetAddress> source,
        List<Hop> hops,
        int nextHopId) {
    public static final int TABLE_MAIN = 254;
    public static final int TYPE_UNICAST = 1;

    public static final int SCOPE_UNIVERSE = 0;
    public static final int SCOPE_LINK = 253;

    /** Made by the kernel, for an address of the interface. */
    public static final int PROTOCOL_KERNEL = 2;

    /** Made by who did not say: {@code ip route add} by hand, or a program without a number of its own. */
    public static final int PROTOCOL_BOOT = 3;

    public static final int PROTOCOL_STATIC = 4;
    /** Made by the kernel, from a router advertisement. */
    public static final int PROTOCOL_RA = 9;

    public static final int PROTOCOL_DHCP = 16;

    public static final long MAX_METRIC = 0xffff_ffffL;

    /**
     * One way that a route leads.
     *
     * @param link index of the interface
     * @param gateway absent: the destination is on the link itself
     */
    public record Hop(int link, Optional<InetAddress> gateway) {
        public Hop {
            requireNonNull(gateway, "gateway is null");
        }
    }

    public Route {
        requireNonNull(destination, "destination is null");
        requireNonNull(source, "source is null");
        hops = List.copyOf(hops);
        if (metric < 0 || metric > MAX_METRIC) {
            throw new IllegalArgumentException("a metric has 32 bits: " + metric);
        }
    }

    /** A unicast route of the main table to the hosts on a link. */
    public static Route onLink(IpPrefix destination, int link, InetAddress source, int protocol, long metric) {
        return new Route(
                destination,
                0,
                metric,
                TABLE_MAIN,
                TYPE_UNICAST,
                protocol,
                SCOPE_LINK,
                Optional.of(source),
                List.of(new Hop(link, Optional.empty())),
                0);
    }

    /** A unicast route of the main table through a gateway, which must be reachable on the link already. */
    public static Route via(
            InetAddress gateway, IpPrefix destination, int link, InetAddress source, int protocol, long metric) {
        return new Route(
                destination,
                0,
                metric,
                TABLE_MAIN,
                TYPE_UNICAST,
                protocol,
                SCOPE_UNIVERSE,
                Optional.of(source),
                List.of(new Hop(link, Optional.of(gateway))),
                0);
    }

    /** The interface that all of its traffic leaves by; absent for a route that has no way or several. */
    public OptionalInt link() {
        return hops.size() == 1 ? OptionalInt.of(hops.getFirst().link()) : OptionalInt.empty();
    }

    /** The gateway of its only hop. */
    public Optional<InetAddress> gateway() {
        return hops.size() == 1 ? hops.getFirst().gateway() : Optional.empty();
    }

    public boolean leadsTo(int link) {
        return hops.stream().anyMatch(hop -> hop.link() == link);
    }

    public boolean isDefault() {
        return destination.length() == 0;
    }

    public boolean isUnicast() {
        return type == TYPE_UNICAST;
    }
}
