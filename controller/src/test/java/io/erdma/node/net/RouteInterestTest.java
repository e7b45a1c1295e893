package io.erdma.node.net;

import static io.erdma.node.net.TestNode.ANYWHERE;
import static io.erdma.node.net.TestNode.ETH0;
import static io.erdma.node.net.TestNode.GATEWAY;
import static io.erdma.node.net.TestNode.SUBNET;
import static io.erdma.node.net.TestNode.addressOf;
import static io.erdma.node.net.TestNode.link;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Route;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RouteInterestTest {
    private static final int BGP = 186;
    private static final IpPrefix ELSEWHERE = IpPrefix.parse("10.50.0.0/16");

    private final TestNode node = new TestNode(2).withDefault(100);
    private final AtomicInteger passes = new AtomicInteger();

    private static Route route(IpPrefix destination, int link, int protocol) {
        InetAddress source = protocol == InterfacePlan.PROTOCOL ? ip(1) : IpPrefix.address("10.9.0.77");
        return Route.via(GATEWAY, destination, link, source, protocol, 20);
    }

    private static Route other(int number) {
        return route(
                IpPrefix.parse("30." + (number >> 16) + "." + (number >> 8 & 255) + "." + (number & 255) + "/32"),
                ETH0,
                BGP);
    }

    private RouteInterest.Reading read(RouteInterest last, List<Route> routes) throws Exception {
        return RouteInterest.of(node.kernel.state(), node.wanted())
                .read(
                        passing -> {
                            passes.incrementAndGet();
                            var these = passing.get();
                            return routes.stream().filter(these).toList();
                        },
                        last);
    }

    @Test
    void isInDefaultRoutesInThoseOfOurCardsAndInThoseToTheirNetworks() throws Exception {
        List<Route> matter = List.of(
                route(ANYWHERE, ETH0, BGP),
                route(IpPrefix.parse("0:0:0:0:0:0:0:0/0"), ETH0, BGP),
                route(SUBNET, ETH0, Route.PROTOCOL_KERNEL),
                route(ELSEWHERE, link(2), BGP),
                route(IpPrefix.parse("10.51.0.0/16"), 77, InterfacePlan.PROTOCOL),
                Route.onLink(IpPrefix.parse("10.52.0.0/16"), ETH0, ip(1), BGP, 0));
        List<Route> all = Stream.concat(
                        matter.stream(), Stream.of(other(1), route(IpPrefix.parse("10.9.0.0/16"), ETH0, BGP)))
                .toList();

        assertThat(read(RouteInterest.NONE, all).routes()).isEqualTo(matter);
    }

    private static InetAddress ip(int card) {
        return addressOf(card).address();
    }

    @Test
    void readsAgainForWhatOthersRoutesOnOurCardsCompeteWith() throws Exception {
        Route ofTheCard = route(ELSEWHERE, link(1), BGP);
        Route ofThePrimary = route(ELSEWHERE, ETH0, BGP);
        RouteInterest.Reading first = read(RouteInterest.NONE, List.of(ofThePrimary, ofTheCard));
        assertThat(first.routes()).containsExactly(ofThePrimary, ofTheCard);
        assertThat(passes).hasValue(2);

        assertThat(read(first.interest(), List.of(ofThePrimary, ofTheCard)).routes())
                .containsExactly(ofThePrimary, ofTheCard);
        assertThat(passes).as("the next time it knows").hasValue(3);

        RouteInterest.Reading gone = read(first.interest(), List.of(ofThePrimary));
        assertThat(gone.interest().test(ofThePrimary))
                .as("once more, then it forgets")
                .isFalse();
    }

    @Test
    void keepsABoundedNumberOfAMillionRoutesOnACardAndEachThatDecides() throws Exception {
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i < 1_000_000; i += 100) {
            routes.add(route(other(i).destination(), link(1), BGP));
        }
        List<Route> decisive = List.of(
                route(SUBNET, ETH0, BGP),
                route(SUBNET, link(1), Route.PROTOCOL_KERNEL),
                route(ANYWHERE, link(1), Route.PROTOCOL_BOOT),
                route(ELSEWHERE, link(1), InterfacePlan.PROTOCOL));
        routes.addAll(decisive);

        assertThat(read(RouteInterest.NONE, routes).routes())
                .hasSizeLessThanOrEqualTo(2 * RouteInterest.MOST_OF_OTHERS + decisive.size())
                .containsAll(decisive);
    }
}
