package io.erdma.node.net;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import io.erdma.node.net.NetChange.AddAddress;
import io.erdma.node.net.NetChange.AddRoute;
import io.erdma.node.net.NetChange.DeleteRoute;
import io.erdma.node.net.NetChange.SetMtu;
import io.erdma.node.net.NetChange.SetUp;
import io.erdma.node.net.Note.Severity;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides what to change so that the eRDMA interfaces are as wanted and nobody else's traffic changes its way. Pure: the
 * same state leads to the same plan, and a state in which the plan was carried out to an empty one.
 *
 * <p>An interface is brought up with its address and two routes: to its vSwitch, and through the vSwitch's gateway to
 * anywhere. Their metrics ({@link RouteMetrics}) are above those of all interfaces that are not ours.
 */
public final class InterfacePlan {
    /**
     * The rtm_protocol of our routes. {@code rtnetlink.h} reserves up to 4 and lists the numbers of known programs, none
     * of which has this one.
     */
    public static final int PROTOCOL = 217;

    private static final IpPrefix ANYWHERE = IpPrefix.parse("0.0.0.0/0");

    /** How long the prefix of a vSwitch is, by the documentation of the cloud's VPC. */
    private static final int WIDEST_VSWITCH = 16;

    private static final int NARROWEST_VSWITCH = 29;

    /** The cloud's own services, the metadata service among them, and what is never of one host alone: no VPC has these. */
    private static final List<IpPrefix> NO_VSWITCH =
            List.of(IpPrefix.parse("100.64.0.0/10"), IpPrefix.parse("169.254.0.0/16"), IpPrefix.parse("0.0.0.0/8"));

    /** Of others on one interface; where there are so many, further ones say nothing new. */
    private static final int MOST_ROUTES_THAT_WIN = 5;

    static final String WHITELIST =
            "With the Terway network plugin, add the ERI to Terway's ENI whitelist, so that Terway leaves it alone.";

    /** An interface that was found for a wanted one. */
    private record Card(WantedInterface wanted, Link link) {}

    /** A route that a card is to have, apart from its metric. */
    private record Goal(Card card, IpPrefix destination, Optional<InetAddress> gateway, InetAddress source) {
        Route withMetric(long metric) {
            int link = card.link().index();
            return gateway.isPresent()
                    ? Route.via(gateway.get(), destination, link, source, PROTOCOL, metric)
                    : Route.onLink(destination, link, source, PROTOCOL, metric);
        }

        boolean isReachedBy(Route route) {
            return isOurs(route) && route.equals(withMetric(route.metric()));
        }

        /** Somebody made by hand, or the Go agent did, what we would make ourselves. */
        boolean isAlsoTheGoalOf(Route route) {
            return isSimple(route)
                    && route.protocol() == Route.PROTOCOL_BOOT
                    && route.link().orElseThrow() == card.link().index()
                    && route.destination().equals(destination)
                    && route.gateway().equals(gateway);
        }
    }

    private final NetState found;
    private final WantedInterfaces wanted;
    private final long routeMetric;
    private final Set<Integer> primary;
    private final Set<InetAddress> taken = new HashSet<>();
    private final List<Note> notes = new ArrayList<>();
    private final List<NetChange> changes = new ArrayList<>();
    /** Cards of which routes of ours that are no goals go. */
    private final Set<Card> planned = new HashSet<>();

    private InterfacePlan(NetState found, WantedInterfaces wanted, long routeMetric) {
        this.found = found;
        this.wanted = wanted;
        this.routeMetric = routeMetric;
        this.primary = found.primary(wanted.primary());
    }

    /** @param routeMetric the least metric of our routes, 1 to 2³²−1 */
    public static Plan between(NetState found, WantedInterfaces wanted, long routeMetric) {
        if (routeMetric < 1 || routeMetric > Route.MAX_METRIC) {
            throw new IllegalArgumentException("the least route metric is 1 to 2^32-1, not " + routeMetric);
        }
        return new InterfacePlan(found, wanted, routeMetric).plan();
    }

