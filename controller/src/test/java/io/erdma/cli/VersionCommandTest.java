package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.erdma.node.BuildInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VersionCommandTest {
    @Test
    void saysWhichBuildItIs() {
        Run run = Run.erdma("version");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines().map(line -> line.replaceAll(" .*", "")))
                .containsExactly("erdma", "commit:", "dated:", "java:", "libibverbs:", "erdma");
        // Filled in by the build, which would else leave the placeholders.
        assertThat(run.out()).doesNotContain("$").doesNotContain("null");
        assertThat(run.out())
                .containsPattern("erdma [0-9]+\\.[0-9]+")
                .containsPattern("commit: +([0-9a-f]{40}|unknown)\n");
    }

    @Test
    void saysTheSameToProgramsInStableKeys() throws IOException {
        Run run = Run.erdma("version", "--json");
        assertThat(run.exitCode()).isZero();
        List<String> keys = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(run.out())) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.FIELD_NAME) {
                    keys.add(parser.currentName());
                }
            }
        }
        assertThat(keys)
                .containsExactly(
                        "version",
                        "commit",
                        "timestamp",
                        "timestampSource",
                        "java",
                        "version",
                        "vendor",
                        "architecture",
                        "libibverbs",
                        "path",
                        "version",
                        "erdmaProvider");
    }

    @Test
    void findsTheLibraryItsVersionAndTheProviderByTheirNames(@TempDir Path directory) throws IOException {
        Path library = Files.createFile(directory.resolve("libibverbs.so.1.14.44.0"));
        Files.createSymbolicLink(directory.resolve("libibverbs.so.1"), library.getFileName());
        Path provider = Files.createFile(
                Files.createDirectory(directory.resolve("libibverbs")).resolve("liberdma-rdmav34.so"));
        VerbsFiles files = VerbsFiles.find("libibverbs.so.1", List.of(directory.resolve("absent"), directory));
        assertThat(files.library()).contains(library.toRealPath());
        assertThat(files.version()).contains("1.14.44.0");
        assertThat(files.erdmaProvider()).contains(provider);
    }

    @Test
    void saysSoWhereNothingIsInstalled(@TempDir Path directory) {
        VerbsFiles files = VerbsFiles.find("libibverbs.so.1", List.of(directory));
        assertThat(files).isEqualTo(new VerbsFiles(Optional.empty(), Optional.empty(), Optional.empty()));
        assertThat(VersionCommand.toText(new BuildInfo("1", "unknown", "2026"), files))
                .contains("libibverbs:     not found\n", "erdma provider: not found\n");
    }

    @Test
    void looksFirstWhereTheLoaderIsTold() {
        assertThat(VerbsFiles.directories(Optional.of("/opt/a::/opt/b"), "amd64"))
                .startsWith(Path.of("/opt/a"), Path.of("/opt/b"))
                .contains(Path.of("/usr/lib/x86_64-linux-gnu"));
        assertThat(VerbsFiles.directories(Optional.empty(), "aarch64")).contains(Path.of("/usr/lib/aarch64-linux-gnu"));
    }
}
