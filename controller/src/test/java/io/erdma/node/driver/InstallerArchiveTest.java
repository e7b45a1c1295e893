package io.erdma.node.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class InstallerArchiveTest {
    private static final InstallerArchive.Limits LIMITS = new InstallerArchive.Limits(1 << 20, 50);

    @TempDir
    private Path directory;

    private Path root;

    @BeforeEach
    void make() throws IOException {
        root = Files.createDirectory(directory.resolve("root"));
    }

    private void unpack(byte[] archive) throws IOException {
        Path file = directory.resolve("archive");
        Files.write(file, archive);
        InstallerArchive.unpack(file, root, LIMITS);
    }

    private void isRefused(byte[] archive, String why) throws IOException {
        assertThatThrownBy(() -> unpack(archive))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("the archive ")
                .hasMessageContaining(why);
        try (Stream<Path> all = Files.list(directory)) {
            assertThat(all.map(file -> file.getFileName().toString()))
                    .as("nothing outside")
                    .containsExactlyInAnyOrder("root", "archive");
        }
    }

    /** As the tar of the machine writes them, in each of its formats. */
    @ParameterizedTest
    @ValueSource(strings = {"gnu", "ustar", "pax", "v7", "oldgnu"})
    void unpacksWhatTarPacks(String format) throws Exception {
        Path tree = directory.resolve("tree");
        String deep = format.equals("v7") || format.equals("ustar") ? "short" : "long".repeat(50);
        Path inner = Files.createDirectories(tree.resolve("erdma-1.5.9/sources/" + deep));
        Path script = Files.writeString(tree.resolve("erdma-1.5.9/install.sh"), "#!/bin/sh\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.write(inner.resolve("a.c"), new byte[1300]);
        Files.createSymbolicLink(inner.resolve("up"), Path.of("../../install.sh"));
        Files.createLink(inner.resolve("same"), inner.resolve("a.c"));
        Files.createDirectory(tree.resolve("erdma-1.5.9/empty"));
        Path archive = directory.resolve("made.tgz");
        HostCommands.direct()
                .check(
                        Duration.ofSeconds(30),
                        List.of("tar", "--format=" + format, "-czf", archive.toString(), "-C", tree.toString(), "."));
        InstallerArchive.unpack(archive, root, LIMITS);
        HostCommands.direct().check(Duration.ofSeconds(30), List.of("diff", "-r", tree.toString(), root.toString()));
        assertThat(root.resolve("erdma-1.5.9/install.sh")).isExecutable();
        assertThat(Files.readSymbolicLink(root.resolve("erdma-1.5.9/sources/" + deep + "/up")))
                .hasToString("../../install.sh");
        assertThat(Files.getLastModifiedTime(root.resolve("erdma-1.5.9/install.sh"))
                        .toInstant()
                        .getEpochSecond())
                .isEqualTo(Files.getLastModifiedTime(script).toInstant().getEpochSecond());
    }

    @ParameterizedTest
    @ValueSource(strings = {"../evil", "/evil", "a/../../evil", "a/..", ".."})
    void writesNothingOutside(String name) throws IOException {
        isRefused(new TarGz().file(name, "x").archive(), "which leads out of it");
        isRefused(new TarGz().pax("path=" + name).file("fine", "x").archive(), "which leads out of it");
        isRefused(new TarGz().longName('L', name).file("fine", "x").archive(), "which leads out of it");
        isRefused(new TarGz().directory(name).archive(), "which leads out of it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc", "..", "../..", "sub/../..", "sub/../../x", "./../x"})
    void linksToNothingOutside(String target) throws IOException {
        isRefused(new TarGz().link("link", '2', target).archive(), "which leads out of it");
        isRefused(new TarGz().longName('K', target).link("link", '2', "fine").archive(), "which leads out of it");
    }

    @Test
    void hardLinksToNothingButItsOwnFiles() throws IOException {
        Files.writeString(directory.resolve("archive"), "");
        isRefused(new TarGz().link("link", '1', "../archive").archive(), "which leads out of it");
        isRefused(new TarGz().link("link", '1', "/etc/passwd").archive(), "which leads out of it");
        isRefused(new TarGz().link("link", '1', "not-there").archive(), "no file of its own");
        isRefused(
                new TarGz()
                        .directory("d")
                        .link("s", '2', "d")
                        .link("link", '1', "s/f")
                        .archive(),
                "no directory of its own");
    }

    /** Even where somebody got a link that leads out into the tree, nothing is written through it. */
    @Test
    void writesThroughNoLink() throws IOException {
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        assertThatThrownBy(() -> unpack(
                        new TarGz().link("d", '2', "elsewhere").file("d/f", "x").archive()))
                .isInstanceOf(IOException.class);
        assertThat(elsewhere).isEmptyDirectory();

        Path file = Files.writeString(root.resolve("file"), "kept");
        unpack(new TarGz().link("l", '2', "file").file("l", "new").archive());
        assertThat(file).hasContent("kept");
        assertThat(Files.isSymbolicLink(root.resolve("l"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(chars = {'3', '4', '6', 'S', 'D', 'V'})
    void makesNoDevicesAndNothingElseThatIsNoFile(char type) throws IOException {
        isRefused(new TarGz().entry("node", type).archive(), "of the tar type '" + type + "'");
        assertThat(root.resolve("node")).doesNotExist();
    }

    @Test
    void takesOverNoSetUserIdBit() throws IOException {
        unpack(new TarGz().file("program", "x".getBytes(UTF_8), 06777).archive());
        assertThat((int) Files.getAttribute(root.resolve("program"), "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777)
                .isEqualTo(0755);
    }

    @Test
    void doesNotFillTheDisk() throws IOException {
        isRefused(
                new TarGz()
                        .file("a", new byte[600_000], 0644)
                        .file("b", new byte[600_000], 0644)
                        .archive(),
                "files of more than 1048576 bytes (at b)");
        isRefused(
                new TarGz().announce("zeros", 07777777777L).withoutEnd(),
                "files of more than 1048576 bytes (at zeros)");
        isRefused(
                new TarGz().pax("size=99999999999999").file("zeros", "x").archive(),
                "files of more than 1048576 bytes (at zeros)");
    }

    @Test
    void makesNoMillionFiles() throws IOException {
        TarGz many = new TarGz();
        for (int i = 0; i < 60; i++) {
            many.file("f" + i, "");
        }
        isRefused(many.archive(), "more than 50 entries");
        isRefused(new TarGz().pax("path=" + "a/".repeat(70) + "f").file("f", "").archive(), "deeper than 64");
    }

    static Stream<Arguments> damaged() throws IOException {
        byte[] good = new TarGz().file("a", new byte[5_000], 0644).archive();
        ByteArrayOutputStream zeros = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zeros)) {
            gzip.write(new byte[100]);
        }
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(text)) {
            gzip.write("no tar at all ".repeat(100).getBytes(UTF_8));
        }
        return Stream.of(
                Arguments.of("truncated", Arrays.copyOf(good, good.length / 2)),
                Arguments.of("without its end", new TarGz().file("a", "x").withoutEnd()),
                Arguments.of(
                        "shorter than it says", new TarGz().announce("a", 5_000).withoutEnd()),
                Arguments.of("less than a block", zeros.toByteArray()),
                Arguments.of("packed text", text.toByteArray()),
                Arguments.of("plain text", "hello".getBytes(UTF_8)),
                Arguments.of("empty", new byte[0]),
                Arguments.of(
                        "wrong size", new TarGz().pax("size=x").file("a", "x").archive()),
                Arguments.of(
                        "negative size",
                        new TarGz().pax("size=-5").file("a", "x").archive()),
                Arguments.of("long name", new TarGz().announce("x", 1 << 19).withoutEnd()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damaged")
    void refusesWhatIsDamaged(String name, byte[] archive) {
        assertThatThrownBy(() -> unpack(archive)).as(name).isInstanceOf(IOException.class);
    }

    @Test
    void ignoresWhatFollowsTheEnd() throws IOException {
        byte[] good = new TarGz().file("a", "content").archive();
        byte[] more = Arrays.copyOf(good, good.length + 1000);
        unpack(more);
        assertThat(root.resolve("a")).hasContent("content");
    }
}
