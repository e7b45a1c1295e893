package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.LinkChange.Changed;
import io.erdma.netlink.LinkChange.Lost;
import io.erdma.netlink.LinkChange.Removed;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * What {@link RtNetlinkIT} runs in a process of its own, inside a network namespace that ends with that process: the
 * test's own threads live in the machine's namespace.
 */
enum NamespaceScenario {
    SEES_A_LINK_GO_DOWN_AND_COME_BACK {
        @Override
        void run(RtNetlink netlink) throws Exception {
            ip("link add v0 type veth peer name v1", "link set v0 up", "link set v1 up");
            awaitChange(netlink, isLink("v0", Link::hasCarrier));
            ip("link set v1 down");
            // Its own flags say up; only the carrier has gone.
            awaitChange(netlink, isLink("v0", link -> link.isUp() && !link.hasCarrier()));
            ip("link set v0 down");
            awaitChange(netlink, isLink("v0", link -> !link.isUp()));
            ip("link set v0 up", "link set v1 up");
            awaitChange(netlink, isLink("v0", Link::hasCarrier));
        }
    },
    FOLLOWS_RENAMED_AND_REMOVED_LINKS {
        @Override
        void run(RtNetlink netlink) throws Exception {
            ip("link add v0 type veth peer name v1");
            int index = netlink.links().stream()
                    .filter(link -> link.name().equals("v0"))
                    .findFirst()
                    .orElseThrow()
                    .index();
            ip("link set v0 name eth0");
            awaitChange(netlink, isLink("eth0", link -> link.index() == index));
            ip("link del eth0");
            awaitChange(netlink, change -> change.equals(new Removed(index, "eth0")));
            assertThat(netlink.links()).extracting(Link::name).doesNotContain("eth0", "v0", "v1");
        }
    },
    SAYS_THAT_NOTIFICATIONS_WERE_LOST_AND_GOES_ON {
        @Override
        void run(RtNetlink netlink) throws Exception {
            netlink.notificationBuffer(1);
            ip("link add v0 type veth peer name v1");
            ip(IntStream.range(0, 500)
                    .mapToObj(i -> "link set v0 mtu " + (1000 + i))
                    .toArray(String[]::new));
            assertThat(netlink.nextChanges()).contains(new Lost());
            assertThat(netlink.nextChanges()).isEmpty();
            assertThat(netlink.links())
                    .filteredOn(link -> link.name().equals("v0"))
                    .extracting(Link::mtu)
                    .containsExactly(1499);
            netlink.notificationBuffer(1 << 20);
            ip("link set v0 mtu 2000");
            awaitChange(netlink, isLink("v0", link -> link.mtu() == 2000));
        }
    },
    DUMPS_CONSISTENTLY_WHILE_LINKS_CHURN {
        private static final int PAIRS = 150;

        @Override
        void run(RtNetlink netlink) throws Exception {
            ip(IntStream.range(0, PAIRS)
                    .mapToObj(i -> "link add s" + i + "a type veth peer name s" + i + "b")
                    .toArray(String[]::new));
            List<String> churn = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                churn.add("link add x" + i + "a type veth peer name x" + i + "b");
                churn.add("link set x" + i + "a name y");
                churn.add("link del y");
            }
            Process process = start(churn);
            try (var socket = NetlinkSocket.open(NetlinkSocket.ROUTE, "churning links")) {
                boolean interrupted = false;
                for (int dumps = 0; dumps < 10 || (!interrupted && process.isAlive()); dumps++) {
                    interrupted |= socket.dumpOnce("RTM_GETLINK", RtMessages.GET_LINK, RtMessages.allLinks())
                            .interrupted();
                    assertThat(netlink.links())
                            .extracting(Link::name)
                            .filteredOn(name -> name.startsWith("s"))
                            .hasSize(2 * PAIRS)
                            .doesNotHaveDuplicates();
                }
                assertThat(interrupted).as("the kernel interrupted a dump").isTrue();
            } finally {
                process.destroy();
                process.waitFor();
            }
        }
    },
    BRINGS_AN_INTERFACE_UP_WITH_ROUTES_OF_ITS_OWN {
        @Override
        void run(RtNetlink netlink) throws Exception {
            int v0 = pair(netlink);
            netlink.setMtu(v0, 1400);
            netlink.setUp(v0);
            netlink.addAddress(address(v0));
            netlink.addRoute(Route.onLink(SUBNET, v0, OWN, 217, 200));
            netlink.addRoute(Route.via(GATEWAY, ANYWHERE, v0, OWN, 217, 201));

            assertThat(netlink.links())
                    .filteredOn(link -> link.index() == v0)
                    .satisfiesExactly(link -> assertThat(link.mtu()).isEqualTo(1400));
            assertThat(netlink.addresses())
                    .filteredOn(address -> address.link() == v0 && address.isGlobal())
                    .satisfiesExactly(address -> {
                        assertThat(address.address()).hasToString("10.9.0.3/24");
                        assertThat(address.bringsPrefixRoute()).isFalse();
                    });
            assertThat(ipv4(netlink))
                    .containsExactlyInAnyOrder(
                            Route.onLink(SUBNET, v0, OWN, 217, 200), Route.via(GATEWAY, ANYWHERE, v0, OWN, 217, 201));
            assertThat(netlink.routeTo(IpPrefix.address("192.0.2.1"))
                            .orElseThrow()
                            .gateway())
                    .contains(GATEWAY);
            assertThat(netlink.routeTo(IpPrefix.address("10.9.0.9"))
                            .orElseThrow()
                            .gateway())
                    .isEmpty();

            netlink.deleteRoute(Route.via(GATEWAY, ANYWHERE, v0, OWN, 217, 201));
            netlink.deleteRoute(Route.onLink(SUBNET, v0, OWN, 217, 200));
            netlink.deleteAddress(address(v0));
            assertThat(ipv4(netlink)).isEmpty();
            assertThat(netlink.addresses()).noneMatch(address -> address.link() == v0 && address.isGlobal());
        }
    },
    REPLACES_NOTHING_AND_DELETES_NOTHING_ELSE {
        @Override
        void run(RtNetlink netlink) throws Exception {
            int v0 = pair(netlink);
            ip(
                    "link set v0 up",
                    "link add w0 type veth peer name w1",
                    "link set w0 up",
                    "addr add 10.9.0.2/24 dev w0 noprefixroute",
                    "route add 10.9.0.0/24 dev w0 proto dhcp metric 200");
            netlink.addAddress(address(v0));
            List<Route> before = ipv4(netlink);

            // The same destination and metric, on another interface.
            assertRefused(Errno.EEXIST, () -> netlink.addRoute(Route.onLink(SUBNET, v0, OWN, 217, 200)));
            assertRefused(Errno.ESRCH, () -> netlink.deleteRoute(Route.onLink(SUBNET, v0, OWN, 217, 200)));
            assertThat(ipv4(netlink)).isEqualTo(before);

            // On our own, but not by who it says.
            ip("route add 10.9.0.0/24 dev v0 proto static metric 300");
            assertRefused(Errno.ESRCH, () -> netlink.deleteRoute(Route.onLink(SUBNET, v0, OWN, 217, 300)));
            netlink.addRoute(Route.onLink(SUBNET, v0, OWN, 217, 301));
            netlink.deleteRoute(Route.onLink(SUBNET, v0, OWN, 217, 301));
            assertThat(ipv4(netlink)).hasSize(2).containsAll(before);
        }
    },
    EXPLAINS_WHAT_THE_KERNEL_REFUSES {
        @Override
        void run(RtNetlink netlink) throws Exception {
            int v0 = pair(netlink);
            assertRefused(Errno.ENETDOWN, () -> netlink.addRoute(Route.onLink(SUBNET, v0, OWN, 217, 200)));
            netlink.setUp(v0);
            netlink.addAddress(address(v0));
            assertThat(assertRefused(Errno.EEXIST, () -> netlink.addAddress(address(v0))))
                    .isNotEmpty();
            assertThat(assertRefused(
                            Errno.ENETUNREACH, () -> netlink.addRoute(Route.via(GATEWAY, ANYWHERE, v0, OWN, 217, 200))))
                    .contains("Nexthop has invalid gateway");
            assertThat(assertRefused(Errno.EINVAL, () -> netlink.setMtu(v0, 1 << 20)))
                    .isNotEmpty();
            assertRefused(Errno.ENODEV, () -> netlink.setUp(4711));
            assertRefused(Errno.ENETUNREACH, () -> netlink.routeTo(IpPrefix.address("192.0.2.1")));
            netlink.deleteAddress(address(v0));
            assertRefused(Errno.EADDRNOTAVAIL, () -> netlink.deleteAddress(address(v0)));
        }
    },
    HEARS_OF_ADDRESSES_AND_ROUTES_OF_BOTH_FAMILIES {
        @Override
        void run(RtNetlink linksOnly) throws Exception {
            try (RtNetlink netlink = RtNetlink.openWithRoutes()) {
                ip("link add v0 type veth peer name v1", "link set v0 up", "link set v1 up");
                awaitQuiet(netlink);
                for (String command : List.of(
                        "addr add 10.9.0.3/24 dev v0",
                        "route add 10.8.0.0/16 via 10.9.0.253",
                        "route del 10.8.0.0/16",
                        "addr del 10.9.0.3/24 dev v0",
                        "addr add fd00::3/64 dev v0 nodad",
                        "route add fd01::/64 via fd00::1",
                        "link set v0 down")) {
                    ip(command);
                    await(command).atMost(Duration.ofSeconds(5)).until(() -> netlink.anythingChanged(_ -> true));
                    awaitQuiet(netlink);
                }
                ip("link set v0 up");
                awaitQuiet(netlink);
                ip("route add 10.7.0.0/16 dev v0", "route add 10.6.0.0/16 dev v0 table 7", "route del 10.7.0.0/16");
                assertThat(netlink.anythingChanged(route -> route.destination().equals(ANYWHERE)))
                        .as("of routes that nobody wants to hear of")
                        .isFalse();
                netlink.notificationBuffer(1);
                ip(IntStream.range(0, 500)
                        .mapToObj(i -> "link set v0 mtu " + (1000 + i))
                        .toArray(String[]::new));
                assertThat(netlink.anythingChanged(_ -> true))
                        .as("after lost notifications")
                        .isTrue();
                awaitQuiet(netlink);
            }
        }
    };

    private static final IpPrefix SUBNET = IpPrefix.parse("10.9.0.0/24");
    private static final IpPrefix ANYWHERE = IpPrefix.parse("0.0.0.0/0");
    private static final InetAddress OWN = IpPrefix.address("10.9.0.3");
    private static final InetAddress GATEWAY = IpPrefix.address("10.9.0.253");

    private static InterfaceAddress address(int link) {
        return new InterfaceAddress(
                link, new IpPrefix(OWN, 24), InterfaceAddress.IFA_F_NOPREFIXROUTE, Route.SCOPE_UNIVERSE);
    }

    /** @return the index of v0, which is down while its other end is up */
    private static int pair(RtNetlink netlink) throws Exception {
        ip("link add v0 type veth peer name v1", "link set v1 up");
        return netlink.links().stream()
                .filter(link -> link.name().equals("v0"))
                .findFirst()
                .orElseThrow()
                .index();
    }

    private static List<Route> ipv4(RtNetlink netlink) throws NativeException {
        return netlink.routes().stream()
                .filter(route -> route.destination().isIpv4())
                .toList();
    }

    private static String assertRefused(int errno, ThrowingCallable call) {
        NativeException refusal = catchThrowableOfType(NativeException.class, call);
        assertThat(refusal).as("a refusal with %s", Errno.describe(errno)).isNotNull();
        assertThat(refusal.errno()).as(refusal.getMessage()).isEqualTo(errno);
        return refusal.explanation().orElse("");
    }

    private static void awaitQuiet(RtNetlink netlink) {
        await().during(Duration.ofMillis(50))
                .atMost(Duration.ofSeconds(10))
                .until(() -> !netlink.anythingChanged(_ -> true));
    }

    abstract void run(RtNetlink netlink) throws Exception;

    private static Predicate<LinkChange> isLink(String name, Predicate<Link> state) {
        return change ->
                change instanceof Changed changed && changed.link().name().equals(name) && state.test(changed.link());
    }

    private static void awaitChange(RtNetlink netlink, Predicate<LinkChange> wanted) {
        var seen = new ArrayList<LinkChange>();
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    seen.addAll(netlink.nextChanges());
                    assertThat(seen).anyMatch(wanted);
                });
    }

    private static void ip(String... commands) throws IOException, InterruptedException {
        assertThat(start(List.of(commands)).waitFor()).isZero();
    }

    private static Process start(List<String> commands) throws IOException {
        // From a file, since a pipe would make us wait until most of a long list is done.
        Path batch = Files.createTempFile("ip", ".batch");
        batch.toFile().deleteOnExit();
        Files.write(batch, commands);
        return new ProcessBuilder("ip", "-batch", batch.toString()).inheritIO().start();
    }

    /** @param args the scenario's name */
    public static void main(String[] args) throws Exception {
        try (RtNetlink netlink = RtNetlink.openWithNotifications()) {
            valueOf(args[0]).run(netlink);
        }
        System.out.println("scenario done");
    }
}
