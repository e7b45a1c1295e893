package io.erdma.node.net;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The kernel's rules about links, IPv4 addresses and the main table, as strict as the kernel itself: what it refuses is
 * refused here, with the same errno, and what it does unasked happens. {@link InterfacesIT} asks the real one.
 */
final class ModelKernel {
    private static final int MIN_MTU = 68;
    private static final int MAX_MTU = 9600;

    private final List<Link> links = new ArrayList<>();
    private final List<InterfaceAddress> addresses = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();

    synchronized NetState state() {
        return new NetState(links, addresses, routes);
    }

    // ---- what others do

    synchronized void addLink(int index, String name, MacAddress mac, boolean up) {
        links.add(new Link(
                index,
                name,
                up ? Link.IFF_UP | Link.IFF_LOWER_UP : 0,
                1500,
                up ? 6 : 2,
                Optional.of(up),
                Optional.of(mac),
                Optional.of(mac),
                Optional.empty(),
                Optional.empty()));
    }

    /** As a bridge takes a port: address and routes stay. */
    synchronized void enslave(int index, int master) {
        replace(
                index,
                link -> new Link(
                        link.index(),
                        link.name(),
                        link.flags(),
                        link.mtu(),
                        link.operState(),
                        link.carrier(),
                        link.address(),
                        link.permanentAddress(),
                        link.kind(),
                        link.parentDevice(),
                        OptionalInt.of(master)));
    }

    /** Routes of the link vanish, addresses stay. */
    synchronized void setDown(int index) {
        replace(index, link -> withFlags(link, link.flags() & ~Link.IFF_UP));
        routes.removeIf(route -> route.leadsTo(index));
    }

    synchronized void removeLink(int index) {
        setDown(index);
        links.removeIf(link -> link.index() == index);
        addresses.removeIf(address -> address.link() == index);
    }

    synchronized boolean removeRoutes(Predicate<Route> which) {
        return routes.removeIf(which);
    }

    /** Whether the kernel took it. */
    synchronized boolean tryAdd(Route route) {
        try {
            addRoute(route);
            return true;
        } catch (NativeException e) {
            return false;
        }
    }

    // ---- what the agent asks for

    synchronized void make(NetChange change) throws NativeException {
        switch (change) {
            case NetChange.SetMtu(int index, String _, int mtu) -> setMtu(index, mtu);
            case NetChange.SetUp(int index, String _) -> setUp(index);
            case NetChange.AddAddress(String _, InterfaceAddress address) -> addAddress(address);
            case NetChange.DeleteAddress(String _, InterfaceAddress address) -> deleteAddress(address);
            case NetChange.AddRoute(String _, Route route) -> addRoute(route);
            case NetChange.DeleteRoute(String _, Route route) -> deleteRoute(route);
        }
    }

    synchronized void setMtu(int index, int mtu) throws NativeException {
        link(index);
        refuse(mtu < MIN_MTU || mtu > MAX_MTU, Errno.EINVAL, "mtu out of range");
        replace(
                index,
                link -> new Link(
                        link.index(),
                        link.name(),
                        link.flags(),
                        mtu,
                        link.operState(),
                        link.carrier(),
                        link.address(),
                        link.permanentAddress(),
                        link.kind(),
                        link.parentDevice(),
                        link.master()));
    }

    synchronized void setUp(int index) throws NativeException {
        if (!link(index).isUp()) {
            replace(index, link -> withFlags(link, link.flags() | Link.IFF_UP));
            addresses.stream().filter(address -> address.link() == index).forEach(this::addPrefixRoute);
        }
    }

    synchronized void addAddress(InterfaceAddress address) throws NativeException {
        Link link = link(address.link());
        refuse(
                addresses.stream()
                        .anyMatch(other -> other.link() == address.link()
                                && other.address().equals(address.address())),
                Errno.EEXIST,
                "Address already assigned");
        boolean secondary = inSameNetwork(address).anyMatch(other -> !isSecondary(other));
        InterfaceAddress added = new InterfaceAddress(
                address.link(),
                address.address(),
                address.flags() | (secondary ? InterfaceAddress.IFA_F_SECONDARY : 0),
                address.scope());
        addresses.add(added);
        if (link.isUp()) {
            addPrefixRoute(added);
        }
    }

    private Stream<InterfaceAddress> inSameNetwork(InterfaceAddress address) {
        return addresses.stream()
                .filter(other -> other.link() == address.link()
                        && other.address().length() == address.address().length()
                        && other.address().network().equals(address.address().network()));
    }

    private static boolean isSecondary(InterfaceAddress address) {
        return (address.flags() & InterfaceAddress.IFA_F_SECONDARY) != 0;
    }

    private static Route prefixRoute(InterfaceAddress address) {
        IpPrefix prefix = address.address();
        return Route.onLink(prefix.network(), address.link(), prefix.address(), Route.PROTOCOL_KERNEL, 0);
    }

