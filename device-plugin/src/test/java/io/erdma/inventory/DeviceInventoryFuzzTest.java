package io.erdma.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.sysfs.Damage;
import io.erdma.sysfs.NodeFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever stands in sysfs, a scan ends with an answer that can be passed on. */
final class DeviceInventoryFuzzTest {
    private static Path directory;
    private static Map<String, NodeFixture> nodes;

    @BeforeContainer
    static void layNodes() throws IOException {
        directory = Files.createTempDirectory("inventory-fuzz");
        nodes = Stream.of(NodeFixture.SOFT_ROCE, NodeFixture.ERDMA_COMPAT, NodeFixture.ERDMA_BESIDE_MLX5)
                .collect(Collectors.toMap(name -> name, name -> NodeFixture.lay(name, directory.resolve(name))));
    }

    @AfterContainer
    static void removeNodes() throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
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

    @Property(tries = 150)
    void scansAnyContent(@ForAll("names") String name, @ForAll("contents") Damage damage) throws IOException {
        damage.during(nodes.get(name), DeviceInventoryFuzzTest::scan);
    }

    @Property(tries = 150)
    void scansLinksToAnywhere(@ForAll("names") String name, @ForAll("links") Damage damage) throws IOException {
        damage.during(nodes.get(name), DeviceInventoryFuzzTest::scan);
    }

    @Provide
    Arbitrary<String> names() {
        return Arbitraries.of(NodeFixture.SOFT_ROCE, NodeFixture.ERDMA_COMPAT, NodeFixture.ERDMA_BESIDE_MLX5);
    }

    @Provide
    Arbitrary<Damage> contents() {
        return Damage.contents();
    }

    @Provide
    Arbitrary<Damage> links() {
        return Damage.links();
    }
}
