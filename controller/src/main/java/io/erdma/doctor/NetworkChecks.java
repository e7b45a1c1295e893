package io.erdma.doctor;

import static java.util.Comparator.comparingLong;

import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Devices;
import io.erdma.doctor.Facts.Network;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import io.erdma.node.kube.TerwayWhitelist;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The interfaces that the devices are bound to, and what the network layer makes of them. */
final class NetworkChecks {
    /** Frame headers that a driver may take off before it rounds: RoCE's take up to 78 bytes. */
    private static final int HEADERS = 128;

    private static final int LOWEST_IB_MTU = 256;
    private static final int HIGHEST_IB_MTU = 4096;

    /** The mark of the agent's routes. */
    private static final int AGENT = 217;

    private static final String TERWAY =
            "if Terway is the network plugin, it has taken the interface for a pod: put the ERI on"
                    + " Terway's whitelist (its filter for ENIs) and restart its pod on this node";

    private NetworkChecks() {}

    static List<Finding> netdev(Facts facts) {
        return DeviceChecks.each(facts, device -> {
            if (device.link().isPresent()) {
                return Finding.pass(device.link().get().name()
                        + device.mac()
                                .map(mac -> ", hardware address " + mac)
                                .or(() -> device.link().get().address().map(mac -> ", hardware address " + mac))
                                .orElse(""));
            }
            return switch (facts.network()) {
                case Fact.Unknown<Network>(String why) ->
                    Finding.notSeen("the links can't be read: " + why, "run where netlink sockets are allowed");
                case Fact.Known<Network>(Network network) -> missing(device, network);
            };
        });
    }

    private static Finding missing(Device device, Network network) {
        String names = network.links().stream().map(Link::name).collect(Collectors.joining(", "));
        Optional<MacAddress> mac = device.mac();
        return mac.isPresent()
                ? Finding.fail(
                                "none with hardware address " + mac.get() + " in this network namespace",
                                TERWAY + "; otherwise attach the ERI again")
                        .because(
                                "the GUID " + device.found().device().nodeGuid() + " is made of that address",
                                "interfaces here: " + names)
                : Finding.fail(
                                "none is bound to it in this network namespace",
                                "run this in the host's network namespace; there, see the kernel log")
                        .because("interfaces here: " + names);
    }

    static List<Finding> mtu(Facts facts) {
        return DeviceChecks.each(facts, device -> {
            if (device.activeMtu().isEmpty()) {
                return device.link().isPresent()
                        ? Finding.pass(device.link().get().name() + " has "
                                + device.link().get().mtu() + " bytes, of which packets of "
                                + rounded(device.link().get().mtu()) + " bytes fit")
                        : Finding.notSeenAndNotNeeded("neither libibverbs nor an interface tells it");
            }
            int active = device.activeMtu().getAsInt();
            if (device.link().isEmpty()) {
                return Finding.pass(active + " bytes");
            }
            Link link = device.link().get();
            String both = active + " bytes on " + link.name() + " with " + link.mtu();
            if (active < rounded(link.mtu() - HEADERS)) {
                return Finding.warn(
                        both + ", which has room for " + rounded(link.mtu() - HEADERS),
                        "set the interface down and up again, so that the driver reads its MTU anew");
            }
            if (link.mtu() < rounded(active)) {
                return Finding.warn(
                        both + ": the packets do not fit", "ip link set " + link.name() + " mtu 1500, or more");
            }
            return Finding.pass(
                    active < HIGHEST_IB_MTU && active >= 1024
                            ? both + "; jumbo frames (8500) would carry 4096, if the instance and all peers have them"
                            : both);
        });
    }

    /** The largest RDMA payload of 256 to 4096 bytes, a power of two, within so many bytes. */
    private static int rounded(int bytes) {
        return Math.clamp(Integer.highestOneBit(Math.max(bytes, 1)), LOWEST_IB_MTU, HIGHEST_IB_MTU);
    }

    static List<Finding> address(Facts facts) {
        return DeviceChecks.each(facts, device -> switch (facts.network()) {
            case Fact.Unknown<Network>(String why) ->
                Finding.notSeen("the addresses can't be read: " + why, "run where netlink sockets are allowed");
            case Fact.Known<Network>(Network network) ->
                device.link()
                        .map(link -> judgeAddress(link, network))
                        .orElse(Finding.skipped("no interface in this network namespace"));
        });
    }

    private static Finding judgeAddress(Link link, Network network) {
        List<InterfaceAddress> own = network.addresses().stream()
                .filter(address -> address.link() == link.index() && address.isGlobal())
                .toList();
        if (own.isEmpty()) {
            return Finding.warn(
                    link.name() + " has none, so no peer reaches it",
                    "the agent gives the address that the controller or the instance's metadata tells; its log says what it"
                            + " waits for");
        }
        return Finding.pass(
                own.stream().map(address -> address.address().toString()).collect(Collectors.joining(", ")) + " on "
                        + link.name());
    }

