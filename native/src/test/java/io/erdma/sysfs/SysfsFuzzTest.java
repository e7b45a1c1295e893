package io.erdma.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

/** Whatever stands in the files, and wherever the links lead, reading them ends and finds devices or none. */
class SysfsFuzzTest extends DamagedNodes {
    SysfsFuzzTest() {
        super(SysfsFuzzTest::readEverything);
    }

    private static void readEverything(NodeFixture node) {
        var tree = new SysfsTree(node.sysfs());
        assertThat(tree.rdmaDevices().size()).isLessThanOrEqualTo(4);
        for (var device : tree.rdmaDevices()) {
            assertThat(device.numaNode().orElse(0)).isNotNegative();
            for (int port : device.ports()) {
                assertThat(tree.portState(device.name(), port)).isNotNull();
            }
            for (String netdev : device.netdevs()) {
                assertThat(tree.netdevNumaNode(netdev).orElse(0)).isNotNegative();
            }
            assertThat(tree.boardId(device.name()).orElse("").length()).isLessThanOrEqualTo(4096);
        }
        for (var uverbs : tree.uverbsDevices()) {
            assertThat(uverbs.rdmaDevice()).isNotEmpty();
        }
        assertThat(tree.erdmaCompatMode()).isNotNull();
    }
}
