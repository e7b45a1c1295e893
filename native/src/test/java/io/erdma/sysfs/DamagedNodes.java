package io.erdma.sysfs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Recorded nodes whose sysfs tree is damaged in every way that a program which reads it must stand. */
public abstract class DamagedNodes {
    private static Path directory;

    /** Each laid out once, since that takes longer than a try: a try puts back what it replaced. */
    private static Map<String, NodeFixture> nodes;

    private final Consumer<NodeFixture> reader;

    /** @param reader reads all of a node, and checks that what it got can be passed on */
    protected DamagedNodes(Consumer<NodeFixture> reader) {
        this.reader = reader;
    }

    @BeforeContainer
    static void layNodes() throws IOException {
        directory = Files.createTempDirectory("damaged-nodes");
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

    @Property(tries = 80)
    void readsAnyContent(@ForAll("names") String name, @ForAll("contents") Damage damage) throws IOException {
        damage.during(nodes.get(name), reader);
    }

    @Property(tries = 80)
    void followsLinksAnywhere(@ForAll("names") String name, @ForAll("links") Damage damage) throws IOException {
        damage.during(nodes.get(name), reader);
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
