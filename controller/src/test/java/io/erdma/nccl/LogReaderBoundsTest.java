package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.NcclVerdict.Finding;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A hostile log costs no more memory than a large one. */
class LogReaderBoundsTest {
    private static void feed(LogReader reader, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        reader.read(bytes, 0, bytes.length);
    }

    @Test
    void keepsABoundedNumberOfProcessesAndSaysThatItDid() {
        LogReader reader = new LogReader();
        for (int i = 0; i < 70_000; i++) {
            feed(
                    reader,
                    "h" + i + ":1:2 [0] NCCL INFO NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB eth0:a\nh" + i
                            + ":1:2 [0] NCCL INFO Using network IB\n");
        }
        NcclLog log = reader.finish();

        assertThat(log.processes()).hasSize(65_536);
        assertThat(log.otherProcesses()).isEqualTo(2 * (70_000 - 65_536));
        NcclVerdict verdict = NcclRules.judge(log, Expectation.none());
        assertThat(verdict.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(verdict.findings()).extracting(Finding::id).contains("too-many-processes");
    }

    @Test
    void keepsABoundedNumberOfVariables() {
        LogReader reader = new LogReader();
        for (int i = 0; i < 10_000; i++) {
            feed(reader, "h:1:2 [0] NCCL INFO NCCL_X" + i + " set by environment to " + "v".repeat(1_000) + "\n");
        }
        assertThat(reader.finish().variables())
                .hasSize(256)
                .allSatisfy(variable -> assertThat(variable.value()).hasSizeLessThanOrEqualTo(128));
    }

    @Test
    void keepsABoundedNumberOfDevicesOfAProcess() {
        LogReader reader = new LogReader();
        for (int i = 0; i < 10_000; i++) {
            feed(reader, "h:1:2 [0] NCCL INFO NET/IB : Using [" + i + "]erdma_" + i + ":1/RoCE ; OOB eth0:a\n");
        }
        assertThat(reader.finish().processes().getFirst().devices()).hasSize(32);
    }

    @Test
    void keepsABoundedTextOfEachLine() {
        NcclLog log = Logs.read("h:1:2 [0] NCCL INFO NET/IB : No device found. " + "é".repeat(2_000) + "\n");

        String text = log.signs().get(Sign.NO_DEVICE).text();
        assertThat(text)
                .startsWith("NET/IB : No device found. éé")
                .endsWith("…")
                .hasSizeLessThan(250);
    }

    @Test
    void keepsABoundedTextOfAllLinesAndThenTheirNumbers() {
        LogReader reader = new LogReader();
        for (int i = 0; i < 30_000; i++) {
            feed(
                    reader,
                    "h" + i + ":1:2 [0] NCCL INFO Channel 00/0 : " + i + "[0] -> 1[0] [send] via NET/IB/0"
                            + "/x".repeat(120) + "\n");
        }
        NcclLog log = reader.finish();
        assertThat(log.processes().stream()
                        .mapToInt(process -> process.proofs()
                                .ibChannel()
                                .orElseThrow()
                                .text()
                                .length())
                        .sum())
                .isBetween(2_500_000, 4 << 20);
        assertThat(log.processes().getLast().proofs().ibChannel()).contains(new Evidence(30_000, ""));
    }

    @Test
    void readsLongLinesOnlySoFar() {
        byte[] noise = new byte[1 << 20];
        Arrays.fill(noise, (byte) 'x');
        LogReader reader = new LogReader();
        for (int i = 0; i < 8; i++) {
            reader.read(noise, 0, noise.length);
        }
        feed(reader, "\n" + Logs.erdmaRank("vm", 0, 1));
        NcclLog log = reader.finish();

        assertThat(log.longLines()).isEqualTo(1);
        assertThat(log.lines()).isEqualTo(5);
        assertThat(log.processes()).hasSize(1);
        assertThat(NcclRules.judge(log, Expectation.none()).findings())
                .extracting(Finding::id)
                .contains("long-lines");
    }

    @Test
    void readsALineOfTheGreatestLengthToItsEnd() {
        String line = Logs.erdmaRank("vm", 0, 1).lines().findFirst().orElseThrow();
        String log = " ".repeat(LogReader.LONGEST_LINE - line.length()) + line + "\n";

        assertThat(Logs.read(log).processes().getFirst().devices()).hasSize(1);
        assertThat(Logs.read(log).longLines()).isZero();
        assertThat(Logs.read(" " + log).longLines()).isEqualTo(1);
    }
}