    /** Of routes to one destination the lowest metric wins, and it must not be the eRDMA interface's. */
    static List<Finding> routes(Facts facts) {
        Set<Integer> erdma = facts.devices().content().map(Devices::selected).orElse(List.of()).stream()
                .flatMap(device -> device.link().stream())
                .map(Link::index)
                .collect(Collectors.toSet());
        return DeviceChecks.each(facts, device -> switch (facts.network()) {
            case Fact.Unknown<Network>(String why) ->
                Finding.notSeen("the routes can't be read: " + why, "run where netlink sockets are allowed");
            case Fact.Known<Network>(Network network) ->
                device.link()
                        .map(link -> judgeRoutes(link, erdma, network))
                        .orElse(Finding.skipped("no interface in this network namespace"));
        });
    }

    private static Finding judgeRoutes(Link link, Set<Integer> erdma, Network network) {
        List<Route> routes = network.routes().stream()
                .filter(Route::isUnicast)
                .filter(route -> route.destination().isIpv4())
                .toList();
        List<Route> own =
                routes.stream().filter(route -> route.leadsTo(link.index())).toList();
        if (own.isEmpty()) {
            boolean hasAddress = network.addresses().stream()
                    .anyMatch(address -> address.link() == link.index()
                            && address.isGlobal()
                            && address.address().isIpv4());
            return hasAddress
                    ? Finding.warn(
                            link.name() + " has an address and no route, so nothing leaves by it",
                            "the agent adds the routes of the interfaces that it manages; its log says why it did not")
                    : Finding.skipped(link.name() + " has neither IPv4 address nor route");
        }
        List<String> lost = new ArrayList<>();
        List<String> won = new ArrayList<>();
        for (Route route : own) {
            routes.stream()
                    .filter(other -> other.destination().equals(route.destination()) && other.tos() == route.tos())
                    .filter(other -> other.hops().stream().noneMatch(hop -> erdma.contains(hop.link())))
                    .min(comparingLong(Route::metric))
                    .ifPresent(other -> (other.metric() < route.metric() ? won : lost)
                            .add(describe(route.destination()) + ": metric " + route.metric() + " on " + link.name()
                                    + ", " + other.metric() + " on " + names(other, network) + "; made by "
                                    + maker(route)));
        }
        if (!lost.isEmpty()) {
            return Finding.fail(
                            link.name() + " takes the node's own traffic",
                            "give its routes a higher metric than the primary interface's (200 by default); the agent does so"
                                    + " for the interfaces that it manages, and leaves routes of others alone. Where "
                                    + link.name() + " is the node's primary interface, all is well.")
                    .because(lost);
        }
        return won.isEmpty()
                ? Finding.pass(own.size() + (own.size() == 1 ? " route" : " routes") + " by " + link.name()
                        + ", to where no other interface leads")
                : Finding.pass("the node's other interfaces win over " + link.name())
                        .because(won);
    }

    /** Without a whitelist Terway gives any interface that it finds to pods, and the eRDMA device loses its own. */
    static List<Finding> terway(Facts facts) {
        if (facts.wanted().node().isEmpty()) {
            return List.of(Finding.skipped("the cluster is asked only where --node names this machine"));
        }
        return List.of(
                switch (facts.terway()) {
                    case Fact.Unknown<TerwayWhitelist>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<TerwayWhitelist>(TerwayWhitelist.NoTerway _) ->
                        Finding.skipped("the cluster has no ConfigMap kube-system/eni-config, so no Terway");
                    case Fact.Known<TerwayWhitelist>(TerwayWhitelist.Takes takes) ->
                        Finding.pass("it takes only network interfaces with the tags " + takes.describe());
                    case Fact.Known<TerwayWhitelist>(TerwayWhitelist.TakesAll _) ->
                        Finding.warn(
                                "it has no whitelist, so it may take the eRDMA interface for pods",
                                "in the ConfigMap kube-system/eni-config add \"eni_tag_filter\": {\"creator\":"
                                        + " \"terway\"} to eni_conf, see that Terway's own interfaces have that tag, and"
                                        + " restart Terway; or tag the eRDMA interface"
                                        + " terway.alibabacloud.com/excluded=true, which newer versions leave alone");
                });
    }

    private static String describe(IpPrefix destination) {
        return destination.length() == 0 ? "default" : destination.toString();
    }

    /** Of rtnetlink's protocols; 217 is the agent's own. */
    private static String maker(Route route) {
        return switch (route.protocol()) {
            case Route.PROTOCOL_KERNEL -> "the kernel, for an address";
            case Route.PROTOCOL_BOOT -> "hand or script";
            case Route.PROTOCOL_STATIC -> "a network manager";
            case Route.PROTOCOL_RA -> "router advertisement";
            case Route.PROTOCOL_DHCP -> "DHCP";
            case AGENT -> "the eRDMA agent";
            default -> "protocol " + route.protocol();
        };
    }

    private static String names(Route route, Network network) {
        return route.hops().stream().map(hop -> network.nameOf(hop.link())).collect(Collectors.joining(", "));
    }
}