    private Plan plan() {
        List<Card> cards = cards();
        List<Goal> goals = new ArrayList<>();
        List<Card> withoutAddress = new ArrayList<>();
        for (Card card : cards) {
            if (isPartOfAnother(card)) {
                withoutAddress.add(card);
                continue;
            }
            if (isLeftAlone(card)) {
                continue;
            }
            prepareLink(card);
            Optional<IpPrefix> address = usableAddress(card);
            if (address.isEmpty()) {
                withoutAddress.add(card);
                continue;
            }
            prepareAddress(card, address.get());
            goals.addAll(goals(card, address.get()));
        }
        planRoutes(cards, goals, withoutAddress);
        noteRoutesThatWin(cards, goals);
        return new Plan(changes, notes);
    }

    // ---- which interfaces

    private List<Card> cards() {
        List<Card> cards = new ArrayList<>();
        Set<Integer> links = new HashSet<>();
        Set<MacAddress> macs = new HashSet<>();
        Comparator<WantedInterface> order = Comparator.comparingInt(
                        (WantedInterface one) -> one.cardIndex().orElse(Integer.MAX_VALUE))
                .thenComparingLong(one -> one.mac().value());
        for (WantedInterface one : wanted.secondary().stream().sorted(order).toList()) {
            if (!macs.add(one.mac())) {
                continue;
            }
            Optional<Link> link = found.card(one.mac());
            if (wanted.primary().equals(Optional.of(one.mac()))
                    || link.filter(card -> primary.contains(card.index())).isPresent()) {
                note(
                        link.map(Link::name).orElseGet(() -> one.mac().toString()),
                        Severity.INFO,
                        "the node's primary interface, its configuration is left alone");
            } else if (link.isEmpty() || !links.add(link.get().index())) {
                note(
                        one.mac().toString(),
                        Severity.WARNING,
                        "no interface of the node has this address; it may have moved into a pod's network namespace. "
                                + WHITELIST);
            } else {
                cards.add(new Card(one, link.get()));
            }
        }
        return cards;
    }

    /** A port of a bridge or bond, or a member of a VRF, has its traffic, address and routes there. */
    private boolean isPartOfAnother(Card card) {
        if (card.link().master().isEmpty()) {
            return false;
        }
        String master = found.name(card.link().master().getAsInt());
        note(
                card.link().name(),
                Severity.WARNING,
                "belongs to " + master + ", so it is left as it is. To have the agent set it up, take it out of "
                        + master + ": ip link set " + card.link().name() + " nomaster");
        return true;
    }

    /** Checked, not changed, where somebody else looks after it. */
    private boolean isLeftAlone(Card card) {
        Link link = card.link();
        Optional<IpPrefix> address = card.wanted().address();
        List<InterfaceAddress> foreign = found.ipv4(link)
                .filter(one -> !address.equals(Optional.of(one.address())))
                .toList();
        if (found.routesOn(link).anyMatch(InterfacePlan::isOurs)) {
            for (InterfaceAddress one : foreign) {
                note(
                        link.name(),
                        Severity.WARNING,
                        "has " + one.address() + " too, which somebody else added. " + WHITELIST);
            }
            return false;
        }
        if (!foreign.isEmpty()) {
            leftAlone(card, "has " + foreign.getFirst().address() + " from somebody else");
            return true;
        }
        Optional<InterfaceAddress> bringsRoute = found.ipv4(link)
                .filter(one -> one.bringsPrefixRoute() && one.address().length() < 32)
                .findFirst();
        if (!link.isUp() && bringsRoute.isPresent()) {
            leftAlone(
                    card,
                    "is down, and its address " + bringsRoute.get().address()
                            + " would bring a route of the kernel with metric 0 when it comes up");
            return true;
        }
        Optional<Route> route = address.filter(one -> found.has(link, one))
                .flatMap(one -> found.routesOn(link)
                        .filter(candidate -> isOfSomebodyElse(card, one, candidate))
                        .findFirst());
        if (route.isPresent()) {
            leftAlone(
                    card,
                    "is set up by " + RouteText.maker(route.get().protocol()) + " (route " + text(route.get()) + ")");
            return true;
        }
        return false;
    }

