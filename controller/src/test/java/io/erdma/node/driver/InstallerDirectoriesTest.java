package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an installer left is deleted, and nothing of the host's. */
class InstallerDirectoriesTest {
    @TempDir
    private Path directory;

    @Test
    void deletesNothingWhileTheHostHasSomethingMountedInIt() throws IOException {
        Path proc = directory.resolve("proc");
        Path mountinfo = Files.createDirectories(proc.resolve("1")).resolve("mountinfo");
        Files.writeString(mountinfo, "22 1 0:20 / /proc rw - proc proc rw\n");
        var directories = new InstallerDirectories(HostCommands.direct(), proc, directory);
        Path ours = directories.create();
        Path mounted = Files.createDirectory(ours.resolve("dev"));
        Path hosts = Files.writeString(mounted.resolve("null"), "of the host");

        Files.writeString(mountinfo, "23 1 0:6 / " + mounted + " rw - devtmpfs udev rw\n");
        assertThatThrownBy(() -> directories.delete(ours))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(mounted + " is mounted in it");
        assertThat(hosts).exists();

        Files.writeString(mountinfo, "22 1 0:20 / /proc rw - proc proc rw\n");
        directories.delete(ours);
        assertThat(ours).doesNotExist();
    }
}
