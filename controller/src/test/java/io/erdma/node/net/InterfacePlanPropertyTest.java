package io.erdma.node.net;

import static io.erdma.node.net.TestNode.ANYWHERE;
import static io.erdma.node.net.TestNode.ETH0;
import static io.erdma.node.net.TestNode.GATEWAY;
import static io.erdma.node.net.TestNode.SUBNET;
import static io.erdma.node.net.TestNode.addressOf;
import static io.erdma.node.net.TestNode.link;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.Route;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Whatever a node looks like, and whatever happens to it: plans can be carried out, lead to what is wanted, end, touch
 * nothing of anybody else's, and never let a route of ours win over the primary interface's.
 */
class InterfacePlanPropertyTest {
    private static final List<Integer> FOREIGN_PROTOCOLS =
            List.of(Route.PROTOCOL_STATIC, Route.PROTOCOL_DHCP, Route.PROTOCOL_RA, 12);
    private static final IpPrefix ELSEWHERE = IpPrefix.parse("10.50.0.0/16");

    /** How a card was left by whoever had it before. */
    enum Past {
        NEW,
        UP_WITHOUT_ADDRESS,
        OURS,
        OURS_WITH_ANOTHER_ADDRESS,
        GO_AGENT,
        GO_AGENT_WITH_KERNEL_ROUTE(true),
        DHCP(true),
        NETWORK_MANAGER(true),
        ANOTHER_ADDRESS(true),
        DOWN_WITH_ADDRESS(true);

        private final boolean foreign;

        Past() {
            this(false);
        }

        Past(boolean foreign) {
            this.foreign = foreign;
        }
    }

    /**
     * One thing that happens, or was there before.
     *
     * @param card which interface, 0 for the primary
     */
    record Event(Kind kind, int card, int number, long metric) {
        enum Kind {
            PRIMARY_DEFAULT_GOES,
            PRIMARY_DEFAULT_COMES,
            PRIMARY_SUBNET_ROUTE_COMES,
            LINK_GOES_DOWN,
            ROUTE_OF_OURS_VANISHES,
            OLD_ROUTE_OF_OURS,
            ROUTE_OF_OURS_BY_ANOTHER_GATEWAY,
            ROUTE_OF_OURS_TO_ELSEWHERE,
            FOREIGN_DEFAULT,
            FOREIGN_ROUTE_TO_SUBNET,
            FOREIGN_ROUTES_TO_ELSEWHERE,
            WANTED_NO_MORE,
            WANTED_AGAIN
        }
    }

    private static InetAddress ip(int card) {
        return addressOf(card).address();
    }

    // ---- the node's past

    private static void give(TestNode node, int card, Past past, long metric) {
        int link = link(card);
        String address = addressOf(card).toString();
        switch (past) {
            case NEW -> {}
            case UP_WITHOUT_ADDRESS -> node.up(link);
            case OURS, OURS_WITH_ANOTHER_ADDRESS -> {
                node.up(link);
                node.address(link, address, InterfaceAddress.IFA_F_NOPREFIXROUTE);
                node.kernel.tryAdd(Route.onLink(SUBNET, link, ip(card), InterfacePlan.PROTOCOL, metric));
                node.kernel.tryAdd(Route.via(GATEWAY, ANYWHERE, link, ip(card), InterfacePlan.PROTOCOL, metric));
                if (past == Past.OURS_WITH_ANOTHER_ADDRESS) {
                    node.address(link, "10.9.0." + (100 + card) + "/24", InterfaceAddress.IFA_F_NOPREFIXROUTE);
                }
            }
            case GO_AGENT, GO_AGENT_WITH_KERNEL_ROUTE -> {
                node.up(link);
                node.address(link, address, 0);
                if (past == Past.GO_AGENT) {
                    node.kernel.removeRoutes(route -> route.leadsTo(link));
                }
                node.kernel.tryAdd(Route.onLink(SUBNET, link, ip(card), Route.PROTOCOL_BOOT, metric));
                node.kernel.tryAdd(Route.via(GATEWAY, ANYWHERE, link, ip(card), Route.PROTOCOL_BOOT, metric));
            }
            case DHCP -> {
                node.up(link);
                node.address(link, address, 0);
                node.kernel.tryAdd(Route.via(GATEWAY, ANYWHERE, link, ip(card), Route.PROTOCOL_DHCP, 2000 + metric));
            }
            case NETWORK_MANAGER -> {
                node.up(link);
                node.address(link, address, InterfaceAddress.IFA_F_NOPREFIXROUTE);
                node.add(Route.onLink(SUBNET, link, ip(card), Route.PROTOCOL_KERNEL, 100 + card));
            }
            case ANOTHER_ADDRESS -> {
                node.up(link);
                node.address(link, "10.9.0." + (100 + card) + "/24", InterfaceAddress.IFA_F_NOPREFIXROUTE);
            }
            case DOWN_WITH_ADDRESS -> node.address(link, address, 0);
        }
    }