    private static boolean isOfSomebodyElse(Card card, IpPrefix address, Route route) {
        return route.destination().isIpv4()
                && (route.protocol() == Route.PROTOCOL_KERNEL
                        || route.destination().equals(address.network())
                        || route.isDefault())
                && goalsOf(card, address).noneMatch(goal -> goal.isAlsoTheGoalOf(route));
    }

    private void leftAlone(Card card, String reason) {
        Link link = card.link();
        var text = new StringBuilder(reason).append("; it is checked, not changed.");
        if (card.wanted().mtu().isPresent() && card.wanted().mtu().getAsInt() != link.mtu()) {
            text.append(" Its MTU is ")
                    .append(link.mtu())
                    .append(" instead of ")
                    .append(card.wanted().mtu().getAsInt())
                    .append('.');
        }
        card.wanted()
                .address()
                .filter(address -> !found.has(link, address))
                .ifPresent(address ->
                        text.append(" It lacks its address ").append(address).append('.'));
        text.append(" To have the agent set it up, take it from whoever does and remove its addresses.");
        note(link.name(), Severity.WARNING, text.toString());
    }

    // ---- link and address

    private void prepareLink(Card card) {
        Link link = card.link();
        card.wanted().mtu().ifPresent(mtu -> {
            if (mtu != link.mtu()) {
                changes.add(new SetMtu(link, mtu));
            }
        });
        if (!link.isUp()) {
            changes.add(new SetUp(link));
        }
    }

    private Optional<IpPrefix> usableAddress(Card card) {
        Optional<IpPrefix> address = card.wanted().address();
        String name = card.link().name();
        if (address.isEmpty()) {
            note(name, Severity.INFO, "no IPv4 address is known for it, so it gets neither address nor routes");
        } else if (!address.get().isIpv4()) {
            note(
                    name,
                    Severity.INFO,
                    "its address " + address.get() + " is IPv6, which is left to the kernel and to who manages it");
            return Optional.empty();
        } else if (!isOfAVSwitch(address.get())) {
            note(
                    name,
                    Severity.WARNING,
                    "its address " + address.get() + " cannot be one of a vSwitch, whose network is /" + WIDEST_VSWITCH
                            + " to /" + NARROWEST_VSWITCH
                            + " and no part of the cloud's own, so it gets neither address"
                            + " nor routes. Correct what told the agent so: the cloud's metadata service (netmask)");
            return Optional.empty();
        } else {
            Optional<String> holder = otherHolder(card, address.get().address());
            if (holder.isPresent()) {
                note(
                        name,
                        Severity.WARNING,
                        "its address " + address.get() + " is that of " + holder.get()
                                + " already, so it gets neither address nor routes. Correct what told the agent so:"
                                + " the cloud's metadata service");
                return Optional.empty();
            }
        }
        return address;
    }

    // A wrong netmask is believed at the price of all other traffic: the kernel prefers the longer prefix to any
    // metric.
    private static boolean isOfAVSwitch(IpPrefix address) {
        InetAddress host = address.address();
        return address.length() >= WIDEST_VSWITCH
                && address.length() <= NARROWEST_VSWITCH
                && !host.isLoopbackAddress()
                && (host.getAddress()[0] & 0xff) < 224
                && NO_VSWITCH.stream().noneMatch(network -> network.contains(host));
    }

    // Twice on one node, the address would draw the other interface's traffic: both would answer ARP for it.
    private Optional<String> otherHolder(Card card, InetAddress address) {
        Optional<String> holder = found.addresses().stream()
                .filter(one -> one.link() != card.link().index()
                        && one.address().address().equals(address))
                .map(one -> found.name(one.link()))
                .findFirst();
        return holder.isPresent() || taken.add(address) ? holder : Optional.of("another eRDMA interface");
    }

