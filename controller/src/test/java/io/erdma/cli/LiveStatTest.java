package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.TrafficDevice;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveStatTest {
    private static final long SECOND = 1_000_000_000L;
    private static final TrafficDevice FIRST = new TrafficDevice("erdma_0", "erdma", Optional.empty());
    private static final TrafficDevice SECOND_ONE = new TrafficDevice("erdma_1", "erdma", Optional.empty());

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final AtomicLong clock = new AtomicLong();
    private final Deque<Runnable> seconds = new ArrayDeque<>();
    private List<TrafficDevice> wanted = List.of(FIRST);
    private NodeFixture node;

    @BeforeEach
    void lay() {
        node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory);
    }

    /** What happens in the next second. */
    private void second(Runnable happening) {
        seconds.add(happening);
    }

    private void count(String device, String counter, long value) {
        node.write("class/infiniband/" + device + "/ports/1/hw_counters/" + counter, Long.toUnsignedString(value));
    }

    private List<String> watch(LiveStat.Style style) throws IOException {
        CounterReader reader = new CounterReader(new SysfsCounters(node.sysfs()), clock::get);
        new LiveStat(
                        reader::devices,
                        () -> wanted,
                        new PatientCounters(reader, Duration.ofSeconds(20)),
                        style,
                        new Console(out, err))
                .run(() -> {
                    clock.addAndGet(SECOND);
                    Optional<Runnable> next = Optional.ofNullable(seconds.poll());
                    next.ifPresent(Runnable::run);
                    return next.isPresent();
                });
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private List<String> complaints() {
        return err.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void printsTheLineThatEadmPrints() throws IOException {
        second(() -> {
            count("erdma_0", "hw_rx_bytes_cnt", 959_337_595);
            count("erdma_0", "hw_rx_packets_cnt", 150_423);
            count("erdma_0", "hw_tx_bytes_cnt", 959_096_422);
            count("erdma_0", "hw_tx_packets_cnt", 147_128);
        });
        second(() -> {});
        assertThat(watch(LiveStyles.plain()))
                .containsExactly(
                        "rx (download): 914.90 MiB/s 150423 p/s; tx (upload): 914.67 MiB/s 147128 p/s",
                        "rx (download): 0.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s");
        assertThat(complaints()).isEmpty();
    }

    @Test
    void putsTheDevicesNameBeforeEachLineOfSeveral() throws IOException {
        wanted = List.of(FIRST, SECOND_ONE);
        second(() -> count("erdma_1", "hw_rx_bytes_cnt", 1 << 20));
        assertThat(watch(LiveStyles.plain()))
                .containsExactly(
                        "erdma_0: rx (download): 0.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s",
                        "erdma_1: rx (download): 1.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s");
    }

    @Test
    void printsADashInsteadOfANegativeNumberWhenTheDriverIsLoadedAgain() throws IOException {
        count("erdma_0", "hw_rx_bytes_cnt", 5_000_000);
        second(() -> count("erdma_0", "hw_rx_bytes_cnt", 5));
        second(() -> count("erdma_0", "hw_rx_bytes_cnt", (1 << 20) + 5));
        assertThat(watch(LiveStyles.plain()))
                .containsExactly(
                        "rx (download): - MiB/s - p/s; tx (upload): - MiB/s - p/s",
                        "rx (download): 1.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s");
    }

    @Test
    void printsADashForADriverThatCountsNothing() throws IOException {
        node.remove("class/infiniband/erdma_0/ports/1/hw_counters");
        second(() -> {});
        assertThat(watch(LiveStyles.plain()))
                .containsExactly("rx (download): - MiB/s - p/s; tx (upload): - MiB/s - p/s");
    }

    @Test
    void saysThatADeviceIsGoneAwaitsItAndBeginsAnew() throws IOException {
        String device = "class/infiniband/erdma_0";
        String target = "../../devices/pci0000:00/0000:00:07.0/infiniband/erdma_0";
        second(() -> node.remove(device));
        second(() -> {});
        second(() -> {
            node.link(device, target);
            count("erdma_0", "hw_rx_bytes_cnt", 100);
        });
        second(() -> count("erdma_0", "hw_rx_bytes_cnt", (1 << 20) + 100));
        assertThat(watch(LiveStyles.plain()))
                .containsExactly(
                        "rx (download): - MiB/s - p/s; tx (upload): - MiB/s - p/s",
                        "rx (download): 1.00 MiB/s 0 p/s; tx (upload): 0.00 MiB/s 0 p/s");
        assertThat(complaints()).containsExactly("erdma_0 is gone; waiting for it", "erdma_0 is back");
    }

    @Test
    void watchesADeviceThatComesLater() throws IOException {
        node.remove("class/infiniband/erdma_1");
        second(() -> {
            node.link("class/infiniband/erdma_1", "../../devices/pci0000:80/0000:80:07.0/infiniband/erdma_1");
            wanted = List.of(FIRST, SECOND_ONE);
        });
        second(() -> {});
        assertThat(watch(LiveStyles.plain())).hasSize(4).last().asString().startsWith("erdma_1: rx (download): 0.00");
        assertThat(complaints()).containsExactly("erdma_1 is there now");
    }

    @Test
    void saysWhenTheInstancesQuotaIsTheLimitAndOnlyThen() throws IOException {
        count("erdma_0", "hw_bps_limit_drop_cnt", 1000);
        second(() -> {});
        second(() -> {
            count("erdma_0", "hw_bps_limit_drop_cnt", 1100);
            count("erdma_0", "hw_rx_bps_limit_drop_cnt", 23);
            count("erdma_0", "hw_rx_pps_limit_drop_cnt", 5);
        });
        second(() -> {});
        assertThat(watch(LiveStyles.plain()))
                .hasSize(5)
                .contains(
                        "limited by the instance's bandwidth quota: +123 drops",
                        "limited by the instance's packet rate quota: +5 drops");
    }

    @Test
    void linesUpColumnsAndBarsAtATerminal() throws IOException {
        wanted = List.of(FIRST, SECOND_ONE);
        second(() -> {
            count("erdma_0", "hw_rx_bytes_cnt", 100L << 20);
            count("erdma_0", "hw_tx_bytes_cnt", 50L << 20);
        });
        List<String> lines = watch(LiveStyles.columns());
        assertThat(lines)
                .containsExactly(
                        "erdma_0  rx (download):    100.00 MiB/s        0 p/s [##########]"
                                + "   tx (upload):     50.00 MiB/s        0 p/s [#####     ]",
                        "erdma_1  rx (download):      0.00 MiB/s        0 p/s [          ]"
                                + "   tx (upload):      0.00 MiB/s        0 p/s [          ]");
    }

    @Test
    void printsOneJsonObjectInEachLine() throws IOException {
        second(() -> {
            count("erdma_0", "hw_rx_bytes_cnt", 1000);
            count("erdma_0", "hw_pps_limit_drop_cnt", 7);
        });
        second(() -> count("erdma_0", "hw_rx_bytes_cnt", 1));
        assertThat(watch(LiveStyles.json()))
                .containsExactly(
                        "{\"device\":\"erdma_0\",\"received\":{\"bytesPerSecond\":1000.00,\"packetsPerSecond\":0.00},"
                                + "\"sent\":{\"bytesPerSecond\":0.00,\"packetsPerSecond\":0.00},\"bandwidthDrops\":0,"
                                + "\"packetRateDrops\":7,\"bytesOfNetdev\":null}",
                        "{\"device\":\"erdma_0\",\"received\":{\"bytesPerSecond\":null,\"packetsPerSecond\":null},"
                                + "\"sent\":{\"bytesPerSecond\":null,\"packetsPerSecond\":null},\"bandwidthDrops\":0,"
                                + "\"packetRateDrops\":0,\"bytesOfNetdev\":null}");
    }
}
