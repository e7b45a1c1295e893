package io.erdma.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.sysfs.DamagedNodes;
import io.erdma.sysfs.NodeFixture;
import java.nio.file.Path;
import java.util.List;

/** Whatever stands in sysfs, a scan ends with an answer that can be passed on. */
final class DeviceInventoryFuzzTest extends DamagedNodes {
    DeviceInventoryFuzzTest() {
        super(DeviceInventoryFuzzTest::scan);
    }

    private static void scan(NodeFixture node) {
        FixtureNode sources =
                new FixtureNode(node, "/nonexistent/libibverbs.so.1", List.of(ScriptedNode.link(3, "eth1", true)));
        InventorySnapshot snapshot =
                new DeviceInventory(sources, FixtureNode.paths(node), List.of(DeviceSelector.parse("name=*"))).scan();

        assertThat(snapshot.sources()).extracting(SourceStatus::source).containsExactlyInAnyOrder(Source.values());
        assertThat(snapshot.devices()).hasSizeLessThanOrEqualTo(4).allMatch(Found::selected);
        for (Found found : snapshot.devices()) {
            assertThat(found.device().numaNode().orElse(0)).isNotNegative();
            assertThat(found.device().uverbs().map(Path::getParent).orElse(Path.of("/dev/infiniband")))
                    .isEqualTo(Path.of("/dev/infiniband"));
            assertThat(found.missingFromVerbs())
                    .hasValueSatisfying(why -> assertThat(why).isNotBlank());
        }
    }
}
