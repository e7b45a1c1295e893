package io.erdma.node.net;

import static io.erdma.node.net.TestNode.link;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.Route;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against the model, which notifies of nothing: the keeper looks by itself all the time. */
class InterfaceKeeperTest {
    private static final Duration OFTEN = Duration.ofMillis(2);

    private final TestNode node = new TestNode(2).withDefault(100);
    private final ModelNetwork network = new ModelNetwork(node.kernel);
    private final List<String> log = new ArrayList<>();
    private final Logger logger = Logger.getLogger(InterfaceKeeper.class.getName());
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            synchronized (log) {
                log.add(record.getLevel() + " " + record.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        // Whatever another test has made of the level above.
        logger.setLevel(Level.INFO);
        logger.addHandler(handler);
    }

    @AfterEach
    void leave() {
        logger.removeHandler(handler);
        logger.setLevel(null);
    }

    private List<String> logged() {
        synchronized (log) {
            return List.copyOf(log);
        }
    }

    private InterfaceKeeper keeper(boolean manage) throws NativeException {
        var limits = new Repairs.Limits(Duration.ofMillis(4), Duration.ofMinutes(1), 4, Duration.ofMinutes(10));
        return InterfaceKeeper.start(
                new RouteSettings(200, manage),
                network::opened,
                new InterfaceKeeper.Timing(OFTEN, OFTEN, OFTEN, limits));
    }

    private static void awaitStatus(InterfaceKeeper keeper, Consumer<KeeperStatus> as) {
        await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> as.accept(keeper.status()));
    }

    private static void awaitSettled(InterfaceKeeper keeper) {
        awaitStatus(keeper, status -> {
            assertThat(status.at()).isPresent();
            assertThat(status.plan().changes()).isEmpty();
        });
    }

