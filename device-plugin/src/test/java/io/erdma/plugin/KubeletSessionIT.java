package io.erdma.plugin;

import static io.erdma.plugin.FakeKubelet.RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.plugin.FakeKubelet.Wipe;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The session for longer, and in processes of their own, some in namespaces where the kernel denies them something. */
class KubeletSessionIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path root;

    private FakeKubelet kubelet;

    @BeforeEach
    void startKubelet() throws IOException {
        kubelet = FakeKubelet.start(root);
    }

    @AfterEach
    void stopKubelet() throws IOException {
        kubelet.close();
    }

    @Test
    void answersTheKubeletThatDialsBackInsideRegisterFromAColdStart() throws Exception {
        for (int start = 1; start <= 3; start++) {
            try (Program program = program("exec \"$@\"")) {
                kubelet.awaitRegistration(start, PATIENCE);
                kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
                program.endWithin(Duration.ofSeconds(20));
            }
        }
        assertThat(kubelet.registerCalls()).isEqualTo(3);
        assertThat(kubelet.refusals()).isEmpty();
    }

    /** R03. */
    @Test
    void answersTheKubeletThatDialsBackInsideRegisterInAHundredStarts() throws IOException {
        for (int start = 1; start <= 100; start++) {
            try (Node fresh = new Node(root)) {
                fresh.agent();
                kubelet.awaitRegistration(start, PATIENCE);
            }
        }

        assertThat(kubelet.refusals()).isEmpty();
        assertThat(kubelet.registerCalls()).isEqualTo(100);
    }

    @Test
    void holdsNoMoreAfterFiftyKubeletRestartsThanBefore() throws IOException {
        try (Node node = new Node(root)) {
            new RestartSoak(node, kubelet).run(50, 25);
        }
    }

    @Test
    void theOlderAgentTakesOverWhenTheNewerOneIsKilledAndLeavesItsSocket() throws Exception {
        try (Program old = program("exec \"$@\"")) {
            kubelet.awaitRegistration(1, PATIENCE);
            try (Program fresh = program("exec \"$@\"")) {
                kubelet.awaitRegistration(2, PATIENCE);
                await().atMost(PATIENCE).until(() -> old.output().contains("standing by"));
                fresh.kill();
                int known = kubelet.registrations().size();
                String left = kubelet.registrations().getLast().request().getEndpoint();
                assertThat(kubelet.directory().resolve(left)).exists();

                kubelet.awaitRegistration(known + 1, PATIENCE);
                kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
            }
            old.endWithin(Duration.ofSeconds(20));
        }
    }

    @Test
    void saysWhatToDoWhenItMayNotEnterTheDirectory() throws Exception {
        // Another user's, and an agent that is root without the right to pass over modes.
        Files.setAttribute(kubelet.directory(), "unix:uid", 65534);
        Files.setPosixFilePermissions(kubelet.directory(), PosixFilePermissions.fromString("rwx------"));
        try (Program program = program("exec \"$@\"", "setpriv", "--bounding-set=-dac_override,-dac_read_search")) {
            await().atMost(PATIENCE).until(() -> program.output().contains("cannot look at"));

            assertThat(program.output())
                    .contains(kubelet.directory().toString(), "run the agent as root")
                    .containsOnlyOnce("cannot look at");
            Files.setAttribute(kubelet.directory(), "unix:uid", 0);
            kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
        }
    }

    @Test
    void saysWhatToDoWhenTheFileSystemOfTheSocketsIsFull() throws Exception {
        String directory = kubelet.directory().toString();
        String aside = Files.createDirectory(root.resolve("aside")).toString();
        // The directory itself and the kubelet's socket take the two inodes that there are.
        try (Program program = program(
                "mount --bind " + directory + " " + aside + " && mount -t tmpfs -o nr_inodes=2 full " + directory
                        + " && touch " + directory + "/kubelet.sock && mount --bind " + aside + "/kubelet.sock "
                        + directory + "/kubelet.sock && exec \"$@\"",
                "unshare",
                "-U",
                "-r",
                "-m")) {
            await().atMost(PATIENCE).until(() -> program.output().contains("cannot serve in"));

            assertThat(program.output()).contains("No space left on device", "has space and inodes left");
            assertThat(kubelet.registerCalls()).isZero();
        }
    }

    /** The mount of a directory stays with it when it is removed, so the one that is made anew is out of sight. */
    @Test
    void saysWhatToDoWhenTheMountedDirectoryWasRemovedOnTheHost() throws Exception {
        Path seen = Files.createDirectories(root.resolve("seen").resolve(SocketDirectory.NAME));
        Program.Start start = new Program.Start(root, seen.getParent());
        try (Program program = start.program(
                "mount --bind " + kubelet.directory() + " " + seen + " && exec \"$@\"", "unshare", "-U", "-r", "-m")) {
            kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
            kubelet.stop();
            Files.delete(kubelet.directory().resolve(FakeKubelet.CHECKPOINT));
            await().atMost(PATIENCE).until(() -> deleted(kubelet.directory()));
            kubelet.listen(Wipe.SOCKETS);

            await().atMost(PATIENCE).until(() -> program.output().contains("was removed on the host"));

            assertThat(program.output())
                    .contains("Restart the eRDMA agent's pod")
                    .containsOnlyOnce("on the host");
        }
    }

    /** Once the agent has removed its socket. */
    private static boolean deleted(Path directory) throws IOException {
        try {
            return Files.deleteIfExists(directory);
        } catch (DirectoryNotEmptyException e) {
            return false;
        }
    }

    private Program program(String shell, String... wrapper) throws IOException {
        return new Program.Start(root, root).program(shell, wrapper);
    }

    @Test
    void survivesKubeletRestartsWithOneWarningWhenTheKernelGivesNoInotify() throws Exception {
        try (Program program =
                program("echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"", "unshare", "-U", "-r")) {
            kubelet.awaitRegistration(1, PATIENCE);
            for (int round = 2; round <= 4; round++) {
                kubelet.restart(Wipe.SOCKETS, Duration.ZERO);
                // R01 asks for ten seconds; the look every second is well within.
                kubelet.awaitRegistration(round, Duration.ofSeconds(10));
                kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
            }

            assertThat(program.output())
                    .containsOnlyOnce("fs.inotify.max_user_instances")
                    .contains("EMFILE");
        }
    }

    @Test
    void saysWhatToDoWhenTheDirectoryIsReadOnly() throws Exception {
        String directory = kubelet.directory().toString();
        try (Program program = program(
                "mount --bind " + directory + " " + directory + " && mount -o remount,ro,bind " + directory
                        + " && exec \"$@\"",
                "unshare",
                "-U",
                "-r",
                "-m")) {
            await().atMost(PATIENCE).until(() -> program.output().contains("cannot serve in"));

            assertThat(program.output())
                    .contains("Read-only file system", "cannot serve in " + directory, "Mount it read-write");
            assertThat(kubelet.registerCalls()).isZero();
        }
    }

    @Test
    void anAgentThatWasKilledLeavesASocketThatTheNextOneRemoves() throws Exception {
        try (Program killed = program("exec \"$@\"")) {
            kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
            killed.kill();
        }
        String left = kubelet.registrations().getFirst().request().getEndpoint();
        assertThat(kubelet.directory().resolve(left)).exists();

        try (Program next = program("exec \"$@\"")) {
            kubelet.awaitRegistration(2, PATIENCE);
            kubelet.awaitAllocatable(RESOURCE, 200, PATIENCE);
            next.endWithin(Duration.ofSeconds(20));
        }

        assertThat(kubelet.directory().resolve(left)).doesNotExist();
    }
}