    private static void happen(TestNode node, Event event) {
        int card = 1 + event.card() % (node.kernel.state().links().size() - 2);
        int link = link(card);
        int foreign = FOREIGN_PROTOCOLS.get(event.number() % FOREIGN_PROTOCOLS.size());
        switch (event.kind()) {
            case PRIMARY_DEFAULT_GOES -> node.kernel.removeRoutes(route -> route.leadsTo(ETH0) && route.isDefault());
            case PRIMARY_DEFAULT_COMES ->
                node.kernel.tryAdd(Route.via(GATEWAY, ANYWHERE, ETH0, ip(0), Route.PROTOCOL_DHCP, event.metric()));
            case PRIMARY_SUBNET_ROUTE_COMES ->
                node.kernel.tryAdd(Route.onLink(SUBNET, ETH0, ip(0), foreign, event.metric()));
            case LINK_GOES_DOWN -> node.kernel.setDown(link);
            case ROUTE_OF_OURS_VANISHES ->
                node.kernel.removeRoutes(route -> route.leadsTo(link)
                        && InterfacePlan.isOurs(route)
                        && route.isDefault() == (event.number() % 2 == 0));
            case OLD_ROUTE_OF_OURS ->
                node.kernel.tryAdd(
                        Route.via(GATEWAY, ANYWHERE, link, ip(card), InterfacePlan.PROTOCOL, event.metric()));
            case ROUTE_OF_OURS_BY_ANOTHER_GATEWAY ->
                node.kernel.tryAdd(Route.via(
                        IpPrefix.address("10.9.0.254"),
                        ANYWHERE,
                        link,
                        ip(card),
                        InterfacePlan.PROTOCOL,
                        event.metric()));
            case ROUTE_OF_OURS_TO_ELSEWHERE ->
                node.kernel.tryAdd(
                        Route.via(GATEWAY, ELSEWHERE, link, ip(card), InterfacePlan.PROTOCOL, event.metric()));
            case FOREIGN_DEFAULT ->
                node.kernel.tryAdd(Route.via(GATEWAY, ANYWHERE, link, ip(card), foreign, event.metric()));
            case FOREIGN_ROUTE_TO_SUBNET ->
                node.kernel.tryAdd(Route.onLink(SUBNET, link, ip(card), foreign, event.metric()));
            case FOREIGN_ROUTES_TO_ELSEWHERE -> {
                node.kernel.tryAdd(Route.via(GATEWAY, ELSEWHERE, link, ip(card), foreign, event.metric()));
                node.kernel.tryAdd(Route.via(GATEWAY, ELSEWHERE, ETH0, ip(0), foreign, 200));
            }
            case WANTED_NO_MORE -> node.wanted.removeIf(one -> one.mac().equals(TestNode.mac(card)));
            case WANTED_AGAIN -> {
                if (node.wanted.stream().noneMatch(one -> one.mac().equals(TestNode.mac(card)))) {
                    node.wanted.add(TestNode.wanted(card));
                }
            }
        }
    }

