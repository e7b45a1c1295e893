package io.erdma.node.net;

import static io.erdma.node.net.TestNode.ANYWHERE;
import static io.erdma.node.net.TestNode.ETH0;
import static io.erdma.node.net.TestNode.GATEWAY;
import static io.erdma.node.net.TestNode.SUBNET;
import static io.erdma.node.net.TestNode.addressOf;
import static io.erdma.node.net.TestNode.described;
import static io.erdma.node.net.TestNode.link;
import static io.erdma.node.net.TestNode.mac;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import io.erdma.node.net.Note.Severity;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InterfacePlanTest {
    private static final int OURS = InterfacePlan.PROTOCOL;
    private static final int NOPREFIXROUTE = InterfaceAddress.IFA_F_NOPREFIXROUTE;

    private static InetAddress ip(int card) {
        return addressOf(card).address();
    }

    private static Route onLink(int card, int protocol, long metric) {
        return Route.onLink(SUBNET, link(card), ip(card), protocol, metric);
    }

    private static Route byGateway(int card, int protocol, long metric) {
        return Route.via(GATEWAY, ANYWHERE, link(card), ip(card), protocol, metric);
    }

    /** Card 1 as the agent left it, with its routes at these metrics. */
    private static TestNode configured(long primaryMetric, long onLink, long byGateway) {
        TestNode node = new TestNode(1).withDefault(primaryMetric);
        node.wanted.set(0, withoutMtu(node.wanted.getFirst()));
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", NOPREFIXROUTE);
        node.add(onLink(1, OURS, onLink));
        node.add(byGateway(1, OURS, byGateway));
        return node;
    }

    private static WantedInterface withoutMtu(WantedInterface one) {
        return new WantedInterface(one.mac(), one.cardIndex(), one.address(), one.gateway(), OptionalInt.empty());
    }

    private static WantedInterface withAddress(WantedInterface one, Optional<IpPrefix> address) {
        return new WantedInterface(one.mac(), one.cardIndex(), address, one.gateway(), one.mtu());
    }

    private static void assertNote(Plan plan, String subject, String text) {
        assertThat(plan.notes()).anySatisfy(note -> {
            assertThat(note.subject()).isEqualTo(subject);
            assertThat(note.text()).contains(text);
        });
    }

    @Test
    void setsACardUpInAnOrderThatTheKernelTakes() {
        TestNode node = new TestNode(1).withDefault(0);

        assertThat(described(node.settle()))
                .containsExactly(
                        "set link eth1 mtu 8500",
                        "set link eth1 up",
                        "add address 10.9.0.3/24 dev eth1 noprefixroute",
                        "add route 10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 200",
                        "add route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 200");
        assertThat(node.plan()).isEqualTo(Plan.NONE);
    }

    @ParameterizedTest
    @CsvSource({"0, 200", "100, 200", "199, 200", "200, 201", "201, 202", "512, 513", "1024, 1025"})
    void staysBehindThePrimaryInterfaceWhateverItsMetric(long primary, long expected) {
        TestNode node = new TestNode(2).withDefault(primary);
        node.settle();

        assertThat(node.routesOf(1))
                .containsExactly(
                        "10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 200",
                        "default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric " + expected);
        assertThat(node.routesOf(2))
                .containsExactly(
                        "10.9.0.0/24 dev eth2 proto 217 scope link src 10.9.0.4 metric 201",
                        "default via 10.9.0.253 dev eth2 proto 217 src 10.9.0.4 metric " + (expected + 1));
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void putsAllRoutesToLinksBeforeAnyThroughAGateway() {
        Plan plan = new TestNode(2).withDefault(0).plan();

        assertThat(described(plan))
                .filteredOn(line -> line.startsWith("add route"))
                .extracting(line -> line.contains("default"))
                .containsExactly(false, false, true, true);
    }

    @Test
    void ordersCardsByIndexThenAddress() {
        TestNode node = new TestNode(3).withDefault(0);
        node.wanted.clear();
        node.wanted.add(new WantedInterface(
                mac(1), OptionalInt.empty(), Optional.of(addressOf(1)), Optional.empty(), OptionalInt.empty()));
        node.wanted.add(new WantedInterface(
                mac(3), OptionalInt.of(0), Optional.of(addressOf(3)), Optional.empty(), OptionalInt.empty()));
        node.wanted.add(new WantedInterface(
                mac(2), OptionalInt.of(0), Optional.of(addressOf(2)), Optional.empty(), OptionalInt.empty()));
        node.settle();

        assertThat(node.routesOf(2).getFirst()).endsWith("metric 200");
        assertThat(node.routesOf(3).getFirst()).endsWith("metric 201");
        assertThat(node.routesOf(1).getFirst()).endsWith("metric 202");
    }

    @Test
    void takesAFloorOfAnyHeight() {
        assertThat(described(new TestNode(1).withDefault(0).plan(100_000)))
                .anyMatch(line -> line.endsWith("metric 100000"));
        assertThatThrownBy(() -> new TestNode(1).plan(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void raisesItsMetricsBeforeItGivesTheOldOnesUp() {
        TestNode node = configured(100, 200, 200);
        node.kernel.removeRoutes(route -> route.link().equals(OptionalInt.of(ETH0)) && route.isDefault());
        node.withDefault(1024);

        assertThat(described(node.settle()))
                .containsExactly(
                        "add route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 1025",
                        "delete route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 200");
        assertThat(node.plan()).isEqualTo(Plan.NONE);
    }

    @Test
    void neverLowersAMetric() {
        assertThat(configured(100, 4000, 1025).plan()).isEqualTo(Plan.NONE);
    }

    @Test
    void doesNotTakeOverWhileThePrimaryRouteIsAwayForAMoment() {
        TestNode node = configured(1024, 200, 1025);
        node.kernel.removeRoutes(route -> route.link().equals(OptionalInt.of(ETH0)) && route.isDefault());

        assertThat(node.plan().changes()).isEmpty();
        node.withDefault(1024);
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void addsNoRouteBeyondTheLastMetric() {
        TestNode node = new TestNode(1).withDefault(Route.MAX_METRIC);
        Plan plan = node.settle();

        assertThat(described(plan)).noneMatch(line -> line.contains("default"));
        assertNote(plan, "eth1", "no route to anywhere: no metric up to 4294967295 is left above 4294967295");
    }

    // ---- which interfaces

    /** R13: the primary interface has any name, and the eRDMA card may be called eth0. */
    @Test
    void tellsThePrimaryInterfaceByItsRouteNotByItsName() {
        ModelKernel kernel = new ModelKernel();
        kernel.addLink(7, "ens5", mac(0), true);
        kernel.addLink(8, "eth0", mac(1), false);
        NetState state = new NetState(
                kernel.state().links(),
                List.of(),
                List.of(Route.via(GATEWAY, ANYWHERE, 7, IpPrefix.address("10.9.0.2"), Route.PROTOCOL_DHCP, 100)));
        var both = new WantedInterfaces(
                Optional.empty(), List.of(TestNode.wanted(1), withMac(TestNode.wanted(2), mac(0))));
        Plan plan = InterfacePlan.between(state, both, 200);

        assertThat(plan.changes()).hasSize(5).allMatch(change -> change.dev().equals("eth0"));
        assertThat(plan.notes())
                .containsExactly(new Note(
                        "ens5", Severity.INFO, "the node's primary interface, its configuration is left alone"));
    }

    private static WantedInterface withMac(WantedInterface one, MacAddress mac) {
        return new WantedInterface(mac, one.cardIndex(), one.address(), one.gateway(), one.mtu());
    }

    @Test
    void leavesThePrimaryInterfaceAloneThatItWasToldOf() {
        TestNode node = new TestNode(2).withDefault(0);
        var wanted = new WantedInterfaces(Optional.of(mac(1)), node.wanted);

        assertThat(InterfacePlan.between(node.kernel.state(), wanted, 200).changes())
                .isNotEmpty()
                .allMatch(change -> change.dev().equals("eth2"));
    }

    /** R14: a node without IPv4. */
    @Test
    void tellsThePrimaryInterfaceByItsIpv6RouteWhereThereIsNoOther() {
        TestNode node = new TestNode(1);
        Route byIpv6 = Route.via(
                IpPrefix.address("fd00:9::1"),
                IpPrefix.parse("::/0"),
                link(1),
                IpPrefix.address("fd00:9::3"),
                Route.PROTOCOL_RA,
                1024);
        NetState state = node.kernel.state();

        Plan plan = InterfacePlan.between(
                new NetState(state.links(), state.addresses(), List.of(byIpv6)), node.wanted(), 200);
        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "the node's primary interface");
    }

    @Test
    void doesNotTakeItsOwnDefaultRouteForThePrimarys() {
        TestNode node = configured(100, 200, 200);
        node.kernel.removeRoutes(route -> route.link().equals(OptionalInt.of(ETH0)));

        assertThat(node.plan()).isEqualTo(Plan.NONE);
    }

    @Test
    void findsACardByTheAddressBurntInBeforeTheOneInUse() {
        Link bond = new Link(
                5,
                "bond0",
                0,
                1500,
                2,
                Optional.empty(),
                Optional.of(mac(1)),
                Optional.empty(),
                Optional.of("bond"),
                Optional.empty());
        Link card = new Link(
                9,
                "eth1",
                0,
                1500,
                2,
                Optional.empty(),
                Optional.of(mac(77)),
                Optional.of(mac(1)),
                Optional.empty(),
                Optional.empty());
        Link plain = new Link(
                8,
                "eth2",
                0,
                1500,
                2,
                Optional.empty(),
                Optional.of(mac(1)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());

        assertThat(new NetState(List.of(bond, plain, card), List.of(), List.of()).card(mac(1)))
                .contains(card);
        assertThat(new NetState(List.of(bond, plain), List.of(), List.of()).card(mac(1)))
                .contains(plain);
    }

    @Test
    void pointsToTheWhitelistWhenACardHasGone() {
        TestNode node = new TestNode(1).withDefault(0);
        node.kernel.removeLink(link(1));
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, mac(1).toString(), "a pod's network namespace");
        assertNote(plan, mac(1).toString(), "Terway's ENI whitelist");
    }

    // ---- what others did

    @Test
    void adoptsTheRoutesOfTheGoAgent() {
        TestNode node = new TestNode(1).withDefault(100);
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", 0);
        node.kernel.removeRoutes(route -> route.leadsTo(link(1)));
        node.add(onLink(1, Route.PROTOCOL_BOOT, 200));
        node.add(byGateway(1, Route.PROTOCOL_BOOT, 200));

        assertThat(described(node.settle()))
                .containsExactly(
                        "set link eth1 mtu 8500",
                        "add route 10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 201",
                        "add route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 201",
                        "delete route 10.9.0.0/24 dev eth1 proto boot scope link src 10.9.0.3 metric 200",
                        "delete route default via 10.9.0.253 dev eth1 proto boot src 10.9.0.3 metric 200");
        assertThat(node.plan()).isEqualTo(Plan.NONE);
    }

    @ParameterizedTest
    @ValueSource(ints = {Route.PROTOCOL_STATIC, Route.PROTOCOL_DHCP, Route.PROTOCOL_RA, 42})
    void leavesRoutesOfOthersOnItsCardsAlone(int protocol) {
        TestNode node = configured(100, 200, 200);
        node.add(byGateway(1, protocol, 50));
        node.add(Route.via(GATEWAY, IpPrefix.parse("10.50.0.0/16"), link(1), ip(1), protocol, 0));
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "metric 50 takes over traffic of default via 10.9.0.253 dev eth0 proto dhcp");
        assertThat(plan.notes()).hasSize(1);
    }

    @Test
    void removesItsOwnRoutesThatAreNoLongerPlanned() {
        TestNode node = configured(100, 200, 200);
        node.add(Route.via(GATEWAY, IpPrefix.parse("10.50.0.0/16"), link(1), ip(1), OURS, 200));
        node.add(Route.via(IpPrefix.address("10.9.0.254"), ANYWHERE, link(1), ip(1), OURS, 300));

        assertThat(described(node.settle()))
                .containsExactlyInAnyOrder(
                        "delete route 10.50.0.0/16 via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 200",
                        "delete route default via 10.9.0.254 dev eth1 proto 217 src 10.9.0.3 metric 300");
    }

    @Test
    void leavesACardAloneThatTheKernelsRouteShowsToBeSetUpByOthers() {
        TestNode node = new TestNode(1).withDefault(100);
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", 0);
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "set up by the kernel, for an address that somebody added");
        assertNote(plan, "eth1", "Its MTU is 1500 instead of 8500.");
        assertNote(plan, "eth1", "takes over traffic of 10.9.0.0/24 dev eth0");
    }

    @Test
    void leavesACardAloneThatANetworkManagerSetUp() {
        TestNode node = new TestNode(1).withDefault(100);
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", NOPREFIXROUTE);
        node.add(onLink(1, Route.PROTOCOL_DHCP, 1024));
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "set up by a DHCP client (route 10.9.0.0/24 dev eth1 proto dhcp");
    }

    @Test
    void leavesACardAloneThatHasAnotherAddress() {
        TestNode node = new TestNode(1).withDefault(100);
        node.up(link(1));
        node.address(link(1), "10.9.0.77/24", NOPREFIXROUTE);
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "has 10.9.0.77/24 from somebody else");
        assertNote(plan, "eth1", "It lacks its address 10.9.0.3/24.");
    }

    /** Its routes still have to stay behind the primary's. */
    @Test
    void goesOnWithACardOfItsOwnThatGotAnotherAddressToo() {
        TestNode node = configured(1024, 200, 200);
        node.address(link(1), "10.9.0.77/24", NOPREFIXROUTE);
        Plan plan = node.settle();

        assertThat(described(plan)).anyMatch(line -> line.startsWith("add route") && line.endsWith("metric 1025"));
        assertNote(plan, "eth1", "has 10.9.0.77/24 too, which somebody else added");
        assertNote(plan, "eth1", "whitelist");
    }

    @Test
    void doesNotSetACardUpWhoseAddressWouldBringARouteOfTheKernel() {
        TestNode node = new TestNode(1).withDefault(100);
        node.address(link(1), "10.9.0.3/24", 0);
        Plan plan = node.plan();

        assertThat(plan.changes()).isEmpty();
        assertNote(plan, "eth1", "10.9.0.3/24 would bring a route of the kernel with metric 0 when it comes up");
    }

    @Test
    void bringsRoutesBackThatALinkLostWhileItWasDown() {
        TestNode node = configured(1024, 200, 1025);
        node.kernel.setDown(link(1));

        assertThat(described(node.settle()))
                .containsExactly(
                        "set link eth1 up",
                        "add route 10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 200",
                        "add route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 1025");
    }

    @Test
    void countsRoutesOfSeveralWaysAndThoseThatLeadNowhere() {
        TestNode node = configured(100, 200, 200);
        NetState state = node.kernel.state();
        List<Route> routes = new ArrayList<>(state.routes());
        routes.add(new Route(
                ANYWHERE,
                0,
                300,
                254,
                1,
                Route.PROTOCOL_STATIC,
                0,
                Optional.empty(),
                List.of(
                        new Route.Hop(link(1), Optional.of(GATEWAY)),
                        new Route.Hop(ETH0, Optional.of(IpPrefix.address("10.9.0.254")))),
                0));
        // Leads nowhere: no reason to go above it, but its metric is taken.
        routes.add(new Route(ANYWHERE, 0, 301, 254, 6, Route.PROTOCOL_STATIC, 0, Optional.empty(), List.of(), 0));
        routes.add(new Route(
                ANYWHERE, 0, 4_000_000_000L, 254, 7, Route.PROTOCOL_STATIC, 0, Optional.empty(), List.of(), 0));

        assertThat(described(InterfacePlan.between(
                        new NetState(state.links(), state.addresses(), routes), node.wanted(), 200)))
                .contains("add route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 302");
    }

    /** The rest of the table would climb each time the list of interfaces changes. */
    @Test
    void isNotRaisedByItsOwnRoutesOnCardsThatItNoLongerLooksAfter() {
        TestNode node = new TestNode(2).withDefault(0);
        node.settle();
        List<String> before = node.routes();
        WantedInterface second = node.wanted.removeLast();
        assertThat(node.settle().changes()).isEmpty();
        node.wanted.set(0, second);
        assertThat(node.settle().changes()).isEmpty();

        assertThat(node.routes()).isEqualTo(before);
    }

    // ---- addresses

    /** R14: there the device is advertised all the same; its traffic needs no IPv4. */
    @Test
    void onlyBringsUpACardWithoutIpv4() {
        TestNode node = new TestNode(2).withDefault(0);
        node.wanted.set(0, withAddress(node.wanted.get(0), Optional.empty()));
        node.wanted.set(1, withAddress(node.wanted.get(1), Optional.of(IpPrefix.parse("fd00:9::3/64"))));
        Plan plan = node.settle();

        assertThat(described(plan))
                .containsExactly(
                        "set link eth1 mtu 8500", "set link eth1 up", "set link eth2 mtu 8500", "set link eth2 up");
        assertNote(plan, "eth1", "no IPv4 address is known");
        assertNote(plan, "eth2", "is IPv6");
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void keepsItsRoutesWhileTheAddressIsUnknownUnlessTheyTakeOver() {
        TestNode node = configured(100, 200, 200);
        node.wanted.set(0, withAddress(node.wanted.getFirst(), Optional.empty()));
        assertThat(node.plan().changes()).isEmpty();

        node.withDefault(1024);
        assertThat(described(node.plan()))
                .containsExactly("delete route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 200");
    }

    /** A metadata service that tells nonsense must not cut the node off its own network. */
    @Test
    void neverGivesACardTheAddressOfAnotherInterface() {
        TestNode node = new TestNode(1).withDefault(0);
        node.wanted.set(0, withAddress(node.wanted.getFirst(), Optional.of(IpPrefix.parse("10.9.0.2/24"))));
        Plan plan = node.settle();

        assertThat(described(plan)).containsExactly("set link eth1 mtu 8500", "set link eth1 up");
        assertNote(plan, "eth1", "its address 10.9.0.2/24 is that of eth0 already");
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void givesAnAddressToldOfTwoCardsToOneOfThem() {
        TestNode node = new TestNode(2).withDefault(0);
        node.wanted.set(1, withAddress(node.wanted.get(1), Optional.of(addressOf(1))));
        Plan plan = node.settle();

        assertThat(described(plan))
                .filteredOn(line -> line.startsWith("add address"))
                .containsExactly("add address 10.9.0.3/24 dev eth1 noprefixroute");
        assertNote(plan, "eth2", "its address 10.9.0.3/24 is that of another eRDMA interface already");
        assertThat(node.routesOf(2)).isEmpty();
        assertThat(node.plan().changes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0/16",
                "127.0.0.1/16",
                "224.0.0.1/24",
                "255.255.255.255/24",
                "169.254.7.7/16",
                "100.100.100.3/24",
                "10.9.0.3/0",
                "10.9.0.3/1",
                "10.9.0.3/8",
                "10.9.0.3/15",
                "10.9.0.3/30",
                "10.9.0.3/32"
            })
    void givesACardNoAddressThatCannotBeOfAVSwitch(String address) {
        TestNode node = new TestNode(1).withDefault(0);
        node.wanted.set(0, withAddress(node.wanted.getFirst(), Optional.of(IpPrefix.parse(address))));

        assertThat(described(node.plan())).containsExactly("set link eth1 mtu 8500", "set link eth1 up");
        assertNote(node.plan(), "eth1", "its address " + address + " cannot be one of a vSwitch");
    }

    /** The kernel prefers the longer prefix to any metric, so a wrong netmask would take over the primary's neighbours. */
    @ParameterizedTest
    @ValueSource(strings = {"10.9.0.3/25", "10.9.0.3/29", "10.9.0.3/16"})
    void addsNoRouteToANetworkThatOverlapsWithThePrimarys(String address) {
        TestNode node = new TestNode(1).withDefault(0);
        node.wanted.set(0, withAddress(node.wanted.getFirst(), Optional.of(IpPrefix.parse(address))));
        Plan plan = node.settle();

        assertThat(described(plan))
                .containsExactly(
                        "set link eth1 mtu 8500",
                        "set link eth1 up",
                        "add address " + address + " dev eth1 noprefixroute");
        assertNote(plan, "eth1", "overlaps with 10.9.0.0/24 of eth0");
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void takesItsRoutesBackWhenThePrimarysNetworkTurnsOutToOverlap() {
        TestNode node = configured(100, 200, 200);
        node.address(ETH0, "10.9.1.2/16", InterfaceAddress.IFA_F_NOPREFIXROUTE);

        assertThat(described(node.settle())).hasSize(2).allMatch(line -> line.startsWith("delete route "));
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void leavesACardAloneThatBelongsToABridge() {
        TestNode node = new TestNode(2).withDefault(0);
        node.kernel.addLink(20, "br0", mac(20), true);
        node.kernel.enslave(link(1), 20);
        Plan plan = node.settle();

        assertThat(plan.changes()).isNotEmpty().noneMatch(change -> change.link() == link(1));
        assertNote(plan, "eth1", "belongs to br0");
        assertNote(plan, "eth1", "ip link set eth1 nomaster");
        assertThat(node.plan().changes()).isEmpty();
    }

    @Test
    void takesBackOnlyRoutesThatTakeOverWhenItsCardBecomesAPort() {
        TestNode node = configured(100, 200, 200);
        node.kernel.addLink(20, "br0", mac(20), true);
        node.kernel.enslave(link(1), 20);
        assertThat(node.plan().changes()).isEmpty();

        node.withDefault(1024);
        assertThat(described(node.settle()))
                .containsExactly("delete route default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 200");
    }

    @Test
    void saysOfManyRoutesThatTakeOverOnlySome() {
        TestNode node = configured(100, 200, 200);
        for (int i = 0; i < 50; i++) {
            IpPrefix destination = IpPrefix.parse("10.50." + i + ".0/24");
            node.add(Route.via(GATEWAY, destination, link(1), addressOf(1).address(), 186, 20));
            node.add(Route.via(GATEWAY, destination, ETH0, IpPrefix.address("10.9.0.2"), 186, 30));
        }

        assertThat(node.plan().notes()).hasSize(5);
    }

    @Test
    void addsNoRouteThroughAGatewayThatIsElsewhere() {
        TestNode node = new TestNode(1).withDefault(0);
        WantedInterface one = node.wanted.getFirst();
        node.wanted.set(
                0,
                new WantedInterface(
                        one.mac(),
                        one.cardIndex(),
                        one.address(),
                        Optional.of(IpPrefix.address("10.8.0.1")),
                        one.mtu()));
        Plan plan = node.settle();

        assertThat(described(plan)).noneMatch(line -> line.contains("default"));
        assertNote(plan, "eth1", "its gateway 10.8.0.1 is not in its network 10.9.0.0/24");
    }

    @Test
    void noticesIpv6RoutesOfOthersThatTakeOverButNotThoseOfEachLink() {
        TestNode node = configured(100, 200, 200);
        NetState state = node.kernel.state();
        List<Route> routes = new ArrayList<>(state.routes());
        for (String destination : List.of("fe80::/64", "fd00:9::/64")) {
            for (int link : new int[] {ETH0, link(1)}) {
                routes.add(new Route(
                        IpPrefix.parse(destination),
                        0,
                        256,
                        254,
                        1,
                        Route.PROTOCOL_RA,
                        0,
                        Optional.empty(),
                        List.of(new Route.Hop(link, Optional.empty())),
                        0));
            }
        }
        Plan plan = InterfacePlan.between(new NetState(state.links(), state.addresses(), routes), node.wanted(), 200);

        assertThat(plan.changes()).isEmpty();
        assertThat(plan.notes()).hasSize(1);
        assertNote(plan, "eth1", "fd00:9:0:0:0:0:0:0/64 dev eth1 proto ra metric 256 takes over traffic");
    }

    @Test
    void wantsNothingWhereNothingIsWanted() {
        assertThat(InterfacePlan.between(configured(100, 200, 200).kernel.state(), WantedInterfaces.NONE, 200))
                .isEqualTo(Plan.NONE);
    }
}
