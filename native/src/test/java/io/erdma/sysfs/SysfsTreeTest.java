package io.erdma.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SysfsTreeTest {
    private static final String NUMA_OF_ERDMA_0 = "devices/pci0000:00/0000:00:07.0/numa_node";
    private static final String NUMA_OF_ETH1 = "devices/pci0000:00/0000:00:06.0/numa_node";

    @TempDir
    Path directory;

    private NodeFixture node;

    private SysfsTree lay(String name) {
        node = NodeFixture.lay(name, directory);
        return new SysfsTree(node.sysfs());
    }

    private RdmaClassDevice device(SysfsTree tree, String name) {
        return tree.rdmaDevices().stream()
                .filter(device -> device.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void looksAtTheFirstGidSlotsByNumber() throws IOException {
        Path device = directory.resolve("class/infiniband/erdma_0");
        Path ndevs = Files.createDirectories(device.resolve("ports/1/gid_attrs/ndevs"));
        for (int slot = 0; slot < 1024; slot++) {
            Files.writeString(ndevs.resolve("" + slot), slot == 9 ? "eth1\n" : "");
        }

        assertThat(device(new SysfsTree(directory), "erdma_0").netdevs()).containsExactly("eth1");
    }

    @Test
    void describesARecordedSoftRoceDeviceThatHasNoDeviceLink() {
        SysfsTree tree = lay(NodeFixture.SOFT_ROCE);
        assertThat(tree.rdmaDevices())
                .containsExactly(
                        new RdmaClassDevice(
                                "erdma_0",
                                NodeType.CA,
                                new NodeGuid(0x505400fffe000002L),
                                Optional.empty(),
                                OptionalInt.empty(),
                                OptionalInt.empty(),
                                Optional.empty(),
                                List.of("eth1"),
                                OptionalInt.empty(),
                                List.of(1)),
                        new RdmaClassDevice(
                                "erdma_1",
                                NodeType.CA,
                                new NodeGuid(0x505400fffe000003L),
                                Optional.empty(),
                                OptionalInt.empty(),
                                OptionalInt.empty(),
                                Optional.empty(),
                                List.of("eth2"),
                                OptionalInt.empty(),
                                List.of(1)));
        assertThat(tree.portState("erdma_0", 1)).contains(PortState.ACTIVE);
        assertThat(tree.erdmaCompatMode()).isEmpty();
    }

    @Test
    void givesASoftDeviceTheNumaNodeOfItsInterfacesPciFunction() {
        SysfsTree tree = lay(NodeFixture.SOFT_ROCE);
        node.write("devices/pci0000:00/0000:00:05.0/numa_node", "0\n");
        assertThat(device(tree, "erdma_0").numaNode()).hasValue(0);
        assertThat(device(tree, "erdma_1").numaNode()).isEmpty();
    }

    @Test
    void describesAnErdmaCardByItsPciFunctionAndFindsItsInterfaceByTheGidTable() {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        assertThat(tree.rdmaDevices())
                .first()
                .isEqualTo(new RdmaClassDevice(
                        "erdma_0",
                        NodeType.CA,
                        new NodeGuid(0x02163efffe0a0001L),
                        Optional.of("erdma"),
                        OptionalInt.of(0x1ded),
                        OptionalInt.of(0x107f),
                        Optional.of("0000:00:07.0"),
                        List.of("eth1"),
                        OptionalInt.of(0),
                        List.of(1)));
        assertThat(device(tree, "erdma_1").numaNode()).hasValue(1);
        assertThat(device(tree, "erdma_1").netdevs()).containsExactly("eth2");
    }

    @Test
    void takesTheUverbsNodeFromSysfsAndNotFromTheDevicesNumber() {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        assertThat(tree.uverbsDevices())
                .containsExactly(
                        new UverbsClassDevice(
                                "uverbs0", "erdma_1", OptionalInt.of(231), OptionalInt.of(192), OptionalInt.of(1)),
                        new UverbsClassDevice(
                                "uverbs1", "erdma_0", OptionalInt.of(231), OptionalInt.of(193), OptionalInt.of(1)));
    }

    @Test
    void tellsTheModeOnlyWhereTheModuleHasTheParameter() {
        assertThat(lay(NodeFixture.ERDMA_COMPAT).erdmaCompatMode()).contains(true);
        node.write("module/erdma/parameters/compat_mode", "N\n");
        assertThat(new SysfsTree(node.sysfs()).erdmaCompatMode()).contains(false);
        node.write("module/erdma/parameters/compat_mode", "maybe\n");
        assertThat(new SysfsTree(node.sysfs()).erdmaCompatMode()).isEmpty();
    }

    @Test
    void knowsTheInTreeDriversIwarpDeviceAsRnicOfUnknownMode() {
        SysfsTree tree = lay(NodeFixture.ERDMA_IN_TREE_IWARP);
        assertThat(device(tree, "erdma_0").nodeType()).isEqualTo(NodeType.RNIC);
        assertThat(device(tree, "erdma_0").netdevs()).containsExactly("eth1");
        assertThat(device(tree, "erdma_0").numaNode()).isEmpty();
        assertThat(tree.erdmaCompatMode()).isEmpty();
    }

    @Test
    void listsARenamedErdmaDeviceThoughAForeignCardHasAnUnreadableGuid() {
        SysfsTree tree = lay(NodeFixture.ERDMA_BESIDE_MLX5);
        assertThat(tree.rdmaDevices())
                .extracting(RdmaClassDevice::name)
                .containsExactly("mlx5_0", "mlx5_1", "rocep128s7");
        assertThat(device(tree, "mlx5_1").nodeGuid()).isEqualTo(new NodeGuid(0));
        assertThat(device(tree, "mlx5_1").netdevs()).containsExactly("ens72np0");
        assertThat(device(tree, "rocep128s7").driver()).contains("erdma");
        assertThat(device(tree, "rocep128s7").netdevs()).containsExactly("eth0");
        assertThat(tree.portState("mlx5_1", 1)).contains(PortState.DOWN);
        assertThat(tree.boardId("mlx5_0")).contains("MT_0000000223");
        assertThat(tree.hcaType("mlx5_0")).contains("MT4123");
        assertThat(tree.boardId("rocep128s7")).isEmpty();
    }

    @Test
    void takesTheInterfacesNumaNodeWhereTheDeviceDoesNotKnowItsOwn() {
        SysfsTree tree = lay(NodeFixture.ERDMA_BESIDE_MLX5);
        assertThat(device(tree, "rocep128s7").numaNode()).hasValue(1);
        assertThat(tree.netdevNumaNode("eth0")).hasValue(1);
        assertThat(tree.netdevNumaNode("ens5")).hasValue(0);
    }

    @Test
    void answersWithNothingWhereTheKernelHasNoRdma() {
        SysfsTree tree = lay(NodeFixture.NO_RDMA);
        assertThat(tree.rdmaDevices()).isEmpty();
        assertThat(tree.uverbsDevices()).isEmpty();
        assertThat(tree.portState("erdma_0", 1)).isEmpty();
        assertThat(tree.erdmaCompatMode()).isEmpty();
        assertThat(new SysfsTree(directory.resolve("nowhere")).rdmaDevices()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "", "abc", "2", "99999999999999999999", "0x0", "1 1", "+1", "\u0661"})
    void treatsANumaNodeThatIsNoOnlineNodeAsUnknown(String text) {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.write(NUMA_OF_ERDMA_0, text + "\n");
        node.write(NUMA_OF_ETH1, text + "\n");
        assertThat(device(tree, "erdma_0").numaNode()).isEmpty();
        assertThat(device(tree, "erdma_1").numaNode()).hasValue(1);
    }

    @Test
    void treatsAMissingNumaNodeAsUnknown() {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.remove(NUMA_OF_ERDMA_0);
        node.remove(NUMA_OF_ETH1);
        assertThat(device(tree, "erdma_0").numaNode()).isEmpty();
    }

    @Test
    void treatsAnUnreadableNumaNodeAsUnknown() throws IOException {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        // root reads any file, but nobody reads a directory.
        for (String file : List.of(NUMA_OF_ERDMA_0, NUMA_OF_ETH1)) {
            node.remove(file);
            Files.createDirectory(node.sysfs().resolve(file));
        }
        assertThat(device(tree, "erdma_0").numaNode()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0-1", "0,1", "1,0-0", "0-1,4-999999999"})
    void readsTheOnlineNodesAsAListOfRanges(String online) {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.write("devices/system/node/online", online + "\n");
        assertThat(device(tree, "erdma_0").numaNode()).hasValue(0);
        assertThat(device(tree, "erdma_1").numaNode()).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "1-", "-1", "2-3"})
    void knowsNoNodeWhereTheOnlineListDoesNotNameIt(String online) {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.write("devices/system/node/online", online + "\n");
        assertThat(device(tree, "erdma_0").numaNode()).isEmpty();
    }

    @Test
    void survivesLoopsOfLinksAndFilesWithoutEnd() throws IOException {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.link("class/infiniband/loop", "loop");
        node.link("class/net/eth1", "eth1");
        node.link("class/infiniband_verbs/uverbs7", "../infiniband_verbs");
        node.remove("class/infiniband/erdma_0/node_type");
        node.link("class/infiniband/erdma_0/node_type", "/dev/zero");
        node.write("class/infiniband/erdma_0/fw_ver", "1".repeat(1 << 20));
        node.write("class/infiniband/erdma_0/ports/1/state", "4".repeat(1 << 20));
        assertThat(tree.rdmaDevices()).extracting(RdmaClassDevice::name).containsExactly("erdma_0", "erdma_1");
        assertThat(device(tree, "erdma_0").nodeType()).isEqualTo(NodeType.UNKNOWN);
        assertThat(tree.portState("erdma_0", 1)).isEmpty();
        assertThat(tree.netdevNumaNode("eth1")).isEmpty();
        assertThat(tree.uverbsDevices()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "../../devices", "a/b", "a\0b"})
    void neverLeavesItsDirectoryForAStrangeName(String name) {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        assertThat(tree.portState(name, 1)).isEmpty();
        assertThat(tree.netdevNumaNode(name)).isEmpty();
        assertThat(tree.boardId(name)).isEmpty();
    }

    @Test
    void seesDevicesGoAndPortsFallAsTheTreeChanges() {
        SysfsTree tree = lay(NodeFixture.ERDMA_COMPAT);
        node.setPortState("erdma_0", 1, "1: DOWN");
        node.removeDevice("erdma_1");
        assertThat(tree.rdmaDevices()).extracting(RdmaClassDevice::name).containsExactly("erdma_0");
        assertThat(tree.uverbsDevices()).extracting(UverbsClassDevice::name).containsExactly("uverbs1");
        assertThat(tree.portState("erdma_0", 1)).contains(PortState.DOWN);
        assertThat(node.dev().resolve("infiniband/uverbs0")).doesNotExist();
        assertThat(node.dev().resolve("infiniband/uverbs1")).exists();
    }
}
