package io.erdma.node.net;

import io.erdma.libc.NativeException;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A node of the model: eth0 at 10.9.0.2/24 with a gateway, and eRDMA cards eth1, eth2 … in the same vSwitch. */
final class TestNode {
    static final int ETH0 = 2;
    static final IpPrefix SUBNET = IpPrefix.parse("10.9.0.0/24");
    static final IpPrefix ANYWHERE = IpPrefix.parse("0.0.0.0/0");
    static final InetAddress GATEWAY = IpPrefix.address("10.9.0.253");
    static final MacAddress PRIMARY_MAC = mac(0);

    final ModelKernel kernel = new ModelKernel();
    final List<WantedInterface> wanted = new ArrayList<>();

    /** @param cards how many eRDMA cards, down and without address, and wanted */
    TestNode(int cards) {
        kernel.addLink(1, "lo", new MacAddress(0), true);
        kernel.addLink(ETH0, "eth0", PRIMARY_MAC, true);
        address(ETH0, "10.9.0.2/24", 0);
        for (int card = 1; card <= cards; card++) {
            kernel.addLink(link(card), "eth" + card, mac(card), false);
            wanted.add(wanted(card));
        }
    }

    static MacAddress mac(int card) {
        return new MacAddress(0x0016_3e00_0000L + card);
    }

    static int link(int card) {
        return ETH0 + card;
    }

    static IpPrefix addressOf(int card) {
        return IpPrefix.parse("10.9.0." + (2 + card) + "/24");
    }

    static WantedInterface wanted(int card) {
        return new WantedInterface(
                mac(card),
                OptionalInt.of(card),
                Optional.of(addressOf(card)),
                Optional.of(GATEWAY),
                OptionalInt.of(8500));
    }

    /** With the route that the primary interface has by DHCP. */
    TestNode withDefault(long metric) {
        add(Route.via(GATEWAY, ANYWHERE, ETH0, IpPrefix.address("10.9.0.2"), Route.PROTOCOL_DHCP, metric));
        return this;
    }

    WantedInterfaces wanted() {
        return new WantedInterfaces(Optional.empty(), wanted);
    }

    Plan plan() {
        return plan(200);
    }

    Plan plan(long routeMetric) {
        return InterfacePlan.between(kernel.state(), wanted(), routeMetric);
    }

    Plan settle() {
        Plan plan = plan();
        make(plan.changes());
        return plan;
    }

    void make(Collection<? extends NetChange> changes) {
        for (NetChange change : changes) {
            try {
                kernel.make(change);
            } catch (NativeException e) {
                throw new AssertionError("cannot " + change.describe() + " in " + routes(), e);
            }
        }
    }

    void address(int link, String address, int flags) {
        try {
            kernel.addAddress(new InterfaceAddress(link, IpPrefix.parse(address), flags, Route.SCOPE_UNIVERSE));
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    void up(int link) {
        try {
            kernel.setUp(link);
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    void add(Route route) {
        if (!kernel.tryAdd(route)) {
            throw new AssertionError("the model refuses " + route + " in " + routes());
        }
    }

    List<String> routes() {
        return kernel.state().routes().stream()
                .map(route -> RouteText.of(route, kernel.state()::name))
                .toList();
    }

    List<String> routesOf(int card) {
        return kernel.state().routes().stream()
                .filter(route -> route.leadsTo(link(card)))
                .map(route -> RouteText.of(route, kernel.state()::name))
                .toList();
    }

    static List<String> described(Plan plan) {
        return plan.changes().stream().map(NetChange::describe).toList();
    }
}