    // ---- what must hold

    /** For each destination that the primary interface has a route to: by how much ours loses; negative: it wins. */
    private static Map<IpPrefix, Long> lead(TestNode node) {
        Map<IpPrefix, Long> lead = new HashMap<>();
        for (IpPrefix destination : List.of(ANYWHERE, SUBNET)) {
            OptionalLong primary = node.kernel.best(destination, route -> route.leadsTo(ETH0));
            OptionalLong ours = node.kernel.best(destination, InterfacePlan::isOurs);
            if (primary.isPresent() && ours.isPresent()) {
                lead.put(destination, ours.getAsLong() - primary.getAsLong());
            }
        }
        return lead;
    }

    private static boolean isAdopted(Route route) {
        return route.protocol() == Route.PROTOCOL_BOOT && !route.leadsTo(ETH0);
    }

    private static List<Route> foreignRoutes(TestNode node) {
        return node.kernel.state().routes().stream()
                .filter(route -> !InterfacePlan.isOurs(route) && !isAdopted(route))
                .toList();
    }

    private static WantedInterfaces wanted(TestNode node, boolean primaryTold) {
        return primaryTold ? new WantedInterfaces(Optional.of(TestNode.PRIMARY_MAC), node.wanted) : node.wanted();
    }

    /** The same whether all of the table was read or what matters of it. */
    private static Plan plan(TestNode node, boolean primaryTold) {
        WantedInterfaces wanted = wanted(node, primaryTold);
        Plan plan = InterfacePlan.between(node.kernel.state(), wanted, 200);
        assertThat(InterfacePlan.between(ModelNetwork.asRead(node.kernel.state(), wanted), wanted, 200))
                .isEqualTo(plan);
        return plan;
    }

    /** Plans, carries the plan out and looks after each change. */
    private static Plan settle(TestNode node, boolean primaryTold) {
        NetState before = node.kernel.state();
        Set<Integer> primary = before.primary(wanted(node, primaryTold).primary());
        List<Route> foreign = foreignRoutes(node);
        Map<IpPrefix, Long> leadBefore = lead(node);
        Plan plan = plan(node, primaryTold);

        Set<Integer> wantedLinks = node.wanted.stream()
                .flatMap(one -> before.card(one.mac()).stream())
                .map(Link::index)
                .collect(Collectors.toSet());
        for (NetChange change : plan.changes()) {
            assertThat(wantedLinks).as(change.describe()).contains(change.link());
            assertThat(primary).as(change.describe()).doesNotContain(change.link());
            assertThat(change).isNotInstanceOf(NetChange.DeleteAddress.class);
            node.make(List.of(change));
            assertThat(foreignRoutes(node)).as("after " + change.describe()).containsExactlyElementsOf(foreign);
            lead(node).forEach((destination, lead) -> {
                Long had = leadBefore.get(destination);
                assertThat(lead > 0 || (had != null && had <= 0 && lead >= had))
                        .as("%s after %s: %s", destination, change.describe(), node.routes())
                        .isTrue();
            });
        }
        assertThat(node.kernel.state().addresses()).containsAll(before.addresses());
        // Only the links that are wanted may have changed at all.
        assertThat(node.kernel.state().links())
                .filteredOn(link -> !wantedLinks.contains(link.index()))
                .isEqualTo(before.links().stream()
                        .filter(link -> !wantedLinks.contains(link.index()))
                        .toList());
        assertThat(plan(node, primaryTold).changes()).as("a second plan").isEmpty();
        return plan;
    }

