package io.erdma.node.net;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The interfaces of the node as they were found, with their addresses and what matters of the main routing table.
 *
 * @param routes of every type and maker, those of {@link RouteInterest}
 */
public record NetState(List<Link> links, List<InterfaceAddress> addresses, List<Route> routes) {
    public NetState {
        links = List.copyOf(links);
        addresses = List.copyOf(addresses);
        routes = List.copyOf(routes);
    }

    Optional<Link> link(int index) {
        return links.stream().filter(link -> link.index() == index).findFirst();
    }

    String name(int index) {
        return link(index).map(Link::name).orElse("if" + index);
    }

    /**
     * The interface of a network card: by the address burnt in, else, where the kernel doesn't tell that, by the one in
     * use. The latter is also that of VLANs, bridges and the like upon the card, so one without a kind goes first.
     */
    Optional<Link> card(MacAddress mac) {
        List<Link> cards = links.stream()
                .filter(link -> (link.flags() & Link.IFF_LOOPBACK) == 0)
                .toList();
        return cards.stream()
                .filter(link -> link.permanentAddress().equals(Optional.of(mac)))
                .findFirst()
                .or(() -> cards.stream()
                        .filter(link -> link.permanentAddress().isEmpty()
                                && link.address().equals(Optional.of(mac)))
                        .min(Comparator.comparingInt((Link link) -> link.kind().isPresent() ? 1 : 0)
                                .thenComparingInt(Link::index)));
    }

    /**
     * Indexes of the node's own interface: the one told, else that of the best default route, of several where they
     * share the traffic. An interface that has routes of ours is not the one, whatever others add to it.
     */
    Set<Integer> primary(Optional<MacAddress> told) {
        Optional<Link> card = told.flatMap(this::card);
        if (card.isPresent()) {
            return Set.of(card.get().index());
        }
        Set<Integer> ofIpv4 = bestDefault(true);
        return ofIpv4.isEmpty() ? bestDefault(false) : ofIpv4;
    }

    private Set<Integer> bestDefault(boolean ipv4) {
        Set<Integer> ours = routes.stream()
                .filter(InterfacePlan::isOurs)
                .map(route -> route.link().orElseThrow())
                .collect(Collectors.toSet());
        List<Route> defaults = routes.stream()
                .filter(route -> route.isDefault()
                        && route.destination().isIpv4() == ipv4
                        && route.isUnicast()
                        && route.tos() == 0
                        && route.hops().stream().noneMatch(hop -> ours.contains(hop.link())))
                .toList();
        OptionalLong best = defaults.stream().mapToLong(Route::metric).min();
        return defaults.stream()
                .filter(route -> route.metric() == best.orElse(-1))
                .flatMap(route -> route.hops().stream())
                .map(Route.Hop::link)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The interface's IPv4 addresses that may be used beyond this host. */
    Stream<InterfaceAddress> ipv4(Link link) {
        return addresses.stream()
                .filter(address -> address.link() == link.index()
                        && address.address().isIpv4()
                        && address.scope() < Route.SCOPE_LINK);
    }

    boolean has(Link link, IpPrefix address) {
        return ipv4(link).anyMatch(found -> found.address().equals(address));
    }

    Stream<Route> routesOn(Link link) {
        return routes.stream().filter(route -> route.leadsTo(link.index()));
    }

    /**
     * Whose marks an interface bears beside ours, in words.
     *
     * @param ours addresses that the interface is to have
     */
    String traceOfOthers(Link link, Set<IpPrefix> ours) {
        Stream<String> routes = routesOn(link)
                .filter(route -> route.destination().isIpv4() && !InterfacePlan.isOurs(route))
                .map(route -> "a route of " + RouteText.maker(route.protocol()));
        Stream<String> addresses = ipv4(link)
                .filter(address -> !ours.contains(address.address()))
                .map(address -> "address " + address.address());
        String found = Stream.concat(routes, addresses).distinct().collect(Collectors.joining(", "));
        return found.isEmpty() ? "who it is, the interface does not show" : "found on the interface: " + found;
    }

    Stream<Route> routesTo(IpPrefix destination) {
        return routes.stream().filter(route -> route.destination().equals(destination));
    }
}