    @Test
    void doesNothingBeforeItHearsWhatIsWanted() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            assertThat(keeper.status().at()).isEmpty();
            assertThat(keeper.status().managing()).isTrue();
        }
        assertThat(node.routesOf(1)).isEmpty();
    }

    @Test
    void setsUpWhatIsWantedTellsItOnceAndIsSilentThen() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitSettled(keeper);
            var first = keeper.status().at();
            awaitStatus(keeper, status -> assertThat(status.at()).isNotEqualTo(first));
            assertThat(keeper.status().lastError()).isEmpty();
            assertThat(keeper.status().repairs()).isZero();
        }
        assertThat(logged())
                .hasSize(10)
                .contains("INFO add route default via 10.9.0.253 dev eth2 proto 217 src 10.9.0.4 metric 201");
    }

    @Test
    void onlySaysWhatItWouldDoWhenItIsNotToManage() throws Exception {
        List<String> before = node.routes();
        try (InterfaceKeeper keeper = keeper(false)) {
            keeper.want(node.wanted());
            awaitStatus(keeper, status -> assertThat(status.plan().changes()).hasSize(10));
            var first = keeper.status().at();
            awaitStatus(keeper, status -> assertThat(status.at()).isNotEqualTo(first));
            assertThat(keeper.status().managing()).isFalse();
        }
        assertThat(node.routes()).isEqualTo(before);
        assertThat(logged()).hasSize(10).allMatch(line -> line.startsWith("INFO would "));
    }

    @Test
    void repairsWhatSomebodyUndoes() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitSettled(keeper);
            List<String> right = node.routesOf(1);
            network.change(() -> node.kernel.setDown(link(1)));
            awaitStatus(keeper, status -> assertThat(status.repairs()).isEqualTo(1));
            awaitSettled(keeper);
            assertThat(node.routesOf(1)).isEqualTo(right);
            assertThat(logged()).contains("INFO set link eth1 up again");
        }
    }

    @Test
    void pointsToTheWhitelistWhenAnAddressDisappears() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitSettled(keeper);
            network.change(() -> node.make(List.of(new NetChange.DeleteAddress(
                    "eth1", new InterfaceAddress(link(1), TestNode.addressOf(1), 0, Route.SCOPE_UNIVERSE)))));
            awaitStatus(keeper, status -> assertThat(status.repairs()).isEqualTo(1));
            assertThat(logged())
                    .anySatisfy(line -> assertThat(line)
                            .startsWith("WARNING add address 10.9.0.3/24 dev eth1 noprefixroute again: somebody had")
                            .contains("Terway's ENI whitelist"));
        }
    }

    @Test
    void givesUpAFightThatLeadsNowhereAndSaysSo() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitSettled(keeper);
            awaitStatus(keeper, status -> {
                network.change(() -> node.kernel.setDown(link(1)));
                assertThat(status.repairs()).isEqualTo(4);
            });
            awaitStatus(
                    keeper,
                    status -> assertThat(status.notes()).anySatisfy(note -> {
                        assertThat(note.subject()).isEqualTo("eth1");
                        assertThat(note.text())
                                .contains(
                                        "somebody keeps undoing what the agent sets up; who it is, the interface does not show")
                                .contains("only tries each 60 s now")
                                .contains("Terway's ENI whitelist");
                    }));
            network.change(() -> node.kernel.setDown(link(1)));
            var seen = keeper.status().at();
            awaitStatus(keeper, status -> assertThat(status.at()).isNotEqualTo(seen));
            assertThat(keeper.status().repairs()).isEqualTo(4);
            // Another card is not made to wait, nor is a change that was not made before.
            network.change(() -> node.withDefault(1024));
            awaitStatus(keeper, _ -> assertThat(node.routesOf(2)).anyMatch(line -> line.endsWith("metric 1026")));
        }
    }

    @Test
    void reportsAFailureOnceAndGoesOnTrying() throws Exception {
        network.refuse(change -> change instanceof NetChange.AddRoute, Errno.EPERM, Optional.empty());
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitStatus(
                    keeper, status -> assertThat(status.lastError().orElse("")).contains("CAP_NET_ADMIN"));
            var seen = keeper.status().at();
            awaitStatus(keeper, status -> assertThat(status.at()).isNotEqualTo(seen));
            assertThat(logged())
                    .filteredOn(line -> line.startsWith("WARNING cannot"))
                    .hasSize(2);

            network.refuse(_ -> false, 0, Optional.empty());
            awaitSettled(keeper);
            assertThat(keeper.status().lastError()).isEmpty();
        }
    }

    @Test
    void opensTheNetworkAnewWhenItCannotBeRead() throws Exception {
        network.failToRead(Optional.of(new NativeException("recv", Errno.EIO, "netlink")));
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitStatus(
                    keeper, status -> assertThat(status.lastError().orElse("")).contains("EIO"));
            network.failToRead(Optional.empty());
            awaitSettled(keeper);
            assertThat(keeper.status().lastError()).isEmpty();
        }
        assertThat(logged()).filteredOn(line -> line.startsWith("WARNING")).hasSize(1);
    }

    @Test
    void survivesAFaultOfItsOwnAndTellsItOnce() throws Exception {
        network.fault(Optional.of(new IllegalStateException("a fault")));
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(node.wanted());
            awaitStatus(
                    keeper, status -> assertThat(status.lastError().orElse("")).contains("a fault"));
            int read = network.reads();
            awaitStatus(keeper, _ -> assertThat(network.reads()).isGreaterThan(read + 1));
            network.fault(Optional.empty());
            awaitSettled(keeper);
        }
        assertThat(logged()).filteredOn(line -> line.startsWith("SEVERE")).hasSize(1);
    }

    @Test
    void followsWhatIsWanted() throws Exception {
        try (InterfaceKeeper keeper = keeper(true)) {
            keeper.want(new WantedInterfaces(Optional.empty(), List.of(node.wanted.getFirst())));
            awaitSettled(keeper);
            assertThat(node.routesOf(2)).isEmpty();
            keeper.want(node.wanted());
            awaitStatus(keeper, _ -> assertThat(node.routesOf(2)).hasSize(2));
        }
    }

    @Test
    void leavesEverythingAsItIsWhenItCloses() throws Exception {
        InterfaceKeeper keeper = keeper(true);
        keeper.want(node.wanted());
        awaitSettled(keeper);
        List<String> routes = node.routes();

        long start = System.nanoTime();
        keeper.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(1));
        assertThat(node.routes()).isEqualTo(routes);
        assertThat(network.isClosed()).isTrue();
        keeper.close();
        keeper.want(WantedInterfaces.NONE);
    }
}
