package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.erdma.cli.NodeExplanation.Device;
import io.erdma.cli.NodeExplanation.DriverKind;
import io.erdma.device.DeviceHealth;
import io.erdma.health.MonitorStatus;
import io.erdma.health.MonitorStatus.DeviceStatus;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodePaths;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.Errno;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.FakeVerbs;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeExplainerTest {
    @TempDir
    private Path directory;

    private FakeVerbs fake;

    @BeforeEach
    void startWithoutDevices() {
        fake = FakeVerbs.at(directory.resolve("verbs"));
    }

    @AfterEach
    void takeTheDevicesAway() {
        fake.close();
    }

    @Test
    void tellsOfEachDeviceWhetherItWouldBeOfferedAndByWhichRule() throws Exception {
        fake.device("erdma_0").uverbs("uverbs1");
        fake.device("erdma_1").uverbs("uverbs0").portState(PortState.DOWN);
        NodeExplanation explanation = explain(node(NodeFixture.ERDMA_COMPAT));
        Device first = device(explanation, "erdma_0");
        assertThat(first.found().selected()).isTrue();
        assertThat(first.driver()).isEqualTo(DriverKind.OUT_OF_TREE);
        assertThat(explanation.compatMode()).contains(true);
        assertThat(ExplainFormat.format(explanation))
                .contains("erdma_0\n  advertised:     yes: ")
                .contains("driver:         erdma, out-of-tree, compat_mode Y\n")
                .contains("uverbs node:    /dev/infiniband/uverbs1\n")
                .contains("NUMA node:      0\n")
                .contains("health:         healthy\n")
                .contains("health:         UNHEALTHY: port 1 is DOWN\n");
    }

    @Test
    void doesNotTakeTheKernelsOwnDriverForModeN() throws Exception {
        fake.device("erdma_0").nodeType(NodeType.RNIC);
        NodeExplanation explanation = explain(node(NodeFixture.ERDMA_IN_TREE_IWARP));
        assertThat(explanation.compatMode()).isEmpty();
        assertThat(device(explanation, "erdma_0").driver()).isEqualTo(DriverKind.MODE_UNKNOWN);
        assertThat(ExplainFormat.format(explanation)).contains("erdma, mode unknown", "NUMA node:      unknown");
        assertThat(ExplainJson.format(explanation)).contains("\"kind\" : \"mode-unknown\"", "\"compatMode\" : null");
    }

    @Test
    void showsInAPodTheDevicesOfTheNodeAndOpensTheOneGranted() throws Exception {
        fake.device("erdma_0").uverbs("uverbs1");
        NodeFixture node = node(NodeFixture.ERDMA_COMPAT);
        node.removeDeviceNode("infiniband/uverbs0");
        NodeExplanation explanation = explain(node);
        assertThat(device(explanation, "erdma_0").reading().filter(DeviceReading::isOpened))
                .isPresent();
        Device other = device(explanation, "erdma_1");
        assertThat(other.found().inVerbs()).isFalse();
        assertThat(other.found().missingFromVerbs().orElse("")).contains("uverbs0 is missing");
        assertThat(ExplainFormat.format(explanation))
                .contains("libibverbs:     opens it\n")
                .contains("libibverbs:     does not list it: ")
                .contains("/dev/infiniband/uverbs0, which does not exist here");
    }

    @Test
    void readsTheGidsOfADeviceThatItMayNotOpenFromSysfs() throws Exception {
        fake.device("erdma_0").uverbs("uverbs0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        NodeExplanation explanation = explain(node(NodeFixture.SOFT_ROCE));
        assertThat(device(explanation, "erdma_0").gids())
                .isNotEmpty()
                .allSatisfy(entry -> assertThat(entry.gid().isZero()).isFalse())
                .allSatisfy(entry -> assertThat(entry.type()).isEqualTo(GidEntry.Type.ROCE_V2));
        assertThat(ExplainFormat.format(explanation))
                .contains("libibverbs:     cannot open the device: ibv_open_device gives EPERM (1)");
    }

    @Test
    void marksLinkLocalGidsAndLeavesOutEmptySlots() throws Exception {
        fake.device("erdma_0")
                .nodeType(NodeType.CA)
                .attribute("gid_tbl_len", 16)
                .withoutGids()
                .gid(0, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V1, 2)
                .gid(1, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V2, 2)
                .gid(3, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 2);
        NodeExplanation explanation = explain(node(NodeFixture.NO_RDMA));
        assertThat(ExplainFormat.format(explanation).lines().filter(line -> line.startsWith("  GID")))
                .containsExactly(
                        "  GID 1/0:        RoCE v1  fe80:0000:0000:0000:0216:3eff:fe00:0001"
                                + "  (link-local: not for traffic between hosts)",
                        "  GID 1/1:        RoCE v2  fe80::216:3eff:fe00:1"
                                + "  (link-local: not for traffic between hosts)",
                        "  GID 1/3:        RoCE v2  ::ffff:10.0.0.4");
    }

    /** R15: an iWARP device has one GID, made of its interface's address, and nothing to choose from. */
    @Test
    void showsTheOneGidOfAnIwarpDevice() throws Exception {
        fake.device("erdma_0")
                .nodeType(NodeType.RNIC)
                .uverbs("uverbs0")
                .attribute("gid_tbl_len", 1)
                .withoutGids()
                .gid(0, "0016:3e00:0001::", GidEntry.Type.ROCE_V1, 3);
        String opened = ExplainFormat.format(explain(node(NodeFixture.ERDMA_IN_TREE_IWARP)));
        fake.device("erdma_0").failing(Call.OPEN_DEVICE, Errno.EACCES);
        String fromSysfs = ExplainFormat.format(explain(node(NodeFixture.ERDMA_IN_TREE_IWARP)));

        for (String text : List.of(opened, fromSysfs)) {
            assertThat(text.lines().filter(line -> line.startsWith("  GID")))
                    .singleElement()
                    .asString()
                    .contains("GID 1/0:", "0016:3e00:0001:")
                    .doesNotContain("link-local");
        }
    }

    @Test
    void showsTheNamespaceModeAndThatItIsUnknownWithoutNetlink() throws IOException {
        NodeExplanation exclusive = explanation(Optional.of(NetnsMode.EXCLUSIVE));
        assertThat(ExplainFormat.format(exclusive)).contains("RDMA netns:     exclusive: ");
        assertThat(ExplainJson.format(exclusive)).contains("\"netnsMode\" : \"exclusive\"");
        assertThat(ExplainFormat.format(explanation(Optional.of(NetnsMode.SHARED))))
                .contains("RDMA netns:     shared\n");
        NodeExplanation unknown = explanation(Optional.empty());
        assertThat(ExplainFormat.format(unknown))
                .contains("RDMA netns:     mode unknown\n", "rdma-netlink:   unusable: EPROTONOSUPPORT (93)\n");
        assertThat(ExplainJson.format(unknown)).contains("\"netnsMode\" : null");
    }

    @Test
    void writesJsonOfAsciiThatAParserReads() throws Exception {
        fake.device("e\u001b[31m\u202e_0").gid(0, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 2);
        NodeExplanation explanation = explain(node(NodeFixture.ERDMA_BESIDE_MLX5));
        String json = ExplainJson.format(explanation);
        assertThat(json.chars()).allMatch(c -> (c >= 0x20 && c < 0x7f) || c == '\n');
        int devices = 0;
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            while (parser.nextToken() != null) {
                devices += "rule".equals(parser.currentName())
                                && parser.currentToken().isScalarValue()
                        ? 1
                        : 0;
            }
        }
        assertThat(devices).isEqualTo(explanation.devices().size());
        assertThat(ExplainFormat.format(explanation))
                .contains("e\\x1b[31m\\u202e_0\n")
                .doesNotContain("\u001b");
    }

    private NodeFixture node(String name) {
        return NodeFixture.lay(name, directory.resolve("node"));
    }

    private NodeExplanation explain(NodeFixture node) throws Exception {
        NodePaths paths = new NodePaths(node.sysfs(), node.dev(), directory.resolve("etc"));
        String library = FakeVerbs.library().toString();
        Verbs verbs = Verbs.load(library);
        DevinfoReader reader = new DevinfoReader(verbs, new SysfsTree(node.sysfs()));
        List<DeviceReading> readings = new ArrayList<>();
        for (VerbsDevice device : verbs.devices()) {
            readings.add(reader.read(device, OptionalInt.empty(), true));
        }
        try (LiveSources sources = new LiveSources(library, paths)) {
            return new NodeExplainer(
                            sources, paths, List.of(DeviceSelector.ERDMA), snapshot -> judge(snapshot, readings))
                    .explain(readings);
        }
    }

    /** Healthy is a device unless libibverbs read a port that is not active. */
    private static MonitorStatus judge(InventorySnapshot snapshot, List<DeviceReading> readings) {
        List<DeviceStatus> statuses = new ArrayList<>();
        for (InventorySnapshot.Found found : snapshot.devices()) {
            boolean down = readings.stream()
                    .filter(reading ->
                            reading.device().name().equals(found.device().name()))
                    .map(DeviceReading::outcome)
                    .anyMatch(outcome -> outcome instanceof DeviceReading.Answered answered
                            && answered.ports().getFirst().attributes().state() != PortState.ACTIVE);
            DeviceHealth health = down
                    ? new DeviceHealth.Unhealthy("port 1 is DOWN", Instant.EPOCH)
                    : new DeviceHealth.Healthy(Instant.EPOCH);
            statuses.add(
                    new DeviceStatus(found.device(), health, Optional.empty(), Optional.of(Source.VERBS), List.of()));
        }
        return new MonitorStatus(
                statuses,
                snapshot.sources(),
                Optional.of(Instant.EPOCH),
                snapshot.netnsMode(),
                snapshot.rdmaCm(),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    private static NodeExplanation explanation(Optional<NetnsMode> mode) {
        Optional<String> problem = mode.isPresent() ? Optional.empty() : Optional.of("EPROTONOSUPPORT (93)");
        return new NodeExplanation(
                mode,
                Optional.empty(),
                Optional.empty(),
                List.of(new SourceStatus(Source.RDMA_NETLINK, problem)),
                List.of());
    }

    private static Device device(NodeExplanation explanation, String name) {
        return explanation.devices().stream()
                .filter(device -> device.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
