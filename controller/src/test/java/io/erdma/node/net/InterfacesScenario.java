package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.Route;
import io.erdma.netlink.RtNetlink;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * What {@link InterfacesIT} runs in a process of its own, inside a network namespace that ends with that process. The
 * node's cards are veth pairs, which have no address burnt in, so they are found by the one in use.
 */
enum InterfacesScenario {
    /** R12, for each metric that network managers give a default route, with one and two cards. */
    LEAVE_THE_PRIMARY_INTERFACES_TRAFFIC_ALONE {
        private static final int REPETITIONS = 5;

        @Override
        void run() throws Exception {
            for (int metric : new int[] {0, 100, 199, 200, 201, 512, 1024}) {
                for (int cards = 1; cards <= 2; cards++) {
                    for (int i = 0; i < REPETITIONS; i++) {
                        node("eth0", metric, cards);
                        try (var packets = Packets.leavingBy("eth0");
                                InterfaceKeeper keeper = keeper(Duration.ofMillis(10))) {
                            keeper.want(wanted(cards));
                            awaitSettled(keeper);
                            packets.awaitSamples(3);
                        }
                        assertThat(ip("-4 route show"))
                                .as("metric %d, %d cards", metric, cards)
                                .containsExactlyInAnyOrderElementsOf(expected(metric, cards));
                        assertThat(ip("-4 -o address show dev eth1").getFirst())
                                .contains("inet 10.9.0.3/24 scope global noprefixroute");
                    }
                }
            }
        }

        private static List<String> expected(int metric, int cards) {
            List<String> lines = new ArrayList<>(List.of(
                    "default via 10.9.0.253 dev eth0 proto dhcp" + (metric == 0 ? "" : " metric " + metric),
                    "10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.2"));
            int base = Math.max(200, metric + 1);
            for (int card = 1; card <= cards; card++) {
                String source = " src 10.9.0." + (2 + card);
                lines.add("10.9.0.0/24 dev eth" + card + " proto 217 scope link" + source + " metric " + (199 + card));
                lines.add("default via 10.9.0.253 dev eth" + card + " proto 217" + source + " metric "
                        + (base + card - 1));
            }
            return lines;
        }
    },
    /** R13 */
    FIND_THE_PRIMARY_INTERFACE_WHATEVER_ITS_NAME {
        @Override
        void run() throws Exception {
            node("ens5", 100, 1);
            ip("link set eth1 name eth0");
            try (var packets = Packets.leavingBy("ens5");
                    InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(1));
                awaitSettled(keeper);
                packets.awaitSamples(3);
            }
            assertThat(ip("-4 route show"))
                    .containsExactlyInAnyOrder(
                            "default via 10.9.0.253 dev ens5 proto dhcp metric 100",
                            "10.9.0.0/24 dev ens5 proto kernel scope link src 10.9.0.2",
                            "10.9.0.0/24 dev eth0 proto 217 scope link src 10.9.0.3 metric 200",
                            "default via 10.9.0.253 dev eth0 proto 217 src 10.9.0.3 metric 200");
        }
    },
    /** R14 */
    LEAVE_IPV6_TO_OTHERS {
        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            ip("link set eth1 up", "address add fd00:9::3/64 dev eth1 nodad");
            List<String> before = ip("-6 -o address show dev eth1 scope global");
            List<String> routes = ip("-4 route show");
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(new WantedInterfaces(
                        Optional.empty(),
                        List.of(wanted(1, Optional.empty()), wanted(2, Optional.of(IpPrefix.parse("fd00:9::4/64"))))));
                awaitSettled(keeper);
                assertThat(keeper.status().notes()).extracting(Note::subject).containsExactly("eth1", "eth2");
            }
            assertThat(ip("-4 route show")).isEqualTo(routes);
            assertThat(ip("-6 -o address show dev eth1 scope global")).isEqualTo(before);
            assertThat(ip("-o link show dev eth2").getFirst())
                    .contains("mtu 8500")
                    .contains(",UP");
        }
    },
    BRING_ROUTES_BACK_WHEN_A_LINK_RETURNS {
        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            try (var packets = Packets.leavingBy("eth0");
                    InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(2));
                awaitSettled(keeper);
                List<String> right = sorted(ip("-4 route show"));
                // Its routes vanish without a word. Once as two messages in one, once with a look in between.
                ip("link set eth1 down", "link set eth1 up");
                awaitTable(right);
                ip("link set eth2 down");
                awaitTable(right);
                // Routes that vanish alone.
                ip("route del default dev eth1", "route del 10.9.0.0/24 dev eth2");
                awaitTable(right);
                packets.awaitSamples(3);
                assertThat(keeper.status().repairs()).isGreaterThanOrEqualTo(2);
            }
        }
    },
    STAY_BEHIND_A_PRIMARY_ROUTE_THAT_RETURNS_AT_1024 {
        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(2));
                awaitSettled(keeper);
                ip("route del default dev eth0");
                awaitLookAfter(keeper);
                ip("route add default via 10.9.0.253 dev eth0 proto dhcp metric 1024");
                awaitTable(sorted(List.of(
                        "10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.2",
                        "10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 200",
                        "10.9.0.0/24 dev eth2 proto 217 scope link src 10.9.0.4 metric 201",
                        "default via 10.9.0.253 dev eth0 proto dhcp metric 1024",
                        "default via 10.9.0.253 dev eth1 proto 217 src 10.9.0.3 metric 1025",
                        "default via 10.9.0.253 dev eth2 proto 217 src 10.9.0.4 metric 1026")));
                awaitSettled(keeper);
                List<String> raised = sorted(ip("-4 route show"));
                // From now on it may come and go: nobody takes over when it is back, at once.
                for (int i = 0; i < 5; i++) {
                    ip("route del default dev eth0");
                    awaitLookAfter(keeper);
                    ip("route add default via 10.9.0.253 dev eth0 proto dhcp metric 1024");
                    try (var packets = Packets.leavingBy("eth0")) {
                        packets.awaitSamples(2);
                    }
                    assertThat(sorted(ip("-4 route show"))).isEqualTo(raised);
                }
            }
        }
    },
    LEAVE_ROUTES_OF_OTHERS_ON_A_CARD {
        @Override
        void run() throws Exception {
            node("eth0", 100, 1);
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(1));
                awaitSettled(keeper);
                List<String> before = ip("-4 route show");
                ip("route add default via 10.9.0.253 dev eth1 proto static metric 50");
                awaitNote(keeper, "takes over traffic of default via 10.9.0.253 dev eth0");
                assertThat(ip("-4 route show"))
                        .hasSize(before.size() + 1)
                        .containsAll(before)
                        .contains("default via 10.9.0.253 dev eth1 proto static metric 50");
            }
        }
    },
    NAME_WHO_UNDOES_WHAT_IT_SETS_UP {
        @Override
        void run() throws Exception {
            node("eth0", 100, 1);
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(1));
                awaitSettled(keeper);
                List<String> right = sorted(ip("-4 route show"));
                ip("route add 10.50.0.0/16 dev eth1 proto dhcp metric 7");
                for (int i = 0; i < 3; i++) {
                    ip("route del default dev eth1");
                    await().atMost(Duration.ofSeconds(20))
                            .untilAsserted(() -> assertThat(ip("-4 route show")).containsAll(right));
                }
                awaitNote(
                        keeper,
                        "somebody keeps undoing what the agent sets up; found on the interface: a route of a DHCP client");
            }
        }
    },
    LEAVE_A_CARD_ALONE_THAT_SOMEBODY_ELSE_SET_UP {
        @Override
        void run() throws Exception {
            node("eth0", 1024, 2);
            ip("link set eth1 up", "address add 10.9.0.3/24 dev eth1", "address add 10.9.0.4/24 dev eth2");
            List<String> routes = ip("-4 route show");
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(2));
                awaitNote(keeper, "is set up by the kernel, for an address that somebody added");
                awaitNote(keeper, "would bring a route of the kernel with metric 0");
                awaitSettled(keeper);
            }
            assertThat(ip("-4 route show")).isEqualTo(routes);
            assertThat(ip("-o link show dev eth2").getFirst())
                    .contains("mtu 1500")
                    .doesNotContain(",UP");
        }
    },
    TAKE_OVER_FROM_THE_GO_AGENT {
        @Override
        void run() throws Exception {
            node("eth0", 100, 1);
            ip(
                    "link set eth1 up",
                    "address add 10.9.0.3/24 dev eth1",
                    "route del 10.9.0.0/24 dev eth1",
                    "route add 10.9.0.0/24 dev eth1 scope link src 10.9.0.3 metric 200",
                    "route add default via 10.9.0.253 dev eth1 metric 200");
            try (var packets = Packets.leavingBy("eth0");
                    InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(1));
                awaitSettled(keeper);
                packets.awaitSamples(3);
            }
            assertThat(ip("-4 route show dev eth1"))
                    .containsExactlyInAnyOrder(
                            "10.9.0.0/24 proto 217 scope link src 10.9.0.3 metric 201",
                            "default via 10.9.0.253 proto 217 src 10.9.0.3 metric 201");
        }
    },
    CLEAN_UP_WHAT_IS_OURS_AND_LEAVE_THE_LINKS_UP {
        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            List<String> before = ip("-4 route show");
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(wanted(2));
                awaitSettled(keeper);
            }
            // Closing took nothing away.
            assertThat(ip("-4 route show")).hasSize(before.size() + 4);
            try (InterfaceConfigurer configurer = InterfaceConfigurer.open()) {
                Plan plan = CleanupPlan.of(configurer.found());
                assertThat(configurer.apply(plan.changes()).failures()).isEmpty();
                assertThat(CleanupPlan.of(configurer.found())).isEqualTo(Plan.NONE);
            }
            assertThat(ip("-4 route show")).isEqualTo(before);
            assertThat(ip("-4 -o address show dev eth1")).isEmpty();
            assertThat(ip("-o link show dev eth1").getFirst()).contains(",UP");
        }
    },
    KEEP_UP_WHILE_HUNDREDS_OF_LINKS_CHURN {
        private static final int PAIRS = 150;

        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            List<String> churn = new ArrayList<>();
            for (int i = 0; i < PAIRS; i++) {
                churn.add("link add c" + i + "a type veth peer name c" + i + "b");
                churn.add("address add 172.16." + i + ".1/30 dev c" + i + "a");
                churn.add("link set c" + i + "a up");
                churn.add("link set c" + i + "b up");
            }
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < PAIRS; i++) {
                    churn.add("link set c" + i + "a down");
                    churn.add("link set c" + i + "a mtu " + (1400 + round));
                    churn.add("link set c" + i + "a up");
                }
            }
            try (var packets = Packets.leavingBy("eth0");
                    InterfaceKeeper keeper = keeper()) {
                Process process = start(churn);
                try {
                    keeper.want(wanted(2));
                    awaitSettled(keeper);
                    List<String> right = ours();
                    assertThat(right).hasSize(4);
                    // In the middle of it, a card loses its routes.
                    ip("link set eth1 down");
                    await().atMost(Duration.ofSeconds(20))
                            .untilAsserted(() -> assertThat(ours()).isEqualTo(right));
                    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                    assertThat(process.exitValue()).isZero();
                    awaitLookAfter(keeper);
                    assertThat(ours()).isEqualTo(right);
                    assertThat(keeper.status().lastError()).isEmpty();
                } finally {
                    process.destroy();
                }
                packets.awaitSamples(3);
            }
        }

        private static List<String> ours() throws IOException, InterruptedException {
            return sorted(ip("-4 route show proto 217"));
        }
    },
    LOOK_AGAIN_WHEN_NOTIFICATIONS_WERE_LOST {
        @Override
        void run() throws Exception {
            node("eth0", 100, 1);
            var deaf = new AtomicReference<>(new CountDownLatch(0));
            try (InterfaceKeeper keeper = keeper(Duration.ofMillis(20), () -> new Deaf(KernelNetwork.open(), deaf))) {
                keeper.want(wanted(1));
                awaitSettled(keeper);
                List<String> right = sorted(ip("-4 route show"));
                for (int i = 0; i < 2; i++) {
                    deaf.set(new CountDownLatch(1));
                    long before = dropped();
                    ip(IntStream.range(0, 500)
                            .mapToObj(mtu -> "link set p0 mtu " + (1000 + mtu))
                            .toArray(String[]::new));
                    assertThat(dropped())
                            .as("notifications that the kernel dropped")
                            .isGreaterThan(before);
                    ip("route del default dev eth1");
                    deaf.get().countDown();
                    awaitTable(right);
                    awaitSettled(keeper);
                }
                // And it still hears.
                ip("route del default dev eth1");
                awaitTable(right);
            }
        }

        private static long dropped() throws IOException {
            return Files.readAllLines(Path.of("/proc/net/netlink")).stream()
                    .skip(1)
                    .mapToLong(line -> Long.parseLong(line.strip().split(" +", -1)[8]))
                    .sum();
        }
    },
    MISS_A_CARD_THAT_MOVED_INTO_A_POD_AND_SET_IT_UP_WHEN_IT_RETURNS {
        @Override
        void run() throws Exception {
            node("eth0", 100, 2);
            Process pod = new ProcessBuilder("unshare", "--net", "sleep", "60").start();
            try (var packets = Packets.leavingBy("eth0");
                    InterfaceKeeper keeper = keeper()) {
                Path namespace = Path.of("/proc/" + pod.pid() + "/ns/net");
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> !Files.readSymbolicLink(namespace)
                                .equals(Files.readSymbolicLink(Path.of("/proc/self/ns/net"))));
                keeper.want(wanted(2));
                awaitSettled(keeper);
                List<String> right = sorted(ip("-4 route show"));

                ip("link set eth1 netns " + pod.pid());
                awaitNote(keeper, "it may have moved into a pod's network namespace");
                assertThat(keeper.status().notes()).extracting(Note::subject).containsExactly(mac(1).toString());
                assertThat(ip("-4 route show proto 217")).hasSize(2).allMatch(line -> line.contains("eth2"));

                Process back = new ProcessBuilder(
                                "nsenter",
                                "--net=" + namespace,
                                "ip",
                                "link",
                                "set",
                                "eth1",
                                "netns",
                                String.valueOf(ProcessHandle.current().pid()))
                        .inheritIO()
                        .start();
                assertThat(back.waitFor()).isZero();
                awaitTable(right);
                awaitStatus(keeper, status -> assertThat(status.notes()).isEmpty());
                packets.awaitSamples(3);
            } finally {
                pod.destroy();
            }
        }
    },
    SAY_WHAT_THE_KERNEL_REFUSES {
        @Override
        void run() throws Exception {
            node("eth0", 100, 1);
            // More than veth takes.
            WantedInterface one = wanted(1, Optional.of(IpPrefix.parse("10.9.0.3/24")));
            try (InterfaceKeeper keeper = keeper()) {
                keeper.want(new WantedInterfaces(
                        Optional.empty(),
                        List.of(new WantedInterface(
                                one.mac(), one.cardIndex(), one.address(), one.gateway(), OptionalInt.of(70_000)))));
                await().atMost(Duration.ofSeconds(10))
                        .untilAsserted(() -> assertThat(
                                        keeper.status().lastError().orElse(""))
                                .startsWith("cannot set link eth1 mtu 70000: the kernel answered EINVAL (22), \"")
                                .endsWith("The card does not take this MTU; lower --jumbo-frame-mtu."));
                assertThat(ip("-4 route show dev eth1")).hasSize(2);
            }
        }
    },
    /** What the properties of the plans are proven against does what the kernel does, step by step. */
    FIND_THE_MODEL_AND_THE_KERNEL_IN_AGREEMENT {
        private static final int STEPS = 1500;
        private static final List<IpPrefix> DESTINATIONS = Stream.of(
                        "10.9.0.0/24", "0.0.0.0/0", "10.50.0.0/16", "10.50.0.1/16")
                .map(IpPrefix::parse)
                .toList();

        @Override
        void run() throws Exception {
            ip(
                    "link add m0 address " + mac(0) + " type veth peer name p0",
                    "link add m1 address " + mac(1) + " type veth peer name p1",
                    "link set p0 up",
                    "link set p1 up");
            var random = new Random(217);
            var model = new ModelKernel();
            int refused = 0;
            try (KernelNetwork kernel = KernelNetwork.open();
                    RtNetlink netlink = RtNetlink.open()) {
                List<Link> links = kernel.read(WantedInterfaces.NONE).links().stream()
                        .filter(link -> link.name().matches("m\\d"))
                        .toList();
                for (Link link : links) {
                    model.addLink(link.index(), link.name(), link.address().orElseThrow(), false);
                }
                List<String> steps = new ArrayList<>();
                for (int i = 0; i < STEPS; i++) {
                    Link link = links.get(random.nextInt(links.size()));
                    if (random.nextInt(40) == 0) {
                        steps.add("down " + link.name());
                        ip("link set " + link.name() + " down");
                        model.setDown(link.index());
                    } else {
                        NetChange change = change(random, link);
                        int byKernel = refusal(() -> kernel.make(change));
                        steps.add(change.describe() + " → " + Errno.describe(byKernel));
                        assertThat(Errno.describe(refusal(() -> model.make(change))))
                                .as("%s", steps)
                                .isEqualTo(Errno.describe(byKernel));
                        refused += byKernel == 0 ? 0 : 1;
                    }
                    assertThat(ipv4(model.state(), links))
                            .as("%s", steps)
                            .containsExactlyInAnyOrderElementsOf(ipv4(everything(netlink), links));
                }
            }
            assertThat(refused).isBetween(STEPS / 10, STEPS * 9 / 10);
        }

        private static NetChange change(Random random, Link link) {
            IpPrefix own = IpPrefix.parse("10.9.0." + (2 + random.nextInt(2)) + "/24");
            int flags = random.nextBoolean() ? InterfaceAddress.IFA_F_NOPREFIXROUTE : 0;
            var address = new InterfaceAddress(link.index(), own, flags, Route.SCOPE_UNIVERSE);
            IpPrefix destination = DESTINATIONS.get(random.nextInt(DESTINATIONS.size()));
            int protocol = random.nextBoolean() ? InterfacePlan.PROTOCOL : Route.PROTOCOL_BOOT;
            long metric = 200L + random.nextInt(2);
            Route route = random.nextBoolean()
                    ? Route.onLink(destination, link.index(), own.address(), protocol, metric)
                    : Route.via(GATEWAY.address(), destination, link.index(), own.address(), protocol, metric);
            return switch (random.nextInt(10)) {
                case 0, 1 -> new NetChange.SetUp(link.index(), link.name());
                case 2 -> new NetChange.SetMtu(link.index(), link.name(), 1400 + random.nextInt(2));
                case 3, 4 -> new NetChange.AddAddress(link.name(), address);
                case 5 -> new NetChange.DeleteAddress(link.name(), address);
                case 6, 7, 8 -> new NetChange.AddRoute(link.name(), route);
                default -> new NetChange.DeleteRoute(link.name(), route);
            };
        }

        private static int refusal(ThrowingCallable call) {
            NativeException refusal = catchThrowableOfType(NativeException.class, call);
            return refusal == null ? 0 : refusal.errno();
        }

        private static NetState everything(RtNetlink netlink) throws NativeException {
            return new NetState(netlink.links(), netlink.addresses(), netlink.routes());
        }

        // Routes, addresses, and whether links are up.
        private static List<String> ipv4(NetState state, List<Link> links) {
            return Stream.of(
                            state.routes().stream()
                                    .filter(route -> route.destination().isIpv4())
                                    .map(Route::toString),
                            state.addresses().stream()
                                    .filter(address -> address.address().isIpv4())
                                    .map(address -> address.link() + " " + address.address() + " "
                                            + address.bringsPrefixRoute()),
                            links.stream()
                                    .map(link -> state.link(link.index()).orElseThrow())
                                    .map(link -> link.name() + " " + link.isUp() + " " + link.mtu()))
                    .flatMap(lines -> lines)
                    .toList();
        }
    };

    private static final IpPrefix GATEWAY = IpPrefix.parse("10.9.0.253/32");

    abstract void run() throws Exception;

    // ---- the node

    /** A fresh one: the primary interface with its route, and cards eth1, eth2 that nobody has touched. */
    private static void node(String primary, int metric, int cards) throws IOException, InterruptedException {
        List<String> commands = new ArrayList<>();
        for (String line : ip("-o link show type veth")) {
            String name = line.split("[: @]+", 3)[1];
            if (name.matches("ens5|eth\\d")) {
                commands.add("link del " + name);
            }
        }
        commands.add("link add " + primary + " address " + mac(0) + " type veth peer name p0");
        for (int card = 1; card <= cards; card++) {
            commands.add("link add eth" + card + " address " + mac(card) + " type veth peer name p" + card);
            commands.add("link set p" + card + " mtu 8500 up");
        }
        commands.addAll(List.of(
                "link set p0 up",
                "link set " + primary + " up",
                "address add 10.9.0.2/24 dev " + primary,
                "route add default via 10.9.0.253 dev " + primary + " proto dhcp metric " + metric));
        ip(commands.toArray(String[]::new));
    }

    private static MacAddress mac(int card) {
        return new MacAddress(0x0216_3e00_0000L + card);
    }

    private static WantedInterfaces wanted(int cards) {
        List<WantedInterface> wanted = new ArrayList<>();
        for (int card = 1; card <= cards; card++) {
            wanted.add(wanted(card, Optional.of(IpPrefix.parse("10.9.0." + (2 + card) + "/24"))));
        }
        return new WantedInterfaces(Optional.empty(), wanted);
    }

    private static WantedInterface wanted(int card, Optional<IpPrefix> address) {
        return new WantedInterface(
                mac(card), OptionalInt.of(card), address, address.map(_ -> GATEWAY.address()), OptionalInt.of(8500));
    }

    // ---- the keeper

    private static InterfaceKeeper keeper() throws NativeException {
        return keeper(Duration.ofMillis(50));
    }

    /** Without the pauses of a running agent, and without looks that no notification leads to. */
    private static InterfaceKeeper keeper(Duration debounce) throws NativeException {
        return keeper(debounce, KernelNetwork::open);
    }

    private static InterfaceKeeper keeper(Duration debounce, HostNetwork.Opener opener) throws NativeException {
        return InterfaceKeeper.start(
                RouteSettings.STANDARD,
                opener,
                new InterfaceKeeper.Timing(
                        debounce,
                        Duration.ofMinutes(10),
                        Duration.ofMillis(200),
                        new Repairs.Limits(Duration.ofMillis(1), Duration.ofMillis(10), 8, Duration.ofMinutes(10))));
    }

    private static void awaitStatus(InterfaceKeeper keeper, Consumer<KeeperStatus> as) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(2))
                .untilAsserted(() -> as.accept(keeper.status()));
    }

    /** A plan was made after which nothing is left to do. */
    private static void awaitSettled(InterfaceKeeper keeper) {
        awaitStatus(keeper, status -> {
            assertThat(status.at()).isPresent();
            assertThat(status.plan().changes()).isEmpty();
            assertThat(status.lastError()).isEmpty();
        });
    }

    private static void awaitLookAfter(InterfaceKeeper keeper) {
        var seen = keeper.status().at();
        awaitStatus(keeper, status -> assertThat(status.at()).isNotEqualTo(seen));
    }

    private static void awaitNote(InterfaceKeeper keeper, String text) {
        awaitStatus(
                keeper,
                status -> assertThat(status.notes()).extracting(Note::text).anyMatch(note -> note.contains(text)));
    }

    private static void awaitTable(List<String> expected) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(sorted(ip("-4 route show"))).isEqualTo(expected));
    }

    /** Doesn't read notifications while it is told so. */
    private record Deaf(KernelNetwork network, AtomicReference<CountDownLatch> until) implements HostNetwork {
        @Override
        public NetState read(WantedInterfaces wanted) throws NativeException {
            return network.read(wanted);
        }

        @Override
        public void make(NetChange change) throws NativeException {
            network.make(change);
        }

        @Override
        public Set<Integer> descriptors() {
            return network.descriptors();
        }

        @Override
        public boolean anythingChanged() throws NativeException {
            try {
                until.get().await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return network.anythingChanged();
        }

        @Override
        public void close() {
            network.close();
        }
    }

    /** Where packets to an outside and to a same-subnet address leave, looked up every 10 ms. */
    private static final class Packets implements AutoCloseable {
        private static final List<String> DESTINATIONS = List.of("192.0.2.1", "10.9.0.9");

        private final RtNetlink netlink;
        private final int expected;
        private final Set<String> elsewhere = ConcurrentHashMap.newKeySet();
        private final AtomicInteger samples = new AtomicInteger();
        private final ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor();

        private final Future<?> sampling;

        private Packets(RtNetlink netlink, int expected) {
            this.netlink = netlink;
            this.expected = expected;
            this.sampling = sampler.scheduleAtFixedRate(this::sample, 0, 10, TimeUnit.MILLISECONDS);
        }

        static Packets leavingBy(String name) throws NativeException {
            RtNetlink netlink = RtNetlink.open();
            int index = netlink.links().stream()
                    .filter(link -> link.name().equals(name))
                    .findFirst()
                    .orElseThrow()
                    .index();
            return new Packets(netlink, index);
        }

        private void sample() {
            for (String destination : DESTINATIONS) {
                try {
                    netlink.routeTo(IpPrefix.address(destination))
                            .filter(route -> !route.link().equals(OptionalInt.of(expected)))
                            .ifPresent(route -> elsewhere.add(destination + " leaves by " + route));
                } catch (NativeException e) {
                    elsewhere.add(destination + ": " + e.getMessage());
                }
            }
            samples.incrementAndGet();
        }

        void awaitSamples(int more) {
            int enough = samples.get() + more;
            await().atMost(Duration.ofSeconds(10))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> samples.get() >= enough);
        }

        @Override
        public void close() {
            sampler.close();
            assertThat(sampling.state()).isEqualTo(Future.State.CANCELLED);
            netlink.close();
            assertThat(elsewhere).isEmpty();
            assertThat(samples).hasPositiveValue();
        }
    }

    // ---- ip

    private static List<String> sorted(List<String> lines) {
        return lines.stream().sorted().toList();
    }

    /** @return the lines that one command prints; of several, nothing */
    private static List<String> ip(String... commands) throws IOException, InterruptedException {
        if (commands.length > 1 || !commands[0].contains("show")) {
            assertThat(start(List.of(commands)).waitFor()).isZero();
            return List.of();
        }
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(commands[0].split(" ", -1)));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("ip %s", commands[0]).isZero();
        return output.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
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
        valueOf(args[0]).run();
        System.out.println("scenario done");
    }
}
