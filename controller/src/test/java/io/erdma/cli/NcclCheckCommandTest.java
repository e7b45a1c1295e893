package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.erdma.nccl.Logs;
import io.erdma.sysfs.NodeFixture;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Case R15. */
class NcclCheckCommandTest {
    @TempDir
    private Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("job.log"), text);
    }

    private Run check(String text, String... options) throws IOException {
        List<String> words = new ArrayList<>(List.of("nccl-check"));
        words.addAll(List.of(options));
        words.add(file(text).toString());
        return Run.erdma(words.toArray(String[]::new));
    }

    private static Run checkInput(InputStream in, String... words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> all = new ArrayList<>(List.of("nccl-check"));
        all.addAll(List.of(words));
        int exitCode = ErdmaCommand.commandLine(new Console(out, err), in).execute(all.toArray(String[]::new));
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void endsWith0WhenEveryRankSelectedErdma() throws IOException {
        Run run = check(Logs.erdmaRank("a", 0, 2) + Logs.erdmaRank("b", 1, 2));

        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("eRDMA: selected by all 2 ranks in the log, with channels via NET/IB\n")
                .contains("\nranks 0-1: NCCL selected eRDMA\n", "devices [0]erdma_0:1/RoCE", "GPUDirect used")
                .contains("\nWARNING mode-unknown (ranks 0-1): ");
    }

    @Test
    void endsWith1AndNamesTheRankThatDidNot() throws IOException {
        Run run = check(Logs.erdmaRank("a", 0, 2) + Logs.socketRank("b", 1, 2));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out())
                .startsWith("NOT over eRDMA: rank 1, 1 of 2 in the log\n\nrank 1: TCP")
                .contains("  line 8: Using network Socket\n", "\nFAILURE no-device (rank 1): ", "  do: ");
    }

    @Test
    void endsWith2WhenItCannotTell() throws IOException {
        Run run = check("step 1 loss: 2.3\n");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out())
                .startsWith("cannot tell whether it is eRDMA")
                .contains("NCCL_DEBUG=INFO", "training: 1 line shows a loss");
    }

    @Test
    void saysThatTrafficIsNotProven() throws IOException {
        String log = Logs.erdmaRank("a", 0, 1).replace("NET/IB/0/GDRDMA", "P2P/CUMEM");
        Run run = check(log);

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("eRDMA: selected by the one rank in the log; traffic not proven\n");
    }

    @ParameterizedTest
    @CsvSource({"p2p.log", "socket.log", "socket-env.log", "ib-forced-missing.log"})
    void endsWith1ForEachRecordedLog(String name) {
        assertThat(Run.erdma("nccl-check", Logs.file(name).toString()).exitCode())
                .isEqualTo(1);
    }

    @Test
    void printsWhatTheReadmeShows() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        String block = readme.substring(readme.indexOf("<!-- nccl-check -->"));
        String shown = block.substring(block.indexOf("```text\n") + 8, block.indexOf("\n```\n") + 1);

        assertThat(Run.erdma("nccl-check", Logs.file("socket.log").toString()).out())
                .isEqualTo(shown);
    }

    @Test
    void breaksItsOwnTextButNotThatOfTheLog() throws IOException {
        String longLine = "NET/IB : No device found. " + "word ".repeat(30).strip();
        Run run = check("vm:1:2 [0] NCCL INFO " + longLine + "\n");

        assertThat(run.out()).contains("  line 1: " + longLine + "\n");
        assertThat(run.out().lines().filter(line -> !line.contains(longLine)))
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @CsvSource({"default, 1", "compat, 0", "ofed, 0"})
    void knowsTheModeThatItIsTold(String mode, int exitCode) throws IOException {
        Run run = check(Logs.erdmaRank("a", 0, 1), "--driver-mode=" + mode);

        assertThat(run.exitCode()).isEqualTo(exitCode);
        assertThat(run.out()).contains("driver mode: --driver-mode=" + mode).doesNotContain("mode-unknown");
    }

    @ParameterizedTest
    @CsvSource({
        NodeFixture.ERDMA_IN_TREE_IWARP + ", 1, iWARP device (RNIC)",
        NodeFixture.ERDMA_COMPAT + ", 0, RoCE device (CA)",
        NodeFixture.NO_RDMA + ", 0, mode-unknown"
    })
    void asksThisMachineForTheModeOfADevice(String node, int exitCode, String said) throws IOException {
        NodeFixture fixture = NodeFixture.lay(node, Files.createDirectory(directory.resolve("node")));
        Run run = check(Logs.erdmaRank("a", 0, 1), "--device=erdma_0", "--sysfs-root=" + fixture.sysfs());

        assertThat(run.exitCode()).as(run.out()).isEqualTo(exitCode);
        assertThat(run.out()).contains(said);
    }

    @Test
    void asksTheDriverWhereTheDeviceIsNotHere() throws IOException {
        Path parameters = Files.createDirectories(directory.resolve("sys/module/erdma/parameters"));
        Files.writeString(parameters.resolve("compat_mode"), "N\n");
        String[] options = {"--device=erdma_0", "--sysfs-root=" + directory.resolve("sys")};

        assertThat(check(Logs.erdmaRank("a", 0, 1), options).exitCode()).isEqualTo(1);
        Files.writeString(parameters.resolve("compat_mode"), "Y\n");
        assertThat(check(Logs.erdmaRank("a", 0, 1), options).exitCode()).isZero();
    }

    @Test
    void believesWhatItIsToldBeforeThisMachine() throws IOException {
        NodeFixture fixture =
                NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));

        assertThat(check(
                                Logs.erdmaRank("a", 0, 1),
                                "--device=erdma_0",
                                "--driver-mode=compat",
                                "--sysfs-root=" + fixture.sysfs())
                        .exitCode())
                .isZero();
    }

    @Test
    void takesSeveralDevices() throws IOException {
        String log = Logs.erdmaRank("a", 0, 2).replace("erdma_0", "rdma_a")
                + Logs.erdmaRank("b", 1, 2).replace("erdma_0", "rdma_b");

        assertThat(check(log).exitCode()).isEqualTo(1);
        assertThat(check(log, "--device", "rdma_a").exitCode()).isEqualTo(1);
        assertThat(check(log, "--device", "rdma_a", "--device", "rdma_b").exitCode())
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-"})
    void readsTheStandardInput(String word) {
        String[] words = word.isEmpty() ? new String[0] : new String[] {word};

        assertThat(checkInput(bytes(Logs.erdmaRank("a", 0, 1)), words).exitCode())
                .isZero();
        assertThat(checkInput(bytes(Logs.socketRank("a", 0, 1)), words).exitCode())
                .isEqualTo(1);
        assertThat(checkInput(bytes(""), words).exitCode()).isEqualTo(2);
    }

    @Test
    void cannotTellAboutAPipeThatBreaks() {
        InputStream broken = new FilterInputStream(bytes(Logs.erdmaRank("a", 0, 1))) {
            @Override
            public int read(byte[] piece, int offset, int length) throws IOException {
                int count = super.read(piece, offset, length);
                if (count < 0) {
                    throw new IOException("Input/output error");
                }
                return count;
            }
        };
        Run run = checkInput(broken);

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.complaints())
                .containsExactly("erdma nccl-check: cannot read the standard input: Input/output error");
        assertThat(run.out()).contains("NCCL selected eRDMA");
    }

    @Test
    void saysInOneLineWhyALogCannotBeRead() throws IOException {
        Path packed = directory.resolve("job.log.gz");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write(1);
        }
        assertThat(Run.erdma("nccl-check", "/does/not/exist").complaints())
                .containsExactly("erdma nccl-check: cannot read /does/not/exist: there is no such file");
        assertThat(Run.erdma("nccl-check", directory.toString()).complaints())
                .singleElement()
                .asString()
                .contains("it is a directory");
        assertThat(Run.erdma("nccl-check", packed.toString()).complaints())
                .singleElement()
                .asString()
                .contains("compressed", "zcat");
        for (String path : List.of("/does/not/exist", directory.toString(), packed.toString())) {
            Run run = Run.erdma("nccl-check", path);
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.out()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--driver-mode=ofde", "--driver-mode=", "--nonsense", "a b"})
    void endsWith64WhenUsedWrongly(String options) {
        List<String> words = new ArrayList<>(List.of("nccl-check"));
        words.addAll(List.of(options.split(" ")));
        Run run = Run.erdma(words.toArray(String[]::new));

        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void printsNothingThatATerminalActsOn() throws IOException {
        Run run = check("""
                vm:1:2 [0] NCCL INFO NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB \u0007\u009b2J\u202egnol
                vm:1:2 [0] NCCL INFO Using network x\u0008\u202e
                vm:1:2 [0] NCCL INFO NCCL_ALGO set by environment to \u0000\u0001
                """);

        assertThat(run.out().codePoints().filter(c -> c != '\n'))
                .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
        assertThat(run.out()).contains("\\u202e", "\\x01");
    }

    @Test
    void keepsItsVerdictWhenTheReaderHasSeenEnough() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        Console console = new Console(closed, OutputStream.nullOutputStream());
        CommandLine commandLine = ErdmaCommand.commandLine(console, bytes(Logs.socketRank("a", 0, 1)));

        assertThat(commandLine.execute("nccl-check", "-")).isEqualTo(1);
    }

    private static List<String> keys(String json) throws IOException {
        List<String> keys = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.FIELD_NAME && !keys.contains(parser.currentName())) {
                    keys.add(parser.currentName());
                }
            }
        }
        return keys;
    }

    @Test
    void saysTheSameToProgramsInStableKeys() throws IOException {
        Run run = check(
                Logs.socketRank("a", 0, 1) + "a:10:11 [0] NCCL INFO NCCL_ALGO set by environment to Ring\nloss=1\n",
                "--json");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("\"verdict\" : \"not-erdma\"");
        assertThat(keys(run.out()))
                .containsExactly(
                        "verdict",
                        "ranks",
                        "inLog",
                        "inJob",
                        "failing",
                        "count",
                        "names",
                        "driverMode",
                        "driverModeSource",
                        "groups",
                        "reason",
                        "meaning",
                        "networks",
                        "devices",
                        "traffic",
                        "gpuDirect",
                        "evidence",
                        "line",
                        "text",
                        "cure",
                        "groupsLeftOut",
                        "findings",
                        "id",
                        "severity",
                        "variables",
                        "name",
                        "value",
                        "kind",
                        "training",
                        "seen",
                        "lines",
                        "first",
                        "lastLine",
                        "log",
                        "bytes",
                        "longLines",
                        "ncclInfoLines",
                        "ncclVersions");
        // An empty log has the same keys, but for those of the elements that its lists don't have.
        assertThat(keys(check("", "--json").out())).isSubsetOf(keys(run.out()));
        assertThat(check("", "--json").exitCode()).isEqualTo(2);
    }
}