    private void prepareAddress(Card card, IpPrefix address) {
        if (!found.has(card.link(), address)) {
            // With the kernel's own route to the network this card would take over its traffic at once, at metric 0.
            changes.add(new AddAddress(
                    card.link().name(),
                    new InterfaceAddress(
                            card.link().index(), address, InterfaceAddress.IFA_F_NOPREFIXROUTE, Route.SCOPE_UNIVERSE)));
        }
    }

    // ---- routes

    private List<Goal> goals(Card card, IpPrefix address) {
        Optional<InterfaceAddress> nested = nested(card, address);
        if (nested.isPresent()) {
            if (primary.contains(nested.get().link())) {
                planned.add(card);
            }
            note(
                    card.link().name(),
                    Severity.WARNING,
                    "its network " + address.network() + " overlaps with "
                            + nested.get().address().network() + " of "
                            + found.name(nested.get().link())
                            + ", and a route to it would take over traffic whatever its metric, so it gets none. Two"
                            + " vSwitches never overlap: correct the netmask of either");
            return List.of();
        }
        List<Goal> goals = goalsOf(card, address).toList();
        if (goals.size() == 1 && card.wanted().gateway().isPresent()) {
            note(
                    card.link().name(),
                    Severity.WARNING,
                    "its gateway " + card.wanted().gateway().get().getHostAddress() + " is not in its network "
                            + address.network() + ", so it gets no route beyond that");
        }
        return goals;
    }

    /** Another interface's network within this one, or around it. */
    private Optional<InterfaceAddress> nested(Card card, IpPrefix address) {
        return found.addresses().stream()
                .filter(other -> other.link() != card.link().index()
                        && other.address().isIpv4()
                        && other.address().length() < 32
                        && other.scope() < Route.SCOPE_LINK
                        && other.address().length() != address.length()
                        && (address.contains(other.address().address())
                                || other.address().contains(address.address())))
                .findFirst();
    }

    private static Stream<Goal> goalsOf(Card card, IpPrefix address) {
        InetAddress source = address.address();
        // A gateway is reachable only once the on-link route to it exists, so that one comes first.
        return Stream.concat(
                Stream.of(new Goal(card, address.network(), Optional.empty(), source)),
                card.wanted().gateway().stream()
                        .filter(gateway -> address.contains(gateway) && !gateway.equals(source))
                        .map(gateway -> new Goal(card, ANYWHERE, Optional.of(gateway), source)));
    }

    private void planRoutes(List<Card> cards, List<Goal> goals, List<Card> withoutAddress) {
        Set<Route> kept = new HashSet<>();
        Set<Route> replaced = new HashSet<>();
        Map<Goal, OptionalLong> metrics = metrics(cards, goals);
        // All on-link routes come before any gateway's.
        for (boolean throughGateway : new boolean[] {false, true}) {
            for (Goal goal : goals) {
                if (goal.gateway().isPresent() != throughGateway) {
                    continue;
                }
                if (metrics.get(goal).isEmpty()) {
                    noteNoMetric(cards, goal);
                    continue;
                }
                Route route = goal.withMetric(metrics.get(goal).getAsLong());
                kept.add(route);
                if (!found.routes().contains(route)) {
                    changes.add(new AddRoute(goal.card().link().name(), route));
                }
                found.routes().stream().filter(goal::isAlsoTheGoalOf).forEach(replaced::add);
            }
        }
        goals.stream().map(Goal::card).forEach(planned::add);
        for (Card card : cards) {
            found.routesOn(card.link())
                    .filter(route -> replaced.contains(route)
                            || (isOurs(route) && planned.contains(card) && !kept.contains(route))
                            || (isOurs(route) && withoutAddress.contains(card) && route.metric() < base(cards, route)))
                    .forEach(route -> changes.add(new DeleteRoute(card.link().name(), route)));
        }
    }

