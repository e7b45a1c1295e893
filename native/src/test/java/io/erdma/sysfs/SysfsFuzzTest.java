package io.erdma.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
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

/** Whatever stands in the files, and wherever the links lead, reading them ends and finds devices or none. */
class SysfsFuzzTest {
    private static Path directory;

    /** Each laid out once, since that takes longer than a try: a try puts back what it replaced. */
    private static Map<String, NodeFixture> nodes;

    @BeforeContainer
    static void layNodes() throws IOException {
        directory = Files.createTempDirectory("sysfs-fuzz");
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

    @Property(tries = 100)
    void readsAnyContent(@ForAll("names") String name, @ForAll("contents") Damage damage) throws IOException {
        damage.during(nodes.get(name), SysfsFuzzTest::readEverything);
    }

    @Property(tries = 100)
    void followsLinksAnywhere(@ForAll("names") String name, @ForAll("links") Damage damage) throws IOException {
        damage.during(nodes.get(name), SysfsFuzzTest::readEverything);
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