    /** As the kernel does it: appended, so it may stand beside one of another interface with the same metric. */
    private void addPrefixRoute(InterfaceAddress address) {
        if (address.bringsPrefixRoute() && address.address().length() < 32) {
            Route route = prefixRoute(address);
            if (!routes.contains(route)) {
                routes.add(route);
            }
        }
    }

    private void deleteAddress(InterfaceAddress address) throws NativeException {
        Optional<InterfaceAddress> found = inSameNetwork(address)
                .filter(other -> other.address().equals(address.address()))
                .findFirst();
        refuse(found.isEmpty(), Errno.EADDRNOTAVAIL, "");
        List<InterfaceAddress> going = isSecondary(found.get())
                ? List.of(found.get())
                : inSameNetwork(address).toList();
        for (InterfaceAddress one : going) {
            addresses.remove(one);
            routes.remove(prefixRoute(one));
            InetAddress ip = one.address().address();
            if (addresses.stream().noneMatch(other -> other.address().address().equals(ip))) {
                routes.removeIf(route -> route.source().equals(Optional.of(ip)));
            }
        }
        if (addresses.stream().noneMatch(other -> other.link() == address.link())) {
            routes.removeIf(route -> route.leadsTo(address.link()));
        }
    }

    private void addRoute(Route route) throws NativeException {
        IpPrefix destination = route.destination();
        refuseHostBits(destination);
        Link link = link(route.link().orElseThrow());
        refuse(!link.isUp() && route.gateway().isEmpty(), Errno.ENETDOWN, "Device for nexthop is not up");
        if (route.gateway().isPresent()) {
            refuse(route.scope() >= Route.SCOPE_LINK, Errno.ENETUNREACH, "Nexthop has invalid gateway");
            refuse(
                    routes.stream()
                            .noneMatch(onLink -> onLink.leadsTo(link.index())
                                    && onLink.gateway().isEmpty()
                                    && onLink.scope() == Route.SCOPE_LINK
                                    && onLink.destination()
                                            .contains(route.gateway().get())),
                    Errno.ENETUNREACH,
                    "Nexthop has invalid gateway");
        }
        refuse(
                route.source().isPresent()
                        && addresses.stream()
                                .noneMatch(address -> route.source()
                                        .get()
                                        .equals(address.address().address())),
                Errno.EINVAL,
                "Invalid prefsrc address");
        // The interface is no part of what tells routes apart.
        refuse(
                routes.stream()
                        .anyMatch(other -> other.destination().equals(destination)
                                && other.tos() == route.tos()
                                && other.metric() == route.metric()),
                Errno.EEXIST,
                "File exists");
        routes.add(route);
    }

    private static void refuseHostBits(IpPrefix destination) throws NativeException {
        refuse(!destination.network().equals(destination), Errno.EINVAL, "Invalid prefix for given prefix length");
    }

    private void deleteRoute(Route route) throws NativeException {
        refuseHostBits(route.destination());
        Optional<Route> first = routes.stream()
                .filter(other -> other.destination().equals(route.destination())
                        && other.tos() == route.tos()
                        && other.link().equals(route.link())
                        && (route.metric() == 0 || other.metric() == route.metric())
                        && other.protocol() == route.protocol()
                        && (route.gateway().isEmpty() || other.gateway().equals(route.gateway())))
                .min(Comparator.comparingLong(Route::metric));
        refuse(first.isEmpty(), Errno.ESRCH, "");
        routes.remove(first.get());
    }

    // ---- what packets do

    /** Metric of the best route to a destination among those that lead out of one of these links. */
    synchronized OptionalLong best(IpPrefix destination, Predicate<Route> among) {
        return routes.stream()
                .filter(route -> route.destination().equals(destination) && route.tos() == 0 && among.test(route))
                .mapToLong(Route::metric)
                .min();
    }

    // ---- helpers

    private Link link(int index) throws NativeException {
        return links.stream()
                .filter(link -> link.index() == index)
                .findFirst()
                .orElseThrow(() -> new NativeException("netlink", Errno.ENODEV, "link " + index));
    }

    private void replace(int index, UnaryOperator<Link> change) {
        links.replaceAll(link -> link.index() == index ? change.apply(link) : link);
    }

    private static Link withFlags(Link link, int flags) {
        return new Link(
                link.index(),
                link.name(),
                flags,
                link.mtu(),
                link.operState(),
                link.carrier(),
                link.address(),
                link.permanentAddress(),
                link.kind(),
                link.parentDevice(),
                link.master());
    }

    private static void refuse(boolean when, int errno, String explanation) throws NativeException {
        if (when) {
            throw new NativeException("netlink", errno, "the model", Optional.of(explanation));
        }
    }
}
