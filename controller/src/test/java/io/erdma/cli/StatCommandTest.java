package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.NodeFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatCommandTest {
    private static final String COUNTERS = "class/infiniband/erdma_0/ports/1/hw_counters/";

    @TempDir
    private Path directory;

    private NodeFixture node;

    private void lay(String name) {
        node = NodeFixture.lay(name, directory);
    }

    private Run stat(String... arguments) {
        List<String> all =
                new ArrayList<>(List.of("stat", "--sysfs-root", node.sysfs().toString()));
        all.addAll(List.of(arguments));
        return Run.erdma(all.toArray(String[]::new));
    }

    @Test
    void printsTotalsAndAllCountersOfEachErdmaDevice() {
        lay(NodeFixture.ERDMA_COMPAT);
        node.write(COUNTERS + "hw_rx_bytes_cnt", "3221225472\n");
        node.write(COUNTERS + "hw_rx_packets_cnt", "42\n");
        node.write(COUNTERS + "hw_tx_bytes_cnt", "18446744073709551615\n");
        node.write(COUNTERS + "hw_rx_bps_limit_drop_cnt", "5\n");
        node.write(COUNTERS + "hw_tx_reqs_cnt", "?\n");
        Run run = stat();
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("""
                erdma_0
                  rx (download):  3.00 GiB, 42 packets
                  tx (upload):    16.00 EiB, 0 packets
                  quota drops:    bandwidth rx 5, tx 0; packet rate rx 0, tx 0
                  port 1, hw_counters
                    hw_bps_limit_drop_cnt     0
                """)
                .contains("    hw_tx_bytes_cnt           18446744073709551615\n")
                .contains("""
                  port 1, unreadable
                    hw_counters/hw_tx_reqs_cnt  not a number: '?'

                erdma_1
                """);
    }

    @Test
    void printsOnlyTheDevicesNamedWhateverTheirDriver() {
        lay(NodeFixture.ERDMA_BESIDE_MLX5);
        assertThat(stat().out().lines()).contains("rocep128s7").doesNotContain("mlx5_0", "mlx5_1");
        assertThat(stat("-d", "mlx5_0", "-d", "mlx5_1").out().lines())
                .contains("mlx5_0", "mlx5_1")
                .doesNotContain("rocep128s7");
        assertThat(stat("--device-selector", "name=mlx5_?").out().lines()).contains("mlx5_0", "mlx5_1");
    }

    @Test
    void saysThatADriverWithoutCountersHasNone() {
        lay(NodeFixture.ERDMA_IN_TREE_IWARP);
        node.remove("class/infiniband/erdma_0/ports/1/hw_counters");
        Run run = stat();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("""
                  rx (download):  -, - packets
                  tx (upload):    -, - packets
                  note:           bytes are not counted by this driver (erdma counts from kernel 6.8 on)
                """);
    }

    @Test
    void endsWith1WhenOneAskedForIsMissingAndPrintsTheOthers() {
        lay(NodeFixture.ERDMA_COMPAT);
        Run run = stat("-d", "erdma_9", "-d", "erdma_1");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).startsWith("erdma_1\n");
        assertThat(run.complaints()).containsExactly("RDMA device 'erdma_9' wasn't found");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--json", "-l"})
    void succeedsWhereThereIsNoDevice(String option) {
        lay(NodeFixture.NO_RDMA);
        Run run = stat(option);
        assertThat(run.exitCode()).isZero();
        assertThat(run.complaints()).containsExactly("No eRDMA devices found");
    }

    @Test
    void namesTheDevicesThatItLeavesOutWhenNoneIsErdma() {
        lay(NodeFixture.SOFT_ROCE);
        assertThat(stat().complaints())
                .containsExactly("No eRDMA devices found; name one of the others with -d: erdma_0, erdma_1");
    }

    @Test
    void endsWith1BeforeItWatchesADeviceThatIsNotThere() {
        lay(NodeFixture.ERDMA_COMPAT);
        Run run = stat("-l", "-d", "erdma_9");
        assertThat(run).isEqualTo(new Run(1, "", "RDMA device 'erdma_9' wasn't found\n"));
    }

    @Test
    void printsAsManyLinesAsAskedFor() {
        lay(NodeFixture.ERDMA_COMPAT);
        Run run = stat("-l", "--count", "1", "-d", "erdma_0");
        assertThat(run).isEqualTo(new Run(0, "rx (download): 0.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s\n", ""));
    }

    @Test
    void printsTheSameAsJson() {
        lay(NodeFixture.ERDMA_COMPAT);
        node.write(COUNTERS + "hw_tx_bytes_cnt", "18446744073709551615\n");
        Run run = stat("--json", "-d", "erdma_0");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .startsWith("""
                {
                  "devices" : [
                    {
                      "name" : "erdma_0",
                      "received" : {
                        "bytes" : 0,
                        "packets" : 0,
                        "bandwidthDrops" : 0,
                        "packetRateDrops" : 0,
                        "otherDrops" : 0
                      },
                """)
                .contains("\"hw_tx_bytes_cnt\" : 18446744073709551615")
                .contains("\"bytesOfNetdev\" : null");
    }

    @Test
    void letsNoCounterNameMoveTheCursor() {
        lay(NodeFixture.ERDMA_COMPAT);
        node.write(COUNTERS + "evil\u001b[2J", "1\n");
        assertThat(stat("-d", "erdma_0").out()).contains("evil\\x1b[2J").doesNotContain("\u001b");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--interval=0.5", "--interval=0", "--interval=-1", "--interval=1.0005", "--interval=x",
                "--interval=99999", "--count=-1", "--count=x", "--device-selector=x", "surplus"
            })
    void refusesWrongUsage(String argument) {
        lay(NodeFixture.ERDMA_COMPAT);
        Run run = stat("-l", argument);
        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.complaints()).hasSize(2).last().isEqualTo("Run 'erdma stat --help' for the options.");
    }
}
