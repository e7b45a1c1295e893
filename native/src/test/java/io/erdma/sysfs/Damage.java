package io.erdma.sysfs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/**
 * Files and links of a node's sysfs tree that are replaced for a while; for property tests.
 *
 * @param seed chooses which ones
 */
public record Damage(int seed, List<Replacement> replacements) {
    /** Creates what shall stand in the place of a file or link. */
    public interface Replacement {
        void create(Path path) throws IOException;
    }

    public Damage {
        replacements = List.copyOf(replacements);
    }

    /** Any bytes, and what is likely to be misread. */
    public static Arbitrary<Damage> contents() {
        // Drawn at once, since bytes shrunk one by one would tell nothing more.
        Arbitrary<byte[]> random = Arbitraries.randomValue(source -> {
            byte[] bytes = new byte[source.nextInt(6001)];
            source.nextBytes(bytes);
            return bytes;
        });
        Arbitrary<byte[]> likely = Arbitraries.of(
                        "",
                        "\n",
                        "-1",
                        "0",
                        "999999999",
                        "4294967295",
                        "0-999999999",
                        ",,,-",
                        "4:",
                        ": ACTIVE",
                        "0x",
                        "0xffffffff",
                        "../../..",
                        "eth1\0",
                        "231:",
                        "eth1")
                .map(text -> text.getBytes(StandardCharsets.UTF_8));
        Arbitrary<Replacement> replacement =
                Arbitraries.oneOf(random, likely).map(content -> path -> Files.write(path, content));
        return of(replacement, 20, 120);
    }

    public static Arbitrary<Damage> links() {
        Arbitrary<Replacement> replacement = Arbitraries.of(
                        ".", "..", "../..", "loop", "/", "/dev/zero", "/proc/self", "nowhere", "../../../..")
                .map(target -> path -> Files.createSymbolicLink(path, Path.of(target)));
        return of(replacement, 5, 60);
    }

    private static Arbitrary<Damage> of(Arbitrary<Replacement> replacement, int least, int most) {
        return Arbitraries.integers()
                .flatMap(seed -> replacement
                        .list()
                        .ofMinSize(least)
                        .ofMaxSize(most)
                        .map(replacements -> new Damage(seed, replacements)));
    }

    /** Does the damage, and repairs it afterwards, since laying a node out anew takes longer. */
    public void during(NodeFixture node, Consumer<NodeFixture> action) throws IOException {
        List<Path> paths = filesAndLinks(node.sysfs());
        Path saved = Files.createTempDirectory(node.sysfs().getParent(), "saved");
        Map<Path, Path> places = new LinkedHashMap<>();
        try {
            for (int i = 0; i < replacements.size(); i++) {
                Path path = paths.get(Math.floorMod(seed + i * 31, paths.size()));
                if (places.containsKey(path)) {
                    continue;
                }
                places.put(path, saved.resolve(Integer.toString(i)));
                Files.move(path, places.get(path));
                replacements.get(i).create(path);
            }
            action.accept(node);
        } finally {
            for (Map.Entry<Path, Path> place : places.entrySet()) {
                Files.move(place.getValue(), place.getKey(), StandardCopyOption.REPLACE_EXISTING);
            }
            Files.delete(saved);
        }
    }

    private static List<Path> filesAndLinks(Path root) {
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
