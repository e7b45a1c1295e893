package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErdmaCommandTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "--nonsense",
                "devinfo --nonsense",
                "devinfo erdma_0",
                "devinfo -d",
                "devinfo -i 0",
                "devinfo -i -1",
                "devinfo -i 256",
                "devinfo -i one",
                "devinfo --device-selector nonsense",
                "devinfo --device-selector driver=",
                "cleanup --nonsense",
                "cleanup everything",
                "version --nonsense"
            })
    void endsWith64WhenUsedWrongly(String commandLine) {
        Run run = Run.erdma(commandLine.isEmpty() ? new String[0] : commandLine.split(" "));
        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.out()).isEmpty();
        assertThat(run.complaints()).hasSize(2);
        assertThat(run.complaints().getFirst()).startsWith("erdma");
        assertThat(run.complaints().getLast()).matches("Run 'erdma.* --help' for the options\\.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-h",
                "devinfo --help",
                "devinfo -h",
                "nccl-check --help",
                "cleanup --help",
                "version --help"
            })
    void helpsOnTheOutputStream(String commandLine) {
        Run run = Run.erdma(commandLine.split(" "));
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("Usage: erdma").contains("Print this text");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void namesEveryCommand() {
        assertThat(Run.erdma("--help").out()).contains("agent", "devinfo", "nccl-check", "cleanup", "version");
    }

    @Test
    void namesEveryExitCodeOfEveryCommand() {
        String help = Run.erdma("--help").out();
        for (int code : List.of(0, 1, 2, 3, 64, 69, 70)) {
            assertThat(help).containsPattern("(?m)^ *" + code + "  +[a-z]");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --helth                     | --help
            doctor --helth              | --help
            doctor --verbsoe            | --verbose
            stat --jsn                  | --json
            devinfo --device-selectr=x  | --device-selector
            docter                      | doctor
            """)
    void suggestsWhatAMistypedWordMayMean(String words, String meant) {
        Run run = Run.erdma(words.split(" "));
        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.err()).contains("did you mean " + meant + "?");
    }

    @Test
    void suggestsNothingForAWordThatIsNearNone() {
        assertThat(Run.erdma("doctor", "--frobnicate").err()).doesNotContain("did you mean");
        assertThat(Run.erdma("frobnicate").err()).doesNotContain("did you mean");
    }

    @Test
    void namesInTheHelpTheRowsThatVerboseOutputLacks() {
        String help = Run.erdma("devinfo", "--help").out().replaceAll("\\s+", " ");
        Recording.standIns().forEach(situation -> {
            String verbose = Recording.text("stand-in/" + situation + "/verbose.stdout");
            List<String> kept = Recording.withoutExtendedRows(verbose).lines().toList();
            // Blocks have their rows indented deeper: the head is what the help names.
            verbose.lines()
                    .filter(line -> line.matches("\t[^\t].*") && !kept.contains(line))
                    .map(line -> line.strip().replaceAll("(:.*| not supported)$", ""))
                    .map(row -> row.endsWith("_odp_caps") ? "*_odp_caps" : row)
                    .map(row -> row.equals("core clock") ? "hca_core_clock" : row)
                    .map(row -> row.replace("completion_timestamp_mask", "completion timestamp_mask"))
                    .forEach(row -> assertThat(help).contains(row));
        });
    }

    @Test
    void endsWith70AndOneLineWhenTheAnswerCannotBeWritten() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = ErdmaMain.run(List.of("version"), new Console(failing("No space left on device"), err));
        assertThat(exitCode).isEqualTo(70);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("""
                        erdma: internal error: java.io.IOException: No space left on device
                        Set ERDMA_STACKTRACE=1 and repeat to see where.
                        """);
    }

    @Test
    void isContentWhenTheReaderHasSeenEnough() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        assertThat(ErdmaMain.run(List.of("version"), new Console(failing("Broken pipe"), err)))
                .isZero();
        assertThat(err.size()).isZero();
    }

    @Test
    void keepsItsComplaintsToOneLineEach() {
        Run run = Run.erdma("devinfo", "-i", "1\u001b[2J\nx");
        assertThat(run.complaints()).hasSize(2);
        assertThat(run.err()).contains("\\x1b[2J\\x0ax").doesNotContain("\u001b");
    }

    private static OutputStream failing(String reason) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(reason);
            }
        };
    }
}
