package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.netlink.Route.Hop;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Addresses and routes of {@link RtMessages}. */
class RouteMessagesTest {
    private static final int ETH0 = 3;
    private static final int ETH1 = 5;
    private static final InetAddress OWN = IpPrefix.address("10.9.0.3");
    private static final InetAddress GATEWAY = IpPrefix.address("10.9.0.253");
    private static final IpPrefix SUBNET = IpPrefix.parse("10.9.0.0/24");
    private static final IpPrefix ANYWHERE = IpPrefix.parse("0.0.0.0/0");

    private static List<InterfaceAddress> addresses() throws NetlinkFormatException {
        return Recorded.answer(Recorded.ROUTED, "addresses.hex", true).kept().stream()
                .flatMap(message -> RtMessages.address(message).stream())
                .toList();
    }

    private static List<Route> routes() throws NetlinkFormatException {
        return Recorded.answer(Recorded.ROUTED, "routes.hex", true).kept().stream()
                .flatMap(message -> RtMessages.routeOfMainTable(message).stream())
                .toList();
    }

    private static Route routeTo(String destination) throws NetlinkFormatException {
        return routes().stream()
                .filter(route -> route.destination().equals(IpPrefix.parse(destination)))
                .findFirst()
                .orElseThrow();
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static NetlinkMessage message(int type, String body) throws NetlinkFormatException {
        return NetlinkMessage.split(
                        NetlinkMessage.request(type, 0, 0, HexFormat.of().parseHex(body)))
                .get(0);
    }

    @Test
    void readsTheAddressesOfARecordedNode() throws NetlinkFormatException {
        assertThat(addresses())
                .hasSize(10)
                .contains(
                        new InterfaceAddress(1, IpPrefix.parse("127.0.0.1/8"), 0x80, 254),
                        new InterfaceAddress(ETH0, IpPrefix.parse("10.9.0.2/24"), 0x80, 0),
                        new InterfaceAddress(ETH1, IpPrefix.parse("10.9.0.3/24"), 0x280, 0));
    }

    @Test
    void tellsWhichAddressesBringARouteToTheirNetwork() throws NetlinkFormatException {
        assertThat(addresses())
                .filteredOn(address -> address.isGlobal() && !address.bringsPrefixRoute())
                .extracting(address -> address.address().toString())
                .containsExactly("10.9.0.3/24");
    }

    @Test
    void takesTheOwnAddressOfAPointToPointLinkNotTheOtherSides() throws NetlinkFormatException {
        assertThat(addresses())
                .extracting(address -> address.address().toString())
                .contains("10.77.0.1/32")
                .doesNotContain("10.77.0.2/32");
    }

    @Test
    void readsTheRoutesOfARecordedNode() throws NetlinkFormatException {
        assertThat(routes())
                .contains(
                        new Route(
                                ANYWHERE,
                                0,
                                1024,
                                254,
                                1,
                                16,
                                0,
                                Optional.of(IpPrefix.address("10.9.0.2")),
                                List.of(new Hop(ETH0, Optional.of(GATEWAY))),
                                0),
                        Route.via(GATEWAY, ANYWHERE, ETH1, OWN, 217, Route.MAX_METRIC),
                        Route.onLink(SUBNET, ETH0, IpPrefix.address("10.9.0.2"), Route.PROTOCOL_KERNEL, 0),
                        Route.onLink(SUBNET, ETH1, OWN, 217, 200));
    }

    @Test
    void showsRoutesOfSeveralWaysWithAllOfThem() throws NetlinkFormatException {
        Route route = routeTo("10.6.0.0/16");
        assertThat(route.metric()).isEqualTo(7);
        assertThat(route.hops())
                .containsExactly(
                        new Hop(ETH0, Optional.of(GATEWAY)),
                        new Hop(ETH1, Optional.of(IpPrefix.address("10.9.0.254"))));
        assertThat(route.link()).isEmpty();
        assertThat(route.leadsTo(ETH1)).isTrue();
    }

    @Test
    void showsRoutesByNexthopObjects() throws NetlinkFormatException {
        Route route = routeTo("10.8.0.0/16");
        assertThat(route.nextHopId()).isEqualTo(7);
        assertThat(route.metric()).isEqualTo(9);
        assertThat(route.leadsTo(ETH0)).isTrue();
    }

    @Test
    void showsRoutesThatLeadNowhere() throws NetlinkFormatException {
        Route route = routeTo("10.7.0.0/16");
        assertThat(route.isUnicast()).isFalse();
        assertThat(route.metric()).isEqualTo(5);
        assertThat(route.hops()).isEmpty();
    }

    @Test
    void readsIpv6RoutesAndGateways() throws NetlinkFormatException {
        assertThat(routeTo("0:0:0:0:0:0:0:0/0").gateway()).contains(IpPrefix.address("fd00:9::1"));
        assertThat(routeTo("10.5.0.0/16").gateway()).contains(IpPrefix.address("fd00:9::1"));
        // Java would take this for IPv4, in which no prefix has 96 bits.
        assertThat(routes()).extracting(Route::destination).anySatisfy(destination -> {
            assertThat(destination.length()).isEqualTo(96);
            assertThat(destination.isIpv4()).isFalse();
            assertThat(destination.network()).isEqualTo(destination);
        });
    }

    @Test
    void leavesOtherTablesOut() throws NetlinkFormatException {
        assertThat(routes()).allSatisfy(route -> assertThat(route.table()).isEqualTo(254));
        assertThat(routes())
                .filteredOn(route -> route.destination().equals(IpPrefix.parse("10.4.0.0/16")))
                .extracting(Route::tos)
                .containsExactly(0x10);
    }

    @Test
    void skipsWhatIsNoAddressAndNoRoute() throws NetlinkFormatException {
        String fourBytes = "08000100" + "0a090003";
        assertThat(RtMessages.address(message(RtMessages.NEW_ADDRESS, "02188000" + "05000000" + fourBytes)))
                .isPresent();
        assertThat(RtMessages.address(message(RtMessages.DELETE_ADDRESS, "02188000" + "05000000" + fourBytes)))
                .isEmpty();
        assertThat(RtMessages.address(message(RtMessages.NEW_ADDRESS, "02218000" + "05000000" + fourBytes)))
                .as("33 bits")
                .isEmpty();
        assertThat(RtMessages.address(message(RtMessages.NEW_ADDRESS, "0a188000" + "05000000" + fourBytes)))
                .as("IPv6 of four bytes")
                .isEmpty();
        assertThat(RtMessages.address(message(RtMessages.NEW_ADDRESS, "02188000" + "05000000")))
                .isEmpty();
        assertThat(RtMessages.route(message(RtMessages.NEW_ROUTE, "80000000" + "fe020001" + "00000000")))
                .as("multicast")
                .isEmpty();
        assertThat(RtMessages.routeOfMainTable(message(RtMessages.NEW_ROUTE, "0a000000" + "fe020001" + "00020000")))
                .as("cloned")
                .isEmpty();
    }

    @Test
    void hearsOfRoutesThatComeOrGoOnlyWhereTheyAreWanted() throws NetlinkFormatException {
        String defaultRoute = "02000000" + "fe030001" + "00000000";
        String ofAnotherTable = "02000000" + "fd030001" + "00000000";
        for (int type : new int[] {RtMessages.NEW_ROUTE, RtMessages.DELETE_ROUTE}) {
            assertThat(RtMessages.mayMatter(message(type, defaultRoute), Route::isDefault))
                    .isTrue();
            assertThat(RtMessages.mayMatter(message(type, defaultRoute), _ -> false))
                    .isFalse();
            assertThat(RtMessages.mayMatter(message(type, ofAnotherTable), _ -> true))
                    .isFalse();
        }
        assertThat(RtMessages.mayMatter(message(RtMessages.NEW_ADDRESS, ""), _ -> false))
                .isTrue();
    }

    @Test
    void asksForAllAddressesAndRoutes() {
        assertThat(hex(RtMessages.allAddresses())).isEqualTo("00".repeat(8));
        assertThat(hex(RtMessages.allRoutes())).isEqualTo("00".repeat(12));
    }

    @Test
    void setsTheMtuWithoutTouchingFlags() {
        assertThat(hex(RtMessages.mtu(5, 8500)))
                .isEqualTo("00000000" + "05000000" + "00000000" + "00000000" + "08000400" + "34210000");
    }

    @Test
    void setsALinkUpWithoutTouchingOtherFlags() {
        assertThat(hex(RtMessages.up(5))).isEqualTo("00000000" + "05000000" + "01000000" + "01000000");
    }

    @Test
    void addsAnAddressWithoutARouteToItsNetwork() {
        var address = new InterfaceAddress(
                5, IpPrefix.parse("10.9.0.3/24"), InterfaceAddress.IFA_F_NOPREFIXROUTE, Route.SCOPE_UNIVERSE);
        assertThat(hex(RtMessages.address(address)))
                .isEqualTo("02180000" + "05000000" + "08000200" + "0a090003" + "08000100" + "0a090003" + "08000800"
                        + "00020000");
    }

    @Test
    void addsARouteToALinkWithItsSource() {
        assertThat(hex(RtMessages.newRoute(Route.onLink(SUBNET, 5, OWN, 217, 200))))
                .isEqualTo("02180000" + "fed9fd01" + "00000000" + "08000100" + "0a090000" + "08000400" + "05000000"
                        + "08000600" + "c8000000" + "08000700" + "0a090003");
    }

    @Test
    void addsARouteThroughAGatewayOfScopeUniverse() {
        assertThat(hex(RtMessages.newRoute(Route.via(GATEWAY, ANYWHERE, 5, OWN, 217, Route.MAX_METRIC))))
                .isEqualTo("02000000" + "fed90001" + "00000000" + "08000400" + "05000000" + "08000600" + "ffffffff"
                        + "08000500" + "0a0900fd" + "08000700" + "0a090003");
    }

    @Test
    void deletesARouteByInterfaceMetricAndMakerWhateverItsScope() {
        assertThat(hex(RtMessages.deleteRoute(Route.onLink(SUBNET, 5, OWN, 217, 200))))
                .isEqualTo("02180000" + "fed9ff00" + "00000000" + "08000100" + "0a090000" + "08000400" + "05000000"
                        + "08000600" + "c8000000");
        assertThat(hex(RtMessages.deleteRoute(Route.via(GATEWAY, ANYWHERE, 5, OWN, 3, 200))))
                .isEqualTo("02000000" + "fe03ff00" + "00000000" + "08000400" + "05000000" + "08000600" + "c8000000"
                        + "08000500" + "0a0900fd");
    }

    @Test
    void refusesToWriteRoutesThatHaveNotExactlyOneWay() throws NetlinkFormatException {
        for (String destination : List.of("10.6.0.0/16", "10.7.0.0/16", "10.8.0.0/16")) {
            Route route = routeTo(destination);
            assertThatThrownBy(() -> RtMessages.newRoute(route)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> RtMessages.deleteRoute(route)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
