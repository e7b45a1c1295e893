package io.erdma.plugin;

import static io.erdma.plugin.Offers.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.device.Netdev;
import io.erdma.health.HealthMonitor;
import io.erdma.health.HealthSettings;
import io.erdma.health.Paces;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.FixtureNode;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.ScriptedNode;
import io.erdma.libc.Errno;
import io.erdma.log.InotifyShortage;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole nodes: a recorded sysfs tree and the stand-in of libibverbs, up to the list that the kubelet sees. */
@Timeout(60)
final class RecordedNodesTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final HealthSettings QUICK = new HealthSettings(
            Duration.ofMillis(100), Duration.ofMillis(200), Duration.ofMinutes(15), LONG, Paces.BRISK);

    private static final String NUMA_OF_ERDMA_0 = "devices/pci0000:00/0000:00:07.0/numa_node";
    private static final String NUMA_OF_ETH1 = "devices/pci0000:00/0000:00:06.0/numa_node";

    @TempDir
    Path root;

    private final DeviceStream stream = new DeviceStream(settings(), new PluginObserver() {});
    private final List<HealthMonitor> monitors = new ArrayList<>();
    private final List<String> logged = new CopyOnWriteArrayList<>();
    private final Logger logger = Logger.getLogger(HealthMonitor.class.getPackageName());
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private FakeVerbs fake;

    @BeforeAll
    static void lookOften() {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
    }

    @BeforeEach
    void begin() {
        fake = FakeVerbs.at(root.resolve("verbs"));
        logger.addHandler(handler);
    }

    @AfterEach
    void end() {
        monitors.forEach(HealthMonitor::close);
        logger.removeHandler(handler);
        // A monitor waits for its threads for a moment only, which on a busy machine may not be enough.
        await().untilAsserted(
                        () -> assertThat(fake.count(Counter.CLOSE_DEVICE)).isEqualTo(fake.count(Counter.OPEN_DEVICE)));
        fake.close();
    }

    private FixtureNode sources(NodeFixture node) {
        return new FixtureNode(
                node,
                FakeVerbs.library().toString(),
                List.of(
                        ScriptedNode.link(2, "eth0", true),
                        ScriptedNode.link(3, "eth1", true),
                        ScriptedNode.link(4, "eth2", true)));
    }

    private List<Found> scan(NodeFixture node) {
        return new DeviceInventory(sources(node), FixtureNode.paths(node), List.of())
                .scan()
                .devices();
    }

    private void start(NodeFixture node) throws Exception {
        FixtureNode sources = sources(node);
        HealthMonitor monitor = new HealthMonitor(
                new DeviceInventory(sources, FixtureNode.paths(node), List.of()),
                sources,
                FixtureNode.paths(node),
                QUICK,
                Clock.systemUTC(),
                stream,
                new InotifyShortage());
        monitors.add(monitor);
        monitor.start();
    }

    private void awaitHealthy(String... devices) {
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(stream.latest().devices())
                        .filteredOn(entry -> entry.health().isHealthy())
                        .extracting(entry -> entry.device().name())
                        .containsExactly(devices));
    }

    private List<Device> kubeletsList() {
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        stream.open(call);
        return call.messages.getLast().getDevicesList();
    }

    private NodeFixture twoErdmaDevices() {
        fake.device("erdma_0").uverbs("uverbs1");
        fake.device("erdma_1").uverbs("uverbs0");
        return NodeFixture.lay(NodeFixture.ERDMA_COMPAT, root);
    }

    private static void addMellanoxCard(NodeFixture node) {
        node.write("devices/pci0000:00/0000:00:09.0/vendor", "0x15b3\n");
        node.write("devices/pci0000:00/0000:00:09.0/device", "0x1017\n");
        node.link("devices/pci0000:00/0000:00:09.0/driver", "../../../bus/pci/drivers/mlx5_core");
        node.write("class/infiniband/mlx5_0/node_type", "1: CA\n");
        node.link("class/infiniband/mlx5_0/device", "../../../devices/pci0000:00/0000:00:09.0");
    }

    @Test
    void joinsARecordedNodeWithWhatLibibverbsLists() {
        NodeFixture node = twoErdmaDevices();

        List<Found> found = scan(node);

        assertThat(found).extracting(it -> it.device().name()).containsExactly("erdma_0", "erdma_1");
        assertThat(found).allMatch(it -> it.selected() && it.inVerbs() && it.uverbsPresent());
        assertThat(found)
                .flatExtracting(it -> it.device().uverbs().stream().toList())
                .containsExactly(Path.of("/dev/infiniband/uverbs1"), Path.of("/dev/infiniband/uverbs0"));
        assertThat(found)
                .extracting(it -> it.device().numaNode())
                .containsExactly(OptionalInt.of(0), OptionalInt.of(1));
        assertThat(found)
                .flatExtracting(
                        it -> it.device().netdev().map(Netdev::name).stream().toList())
                .containsExactly("eth1", "eth2");
    }

    @Test
    void tellsOfARecordedDeviceThatLibibverbsLeavesItOut() {
        NodeFixture node = twoErdmaDevices();
        fake.device("erdma_1").hidden(true);
        node.removeDeviceNode("infiniband/uverbs0");

        Found found = scan(node).getLast();

        assertThat(found.inVerbs()).isFalse();
        assertThat(found.uverbsPresent()).isFalse();
        assertThat(found.missingFromVerbs())
                .hasValueSatisfying(why -> assertThat(why).contains("uverbs0 is missing"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mlx5_0 erdma_0 erdma_1",
                "mlx5_0 erdma_1 erdma_0",
                "erdma_0 mlx5_0 erdma_1",
                "erdma_0 erdma_1 mlx5_0",
                "erdma_1 mlx5_0 erdma_0",
                "erdma_1 erdma_0 mlx5_0"
            })
    void r06_oneBadCardHidesNoOtherInWhateverOrderTheyAreListed(String order) throws Exception {
        NodeFixture node = twoErdmaDevices();
        addMellanoxCard(node);
        fake.device("mlx5_0").uverbs("uverbs2").failing(Call.OPEN_DEVICE, Errno.EPERM);
        fake.device("erdma_1").failing(Call.QUERY_PORT, Errno.EINVAL);
        List<String> names = List.of(order.split(" "));
        for (int i = 0; i < names.size(); i++) {
            fake.device(names.get(i)).index(i);
        }
        start(node);

        awaitHealthy("erdma_0");
        assertThat(stream.latest().find("mlx5_0")).isEmpty();
        assertThat(stream.latest().find("erdma_1"))
                .hasValueSatisfying(entry -> assertThat(entry.health())
                        .isInstanceOfSatisfying(
                                Unhealthy.class,
                                health -> assertThat(health.reason())
                                        .isEqualTo("ibv_query_port on erdma_1 port 1 failed: EINVAL (22)")));
        assertThat(kubeletsList()).hasSize(400);
        assertThat(logged)
                .filteredOn(line -> line.startsWith("mlx5_0"))
                .containsExactly(
                        "mlx5_0 is not offered: driver mlx5_core is not chosen by any device selector (the default: eRDMA)");
    }

    @Test
    void r06_aRenamedErdmaDeviceIsOfferedBesideCardsThatCannotBeAsked() throws Exception {
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_BESIDE_MLX5, root);
        fake.device("mlx5_0").uverbs("uverbs0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        fake.device("mlx5_1").uverbs("uverbs2").failing(Call.QUERY_PORT, Errno.EIO);
        fake.device("rocep128s7").uverbs("uverbs1");
        start(node);

        awaitHealthy("rocep128s7");

        assertThat(stream.latest().devices()).hasSize(1);
        assertThat(kubeletsList())
                .hasSize(200)
                .allMatch(device -> device.getID().startsWith("rocep128s7/"));
    }

    @Test
    void followsAPortThatGoesDownAndComesBack() throws Exception {
        NodeFixture node = twoErdmaDevices();
        start(node);
        awaitHealthy("erdma_0", "erdma_1");

        fake.device("erdma_0").portDown();
        awaitHealthy("erdma_1");
        assertThat(kubeletsList())
                .filteredOn(device -> device.getHealth().equals(DeviceStream.UNHEALTHY))
                .hasSize(200)
                .allMatch(device -> device.getID().startsWith("erdma_0/"));

        fake.device("erdma_0").portUp();
        awaitHealthy("erdma_0", "erdma_1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "", "abc", "2", "missing"})
    void r08_oneDeviceOfUnknownNumaNodeTakesTheTopologyFromAll(String text) throws Exception {
        NodeFixture node = twoErdmaDevices();
        for (String file : List.of(NUMA_OF_ERDMA_0, NUMA_OF_ETH1)) {
            if (text.equals("missing")) {
                node.remove(file);
            } else {
                node.write(file, text + "\n");
            }
        }
        start(node);

        awaitHealthy("erdma_0", "erdma_1");

        assertThat(kubeletsList()).hasSize(400).noneMatch(Device::hasTopology);
        assertThat(stream.latest().devices())
                .extracting(entry -> entry.device().numaNode())
                .containsExactly(OptionalInt.empty(), OptionalInt.of(1));
    }

    @Test
    void r08_everyShareHasItsTopologyWhereAllNumaNodesAreKnown() throws Exception {
        start(twoErdmaDevices());

        awaitHealthy("erdma_0", "erdma_1");

        assertThat(kubeletsList())
                .hasSize(400)
                .allMatch(device -> device.getTopology().getNodes(0).getID()
                        == (device.getID().startsWith("erdma_0/") ? 0 : 1));
    }
}
