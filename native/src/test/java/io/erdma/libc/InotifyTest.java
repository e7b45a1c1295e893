package io.erdma.libc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.libc.Inotify.Change;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InotifyTest {
    @TempDir
    Path parent;

    private Path directory;
    private Inotify inotify;

    @BeforeEach
    void watchADirectory() throws Exception {
        directory = Files.createDirectory(parent.resolve("watched"));
        inotify = Inotify.open();
        inotify.watch(directory);
    }

    @AfterEach
    void close() {
        inotify.close();
    }

    @Test
    void readsNothingWhenNothingHappened() throws Exception {
        assertThat(inotify.read()).isEmpty();
    }

    @Test
    void tellsWhatAppearsAndWhatGoes() throws Exception {
        Path file = Files.createFile(directory.resolve("kubelet.sock"));
        Files.delete(file);
        Path outside = Files.createFile(parent.resolve("uverbs0"));
        Files.move(outside, directory.resolve("uverbs0"));
        Files.move(directory.resolve("uverbs0"), outside);
        assertThat(inotify.read())
                .containsExactly(appeared("kubelet.sock"), went("kubelet.sock"), appeared("uverbs0"), went("uverbs0"));
        assertThat(inotify.read()).isEmpty();
    }

    @Test
    void makesAPollerReturn() throws Exception {
        try (Poller poller = Poller.open()) {
            Files.createFile(directory.resolve("erdma_0"));
            assertThat(poller.await(List.of(inotify.descriptor()), Duration.ofSeconds(30))
                            .readable())
                    .containsExactly(inotify.descriptor());
        }
    }

    @Test
    void aRemovedDirectoryEndsItsWatchOnceAndCanBeWatchedAgain() throws Exception {
        Files.delete(directory);
        assertThat(inotify.read()).containsExactly(gone());
        Files.createDirectory(directory);
        Files.createFile(directory.resolve("unseen"));
        assertThat(inotify.read()).isEmpty();
        inotify.watch(directory);
        Files.createFile(directory.resolve("seen"));
        assertThat(inotify.read()).containsExactly(appeared("seen"));
    }

    @Test
    void aMovedDirectoryIsGoneAndNoLongerFollowed() throws Exception {
        Path elsewhere = Files.move(directory, parent.resolve("elsewhere"));
        assertThat(inotify.read()).containsExactly(gone());
        Files.createFile(elsewhere.resolve("unseen"));
        assertThat(inotify.read()).isEmpty();
    }

    @Test
    void watchingAPathThatLeadsElsewhereNowLeavesTheFormerDirectory() throws Exception {
        Path other = Files.createDirectory(parent.resolve("other"));
        Path link = parent.resolve("link");
        Path former = Files.createDirectory(parent.resolve("former"));
        Files.createSymbolicLink(link, former);
        inotify.watch(link);
        Files.delete(link);
        Files.createSymbolicLink(link, other);
        inotify.watch(link);
        Files.createFile(former.resolve("unseen"));
        Files.createFile(other.resolve("seen"));
        assertThat(inotify.read()).containsExactly(new Change(link, "seen", true, false, false));
    }

    @Test
    void watchingTwiceTellsEachChangeOnce() throws Exception {
        inotify.watch(directory);
        Files.createFile(directory.resolve("once"));
        assertThat(inotify.read()).containsExactly(appeared("once"));
    }

    @Test
    void aFullQueueIsOneOverflowBesideWhatFitted() throws Exception {
        // By lines: a file of /proc/sys answers the first read alone, and Files.readString begins with one byte.
        int queued = Integer.parseInt(Files.readAllLines(Path.of("/proc/sys/fs/inotify/max_queued_events"))
                .getFirst());
        // Create and delete in turn, since the kernel merges equal neighbours; two events each time.
        for (int i = 0; i < queued; i++) {
            Files.delete(Files.createFile(directory.resolve("uverbs0")));
        }
        List<Change> changes = inotify.read();
        assertThat(changes).hasSizeLessThan(2 * queued);
        assertThat(changes.getFirst()).isEqualTo(appeared("uverbs0"));
        assertThat(changes)
                .filteredOn(Change::overflow)
                .containsExactly(new Change(Path.of(""), "", false, false, true));
    }

    @Test
    void aDirectoryThatIsNotThereIsEnoentWithItsPath() {
        Path missing = parent.resolve("missing");
        assertThatThrownBy(() -> inotify.watch(missing))
                .isInstanceOf(NativeException.class)
                .hasMessage("inotify_add_watch on " + missing + " failed: ENOENT (2)");
    }

    @Test
    void afterCloseEachCallIsRefused() {
        inotify.close();
        inotify.close();
        assertThatThrownBy(() -> inotify.read()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> inotify.watch(directory)).isInstanceOf(IllegalStateException.class);
    }

    private Change appeared(String name) {
        return new Change(directory, name, true, false, false);
    }

    private Change went(String name) {
        return new Change(directory, name, false, false, false);
    }

    private Change gone() {
        return new Change(directory, "", false, true, false);
    }
}