    private static void assertAsWanted(TestNode node, int card) {
        NetState state = node.kernel.state();
        Link link = state.link(link(card)).orElseThrow();
        assertThat(link.isUp()).isTrue();
        assertThat(link.mtu()).isEqualTo(8500);
        assertThat(state.has(link, addressOf(card))).isTrue();
        List<Route> ours = state.routesOn(link).filter(InterfacePlan::isOurs).toList();
        assertThat(ours).hasSize(2);
        for (Route route : ours) {
            assertThat(route.destination()).isIn(SUBNET, ANYWHERE);
            assertThat(route.source()).contains(ip(card));
            long others = state.routesTo(route.destination())
                    .filter(other -> other.leadsTo(ETH0))
                    .mapToLong(Route::metric)
                    .max()
                    .orElse(0);
            assertThat(route.metric()).isGreaterThan(others).isGreaterThanOrEqualTo(200);
        }
        assertThat(state.routesOn(link)).noneMatch(route -> isAdopted(route));
    }

    @Property(tries = 1_000)
    void anyPastLeadsToWhatIsWanted(
            @ForAll("pasts") List<Past> pasts,
            @ForAll("metrics") long primary,
            @ForAll("metrics") long before,
            @ForAll("debris") List<Event> debris,
            @ForAll boolean primaryTold) {
        TestNode node = new TestNode(pasts.size()).withDefault(primary);
        for (int card = 1; card <= pasts.size(); card++) {
            give(node, card, pasts.get(card - 1), before + card);
        }
        debris.stream()
                // A foreign default route that beats the primary's makes that card the primary one, if nobody tells.
                .filter(event -> primaryTold || event.kind() != Event.Kind.FOREIGN_DEFAULT || event.metric() > primary)
                .filter(event -> !pasts.get(event.card() % pasts.size()).foreign)
                .forEach(event -> happen(node, event));
        Set<Integer> notOurs = node.kernel.state().routes().stream()
                .filter(route -> !InterfacePlan.isOurs(route) && !isAdopted(route))
                .flatMap(route -> route.hops().stream())
                .map(Route.Hop::link)
                .collect(Collectors.toSet());
        Set<Integer> marked = node.kernel.state().routes().stream()
                .filter(InterfacePlan::isOurs)
                .map(route -> route.link().orElseThrow())
                .collect(Collectors.toSet());

        Plan plan = settle(node, primaryTold || primaryIsUnclear(node));

        for (int card = 1; card <= pasts.size(); card++) {
            int link = link(card);
            String name = "eth" + card;
            if (pasts.get(card - 1).foreign) {
                assertThat(plan.changes()).noneMatch(change -> change.link() == link);
                assertThat(plan.notes())
                        .anyMatch(note ->
                                note.subject().equals(name) && note.text().contains("checked, not changed"));
            } else if (!notOurs.contains(link) || marked.contains(link)) {
                assertAsWanted(node, card);
            }
        }
        lead(node).values().forEach(lead -> assertThat(lead).isPositive());
    }

    /** Without being told, the interface with the best default route counts as the primary one. */
    private static boolean primaryIsUnclear(TestNode node) {
        return !node.kernel.state().primary(Optional.empty()).equals(Set.of(ETH0));
    }

    @Property(tries = 500)
    void nothingThatHappensMakesOursWinOrCreepUp(
            @ForAll("cards") int cards, @ForAll("metrics") long primary, @ForAll("events") List<Event> events) {
        TestNode node = new TestNode(cards).withDefault(primary);
        settle(node, true);
        long highest = Math.max(200, primary + 1);
        for (Event event : events) {
            happen(node, event);
            highest = Math.max(highest, event.metric() + 1);
            settle(node, true);
            lead(node).forEach((destination, lead) -> {
                // Ours on a card that is wanted no more is out of our hands.
                if (node.wanted.size() == cards) {
                    assertThat(lead)
                            .as("%s after %s: %s", destination, event, node.routes())
                            .isPositive();
                }
            });
            // Each card has one route per destination, and one that it replaces may stand in its way.
            assertThat(node.kernel
                            .best(ANYWHERE, route -> InterfacePlan.isOurs(route))
                            .orElse(0))
                    .isLessThanOrEqualTo(highest + 2L * cards + events.size());
        }
    }

