package io.erdma.node.net;

import io.erdma.libc.NativeException;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.Route;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Which routes of the main table plans are made of. A node may have a million others, from BGP or of its pods; neither
 * memory nor work may depend on these. Pure.
 *
 * <p>Default routes and our own always matter. Those of tables other than the main one never do.
 *
 * @param links indexes of interfaces whose routes matter
 * @param destinations networks to which every route matters, whatever its interface
 * @param sources addresses of which every route matters that has one as its source
 */
record RouteInterest(Set<Integer> links, Set<IpPrefix> destinations, Set<InetAddress> sources)
        implements Predicate<Route> {
    static final RouteInterest NONE = new RouteInterest(Set.of(), Set.of(), Set.of());

    /** So many routes that others made on our interfaces are looked at; more add nothing to what there is to say. */
    static final int MOST_OF_OTHERS = 1000;

    /** Where routes are read from; the kernel's table, or a test's. */
    @FunctionalInterface
    interface Table {
        /** @param wanted asked for anew each time that the table has to be read again */
        List<Route> read(Supplier<Predicate<Route>> wanted) throws NativeException;
    }

    /**
     * What was read.
     *
     * @param interest by which; notifications of other routes need not be looked at
     */
    record Reading(RouteInterest interest, List<Route> routes) {}

    RouteInterest {
        links = Set.copyOf(links);
        destinations = Set.copyOf(destinations);
        sources = Set.copyOf(sources);
    }

    /** Before any route is known. */
    static RouteInterest of(NetState found, WantedInterfaces wanted) {
        return new RouteInterest(
                wanted.secondary().stream()
                        .flatMap(one -> found.card(one.mac()).stream())
                        .map(Link::index)
                        .collect(Collectors.toSet()),
                wanted.secondary().stream()
                        .flatMap(one -> one.address().stream())
                        .map(IpPrefix::network)
                        .collect(Collectors.toSet()),
                wanted.secondary().stream()
                        .flatMap(one -> one.address().stream())
                        .map(IpPrefix::address)
                        .collect(Collectors.toSet()));
    }

    /**
     * Reads once, and again where the first reading shows that more matters than could be known before.
     *
     * @param last by which the table was read before: what mattered then most likely still does, which saves the second
     *     reading
     */
    Reading read(Table table, RouteInterest last) throws NativeException {
        RouteInterest likely = and(last);
        List<Route> routes = table.read(likely::reading);
        RouteInterest all = with(routes);
        return new Reading(all, likely.covers(all) ? routes : table.read(all::reading));
    }

    /** With what these routes make matter: where our own lead, and what others' on our interfaces compete for. */
    private RouteInterest with(List<Route> routes) {
        Set<Integer> moreLinks = new HashSet<>(links);
        Set<IpPrefix> moreDestinations = new HashSet<>(destinations);
        Set<InetAddress> moreSources = new HashSet<>(sources);
        for (Route route : routes) {
            if (InterfacePlan.isOurs(route)) {
                moreLinks.add(route.link().orElseThrow());
                route.source().ifPresent(moreSources::add);
            } else if (isOnLinks(route) && !route.isDefault() && !isLinkLocal(route)) {
                moreDestinations.add(route.destination());
            }
        }
        return new RouteInterest(moreLinks, moreDestinations, moreSources);
    }

    private RouteInterest and(RouteInterest other) {
        Set<Integer> allLinks = new HashSet<>(links);
        allLinks.addAll(other.links);
        Set<IpPrefix> allDestinations = new HashSet<>(destinations);
        allDestinations.addAll(other.destinations);
        Set<InetAddress> allSources = new HashSet<>(sources);
        allSources.addAll(other.sources);
        return new RouteInterest(allLinks, allDestinations, allSources);
    }

    private boolean covers(RouteInterest other) {
        return links.containsAll(other.links)
                && destinations.containsAll(other.destinations)
                && sources.containsAll(other.sources);
    }

    @Override
    public boolean test(Route route) {
        return isDecisive(route) || belongsToOurs(route);
    }

    /** For one pass through the table, of which it passes what matters, in bounds. */
    private Predicate<Route> reading() {
        return new Predicate<>() {
            private int ofOthers;

            @Override
            public boolean test(Route route) {
                return isDecisive(route) || (belongsToOurs(route) && ofOthers++ < MOST_OF_OTHERS);
            }
        };
    }

    /** Plans differ by it, and not only in what they say. */
    private boolean isDecisive(Route route) {
        return route.isDefault()
                || InterfacePlan.isOurs(route)
                || destinations.contains(route.destination())
                || (!sources.isEmpty()
                        && route.source().filter(sources::contains).isPresent())
                || (route.protocol() == Route.PROTOCOL_KERNEL && isOnLinks(route));
    }

    private boolean belongsToOurs(Route route) {
        return isOnLinks(route) || route.source().filter(sources::contains).isPresent();
    }

    private boolean isOnLinks(Route route) {
        for (Route.Hop hop : route.hops()) {
            if (links.contains(hop.link())) {
                return true;
            }
        }
        return false;
    }

    /** Every interface has such a route, and none competes with another's. */
    static boolean isLinkLocal(Route route) {
        return route.destination().address().isLinkLocalAddress();
    }
}
