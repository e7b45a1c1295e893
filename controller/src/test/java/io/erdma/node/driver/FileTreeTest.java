package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {
    private static final int FILES = 2_000;

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

    /** While a directory is being emptied, somebody puts a link in its parent's place, behind which all names are the same. */
    @Test
    void isNotLedAstrayByALinkThatTakesADirectorysPlaceMeanwhile() throws Exception {
        Path kept = Files.createDirectories(directory.resolve("kept"));
        fill(kept.resolve("b"));
        boolean exchanged = false;
        for (int attempt = 0; !exchanged && attempt < 20; attempt++) {
            Path tree = directory.resolve("tree" + attempt);
            fill(tree.resolve("a/b"));
            try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
                Future<Boolean> exchange = threads.submit(() -> exchangeOnceItIsBeingEmptied(tree.resolve("a"), kept));
                deleteOrFail(tree);
                exchanged = exchange.get();
            }
        }
        assertThat(exchanged).as("it came in time").isTrue();
        try (var files = Files.list(kept.resolve("b"))) {
            assertThat(files.count()).isEqualTo(FILES);
        }
    }

    private static void fill(Path place) throws IOException {
        Files.createDirectories(place);
        for (int i = 0; i < FILES; i++) {
            Files.createFile(place.resolve("f" + i));
        }
    }

    private boolean exchangeOnceItIsBeingEmptied(Path place, Path target) throws IOException {
        Path aside = directory.resolve("aside-" + place.getParent().getFileName());
        for (int i = 0; Files.exists(place.resolve("b/f" + i % FILES)); i++) {
            Thread.onSpinWait();
        }
        try {
            Files.move(place, aside);
            Files.createSymbolicLink(place, target);
            return true;
        } catch (IOException e) {
            // All was gone by then.
            return false;
        }
    }

    private static void deleteOrFail(Path tree) {
        try {
            FileTree.delete(tree);
        } catch (IOException e) {
            // The link is in the way of its parent's end; that is no harm.
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
