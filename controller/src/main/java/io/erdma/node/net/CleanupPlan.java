package io.erdma.node.net;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import io.erdma.node.net.NetChange.DeleteAddress;
import io.erdma.node.net.NetChange.DeleteRoute;
import io.erdma.node.net.Note.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Decides what of ours to take from the node when the agent is uninstalled. Links stay up. Pure. */
public final class CleanupPlan {
    private CleanupPlan() {}

    /** Where nobody knows any more what was wanted: an address is ours that our routes on its interface have as their source. */
    public static Plan of(NetState found) {
        List<WantedInterface> wanted = new ArrayList<>();
        for (InterfaceAddress address : found.addresses()) {
            boolean ours = found.routes().stream()
                    .filter(InterfacePlan::isOurs)
                    .anyMatch(route -> route.leadsTo(address.link())
                            && route.source()
                                    .equals(Optional.of(address.address().address())));
            Optional<MacAddress> mac = found.link(address.link())
                    .flatMap(link -> link.permanentAddress().or(link::address));
            if (ours && mac.isPresent()) {
                wanted.add(new WantedInterface(
                        mac.get(),
                        OptionalInt.empty(),
                        Optional.of(address.address()),
                        Optional.empty(),
                        OptionalInt.empty()));
            }
        }
        return of(found, new WantedInterfaces(Optional.empty(), wanted));
    }

    /** Our routes, and the wanted addresses that bear our mark (no route of the kernel) where nothing depends on them. */
    public static Plan of(NetState found, WantedInterfaces wanted) {
        List<NetChange> changes = new ArrayList<>();
        List<Note> notes = new ArrayList<>();
        List<Route> ours = found.routes().stream().filter(InterfacePlan::isOurs).toList();
        for (Route route : ours) {
            changes.add(new DeleteRoute(found.name(route.link().orElseThrow()), route));
        }
        for (WantedInterface one : wanted.secondary()) {
            Optional<Link> link = found.card(one.mac())
                    .filter(card -> !found.primary(wanted.primary()).contains(card.index()));
            if (link.isEmpty() || one.address().isEmpty()) {
                continue;
            }
            IpPrefix address = one.address().get();
            Optional<InterfaceAddress> mine = found.ipv4(link.get())
                    .filter(candidate -> candidate.address().equals(address)
                            && (candidate.flags() & InterfaceAddress.IFA_F_NOPREFIXROUTE) != 0)
                    .findFirst();
            if (mine.isEmpty()) {
                continue;
            }
            Optional<String> dependent = dependent(found, link.get(), address);
            if (dependent.isPresent()) {
                notes.add(new Note(
                        link.get().name(),
                        Severity.WARNING,
                        "keeps " + address + ", since " + dependent.get() + " would go with it"));
            } else {
                changes.add(new DeleteAddress(link.get().name(), mine.get()));
            }
        }
        return new Plan(changes, notes);
    }

    // With an address the kernel removes the routes that have it as their source, the addresses that are secondary to
    // it,
    // and, with the last one, every IPv4 route of the interface.
    private static Optional<String> dependent(NetState found, Link link, IpPrefix address) {
        return found.routes().stream()
                .filter(route -> !InterfacePlan.isOurs(route)
                        && (route.source().equals(Optional.of(address.address()))
                                || (route.leadsTo(link.index())
                                        && route.destination().isIpv4())))
                .map(route -> "the route " + RouteText.of(route, found::name))
                .findFirst()
                .or(() -> found.ipv4(link)
                        .filter(other -> !other.address().equals(address))
                        .map(other -> "the address " + other.address())
                        .findFirst());
    }
}
