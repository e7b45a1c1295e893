package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {
    @TempDir
    private Path directory;

    @Test
    void deletesADirectoryWithAllThatIsInItAndNoTargetOfALink() throws IOException {
        Path kept = Files.createDirectories(directory.resolve("kept/inner"));
        Files.writeString(kept.resolve("file"), "x");
        Path tree = Files.createDirectories(directory.resolve("tree/a/b/c"));
        Files.writeString(tree.resolve("file"), "x");
        Files.createSymbolicLink(tree.resolve("out"), kept);
        Files.createSymbolicLink(tree.resolve("nowhere"), Path.of("/no/such/place"));
        FileTree.delete(directory.resolve("tree"));
        assertThat(directory.resolve("tree")).doesNotExist();
        assertThat(kept.resolve("file")).exists();
        FileTree.delete(directory.resolve("tree"));
    }

    @Test
    void deletesALinkItselfAndNotTheDirectoryBehindIt() throws IOException {
        Path kept = Files.createDirectories(directory.resolve("kept/inner"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), kept.getParent());
        FileTree.delete(link);
        assertThat(kept).exists();
        assertThat(Files.isSymbolicLink(link)).isFalse();
    }

    /** Somebody exchanges a directory and a link that leads out, back and forth, as fast as possible. */
    @Test
    void isNotLedAstrayByALinkThatTakesADirectorysPlaceMeanwhile() throws Exception {
        Path kept = Files.createDirectories(directory.resolve("kept"));
        for (int i = 0; i < 300; i++) {
            Files.writeString(kept.resolve("file" + i), "x");
        }
        AtomicBoolean end = new AtomicBoolean();
        Path tree = directory.resolve("tree");
        Path place = tree.resolve("place");
        Path aside = directory.resolve("aside");
        Path link = directory.resolve("link");
        Thread exchanger = Thread.ofPlatform().daemon().start(() -> {
            while (!end.get()) {
                exchange(place, aside, link, kept);
            }
        });
        try {
            for (int round = 0; round < 200; round++) {
                Files.createDirectories(place);
                for (int i = 0; i < 5; i++) {
                    Files.createDirectories(tree.resolve("d" + i));
                }
                deleteOrFail(tree);
            }
        } finally {
            end.set(true);
            exchanger.join();
        }
        try (var files = Files.list(kept)) {
            assertThat(files.count()).isEqualTo(300);
        }
    }

    private static void exchange(Path place, Path aside, Path link, Path target) {
        try {
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, target);
            Files.move(place, aside, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            Files.move(link, place, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            Files.move(place, link, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            Files.move(aside, place, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // The other side was faster this time.
            return;
        }
    }

    private static void deleteOrFail(Path tree) {
        try {
            FileTree.delete(tree);
        } catch (IOException e) {
            // What came meanwhile is in the way; that is no harm.
            return;
        }
    }

    @Test
    void doesNotDigWithoutEnd() throws IOException {
        Path deep = directory.resolve("tree");
        Path deepest = deep;
        for (int i = 0; i < 300; i++) {
            deepest = deepest.resolve("d");
        }
        Files.createDirectories(deepest);
        assertThatThrownBy(() -> FileTree.delete(deep)).hasMessageContaining("deeper than 256");
    }
}