    private Map<Goal, OptionalLong> metrics(List<Card> cards, List<Goal> goals) {
        Map<IpPrefix, List<Goal>> byDestination = new LinkedHashMap<>();
        for (Goal goal : goals) {
            byDestination
                    .computeIfAbsent(goal.destination(), _ -> new ArrayList<>())
                    .add(goal);
        }
        Map<Goal, OptionalLong> metrics = new HashMap<>();
        byDestination.forEach((destination, rivals) -> {
            List<OptionalLong> chosen = RouteMetrics.choose(
                    base(cards, destination),
                    rivals.stream()
                            .map(goal -> found.routesTo(destination)
                                    .filter(goal::isReachedBy)
                                    .map(Route::metric)
                                    .toList())
                            .toList(),
                    found.routesTo(destination)
                            .filter(route -> route.tos() == 0)
                            .map(Route::metric)
                            .toList());
            for (int i = 0; i < rivals.size(); i++) {
                metrics.put(rivals.get(i), chosen.get(i));
            }
        });
        return metrics;
    }

    private long base(List<Card> cards, Route route) {
        return base(cards, route.destination());
    }

    private long base(List<Card> cards, IpPrefix destination) {
        return RouteMetrics.base(
                routeMetric,
                found.routesTo(destination)
                        .filter(route -> isOfOtherInterfaces(cards, route))
                        .map(Route::metric)
                        .toList());
    }

    /**
     * Whether a route leads, with one of its ways at least, out of an interface that isn't ours. A route of ours that was
     * left on one that we no longer look after is no reason to go higher: metrics would climb each time interfaces change.
     */
    private boolean isOfOtherInterfaces(List<Card> cards, Route route) {
        Set<Integer> ours = cards.stream().map(card -> card.link().index()).collect(Collectors.toSet());
        return route.isUnicast()
                && route.tos() == 0
                && !(isOurs(route) && !primary.contains(route.link().orElseThrow()))
                && (route.hops().isEmpty() || route.hops().stream().anyMatch(hop -> !ours.contains(hop.link())));
    }

    private void noteNoMetric(List<Card> cards, Goal goal) {
        note(
                goal.card().link().name(),
                Severity.WARNING,
                "no route to " + (goal.gateway().isPresent() ? "anywhere" : goal.destination())
                        + ": no metric up to 4294967295 is left above "
                        + (base(cards, goal.destination()) - 1) + ", the highest one on other interfaces");
    }

    // ---- others' routes

    /** What others made on our cards is theirs; where it takes over the primary's traffic, they should know. */
    private void noteRoutesThatWin(List<Card> cards, List<Goal> goals) {
        for (Card card : cards) {
            int said = 0;
            for (Route route : found.routesOn(card.link())
                    .filter(one -> one.isUnicast() && one.tos() == 0 && !RouteInterest.isLinkLocal(one))
                    .toList()) {
                if (said == MOST_ROUTES_THAT_WIN) {
                    break;
                }
                boolean replaced = goals.stream().anyMatch(goal -> goal.isAlsoTheGoalOf(route));
                if (isOurs(route) || replaced) {
                    continue;
                }
                Optional<Route> loser = found.routesTo(route.destination())
                        .filter(other -> other.isUnicast()
                                && other.tos() == 0
                                && other.metric() >= route.metric()
                                && other.hops().stream().anyMatch(hop -> primary.contains(hop.link()))
                                && !route.equals(other))
                        .findFirst();
                if (loser.isPresent()) {
                    said++;
                    note(
                            card.link().name(),
                            Severity.WARNING,
                            "the route " + text(route) + " takes over traffic of " + text(loser.get())
                                    + "; it comes from " + RouteText.maker(route.protocol()));
                }
            }
        }
    }

    // ---- words

    /** A route that we may write as we read it: one way, of its own, in the main table. */
    private static boolean isSimple(Route route) {
        return route.isUnicast() && route.tos() == 0 && route.link().isPresent() && route.nextHopId() == 0;
    }

    static boolean isOurs(Route route) {
        return route.protocol() == PROTOCOL && isSimple(route);
    }

    private String text(Route route) {
        return RouteText.of(route, found::name);
    }

    private void note(String subject, Severity severity, String text) {
        notes.add(new Note(subject, severity, text));
    }
}
