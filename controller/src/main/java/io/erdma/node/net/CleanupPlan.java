package io.erdma.node.net;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.Link;
import io.erdma.netlink.Route;
import io.erdma.node.net.NetChange.DeleteAddress;
import io.erdma.node.net.NetChange.DeleteRoute;
import io.erdma.node.net.Note.Severity;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides what of ours to take from the node when the agent is uninstalled. Nobody knows any more what was wanted then, so
 * the node itself tells what is ours. Links stay up. Pure.
 */
public final class CleanupPlan {
    private CleanupPlan() {}

    /**
     * Our routes, and the addresses that they have as their source and that bear our mark (no route of the kernel), where
     * nothing else depends on these.
     */
    public static Plan of(NetState found) {
        List<NetChange> changes = new ArrayList<>();
        List<Note> notes = new ArrayList<>();
        List<Route> ours = found.routes().stream().filter(InterfacePlan::isOurs).toList();
        for (Route route : ours) {
            changes.add(new DeleteRoute(found.name(route.link().orElseThrow()), route));
        }
        for (Link link : found.links()) {
            Set<InetAddress> sources = ours.stream()
                    .filter(route -> route.leadsTo(link.index()))
                    .flatMap(route -> route.source().stream())
                    .collect(Collectors.toSet());
            List<InterfaceAddress> mine = found.ipv4(link)
                    .filter(address -> !address.bringsPrefixRoute()
                            && sources.contains(address.address().address()))
                    .toList();
            Optional<String> dependent = dependent(found, link, mine);
            for (InterfaceAddress address : mine) {
                if (dependent.isPresent()) {
                    notes.add(new Note(
                            link.name(),
                            Severity.WARNING,
                            "keeps " + address.address() + ", since " + dependent.get() + " would go with it"));
                } else {
                    changes.add(new DeleteAddress(link.name(), address));
                }
            }
        }
        return new Plan(changes, notes);
    }

    // With an address the kernel removes the routes that have it as their source, the addresses that are secondary to
    // it, and, with the last one, every IPv4 route of the interface.
    private static Optional<String> dependent(NetState found, Link link, List<InterfaceAddress> mine) {
        return found.routes().stream()
                .filter(route -> !InterfacePlan.isOurs(route)
                        && (mine.stream()
                                        .anyMatch(address -> route.source()
                                                .equals(Optional.of(
                                                        address.address().address())))
                                || (route.leadsTo(link.index())
                                        && route.destination().isIpv4())))
                .map(route -> "the route " + RouteText.of(route, found::name))
                .findFirst()
                .or(() -> found.ipv4(link)
                        .filter(other -> !mine.contains(other))
                        .map(other -> "the address " + other.address())
                        .findFirst());
    }
}
