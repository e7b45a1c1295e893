package io.erdma.node.net;

import io.erdma.netlink.Route;
import java.util.function.IntFunction;

/** Routes and their makers in words. */
final class RouteText {
    private RouteText() {}

    /** As {@code ip route} prints it. */
    static String of(Route route, IntFunction<String> linkName) {
        StringBuilder out = new StringBuilder(80);
        out.append(route.isDefault() ? "default" : route.destination().toString());
        if (route.tos() != 0) {
            out.append(" tos 0x").append(Integer.toHexString(route.tos()));
        }
        for (Route.Hop hop : route.hops()) {
            out.append(route.hops().size() > 1 ? " nexthop" : "");
            hop.gateway().ifPresent(gateway -> out.append(" via ").append(gateway.getHostAddress()));
            out.append(" dev ").append(linkName.apply(hop.link()));
        }
        out.append(" proto ").append(protocol(route.protocol()));
        if (route.scope() == Route.SCOPE_LINK) {
            out.append(" scope link");
        }
        route.source().ifPresent(source -> out.append(" src ").append(source.getHostAddress()));
        return out.append(" metric ").append(route.metric()).toString();
    }

    /** Names of RTPROT_ numbers, as /etc/iproute2/rt_protos has them. */
    static String protocol(int number) {
        return switch (number) {
            case Route.PROTOCOL_KERNEL -> "kernel";
            case Route.PROTOCOL_BOOT -> "boot";
            case Route.PROTOCOL_STATIC -> "static";
            case Route.PROTOCOL_RA -> "ra";
            case 11 -> "zebra";
            case 12 -> "bird";
            case 15 -> "ntk";
            case Route.PROTOCOL_DHCP -> "dhcp";
            case 18 -> "keepalived";
            case 186 -> "bgp";
            case 187 -> "isis";
            case 188 -> "ospf";
            default -> Integer.toString(number);
        };
    }

    /** Who most likely made a route, by its protocol. */
    static String maker(int protocol) {
        return switch (protocol) {
            case Route.PROTOCOL_KERNEL -> "the kernel, for an address that somebody added";
            case Route.PROTOCOL_BOOT -> "ip by hand, or a program that does not say";
            case Route.PROTOCOL_STATIC -> "a network manager's static configuration";
            case Route.PROTOCOL_RA -> "the kernel, from a router advertisement";
            case Route.PROTOCOL_DHCP -> "a DHCP client";
            case InterfacePlan.PROTOCOL -> "the eRDMA agent";
            default -> "the program with route protocol " + protocol(protocol);
        };
    }
}