    /** The primary's route goes and comes back at the metric of systemd-networkd, again and again. */
    @Property(tries = 50)
    void aPrimaryRouteThatComesAndGoesMovesOursOnceAtMost(@ForAll("cards") int cards, @ForAll("metrics") long first) {
        TestNode node = new TestNode(cards).withDefault(first);
        settle(node, true);
        node.kernel.removeRoutes(route -> route.leadsTo(ETH0) && route.isDefault());
        settle(node, true);
        node.withDefault(1024);
        settle(node, true);
        List<String> raised = node.routes();
        for (int i = 0; i < 5; i++) {
            node.kernel.removeRoutes(route -> route.leadsTo(ETH0) && route.isDefault());
            assertThat(settle(node, true).changes()).isEmpty();
            node.withDefault(1024);
            assertThat(settle(node, true).changes()).isEmpty();
        }
        assertThat(node.routes()).containsExactlyInAnyOrderElementsOf(raised);
    }

    @Property(tries = 300)
    void cleaningUpTakesWhatIsOursAndNothingElse(
            @ForAll("pasts") List<Past> pasts, @ForAll("metrics") long primary, @ForAll("debris") List<Event> debris) {
        TestNode node = new TestNode(pasts.size()).withDefault(primary);
        for (int card = 1; card <= pasts.size(); card++) {
            give(node, card, pasts.get(card - 1), 300 + card);
        }
        debris.forEach(event -> happen(node, event));
        settle(node, true);
        NetState before = node.kernel.state();

        Plan cleanup = CleanupPlan.of(before);
        assertThat(CleanupPlan.of(ModelNetwork.asRead(before, WantedInterfaces.NONE)))
                .isEqualTo(cleanup);
        node.make(cleanup.changes());

        NetState after = node.kernel.state();
        assertThat(after.links()).isEqualTo(before.links());
        assertThat(after.routes())
                .isEqualTo(before.routes().stream()
                        .filter(route -> !InterfacePlan.isOurs(route))
                        .toList());
        assertThat(before.addresses())
                .filteredOn(address -> !after.addresses().contains(address))
                .allMatch(address -> !address.bringsPrefixRoute()
                        && node.wanted.stream()
                                .anyMatch(one -> one.address().orElseThrow().equals(address.address())));
        assertThat(CleanupPlan.of(after).changes()).isEmpty();
    }

    // ---- values

    @Provide
    Arbitrary<Integer> cards() {
        return Arbitraries.integers().between(1, 3);
    }

    @Provide
    Arbitrary<List<Past>> pasts() {
        return Arbitraries.of(Past.class).list().ofMinSize(1).ofMaxSize(3);
    }

    @Provide
    Arbitrary<Long> metrics() {
        return Arbitraries.oneOf(
                Arbitraries.of(0L, 100L, 199L, 200L, 201L, 512L, 1024L),
                Arbitraries.longs().between(195, 210));
    }

    @Provide
    Arbitrary<List<Event>> debris() {
        return event(List.of(
                        Event.Kind.OLD_ROUTE_OF_OURS,
                        Event.Kind.ROUTE_OF_OURS_BY_ANOTHER_GATEWAY,
                        Event.Kind.ROUTE_OF_OURS_TO_ELSEWHERE,
                        Event.Kind.FOREIGN_DEFAULT,
                        Event.Kind.FOREIGN_ROUTE_TO_SUBNET,
                        Event.Kind.FOREIGN_ROUTES_TO_ELSEWHERE,
                        Event.Kind.PRIMARY_SUBNET_ROUTE_COMES))
                .list()
                .ofMaxSize(5);
    }

    @Provide
    Arbitrary<List<Event>> events() {
        return event(List.of(Event.Kind.values())).list().ofMaxSize(12);
    }

    private Arbitrary<Event> event(List<Event.Kind> kinds) {
        return Combinators.combine(
                        Arbitraries.of(kinds),
                        Arbitraries.integers().between(0, 5),
                        Arbitraries.integers().between(0, 5),
                        metrics())
                .as(Event::new);
    }
}
