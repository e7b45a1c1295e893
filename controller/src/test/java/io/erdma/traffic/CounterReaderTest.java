package io.erdma.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReading.CarrierBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import net.jqwik.api.lifecycle.AfterProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CounterReaderTest {
    private static final String BYTES = "class/infiniband/erdma_0/ports/1/hw_counters/hw_rx_bytes_cnt";
    private static final TrafficDevice ERDMA = new TrafficDevice("erdma_0", "erdma", Optional.of("eth1"));
    private static final TrafficDevice SOFT = new TrafficDevice("erdma_0", "rdma_rxe", Optional.of("eth1"));
    private static final long MILLI = 1_000_000;

    @TempDir
    private Path directory;

    private final AtomicLong clock = new AtomicLong(-3);
    private NodeFixture node;

    private CounterReader lay(String name) {
        node = NodeFixture.lay(name, directory);
        return new CounterReader(new SysfsCounters(node.sysfs()), clock::get);
    }

    private static long bytes(CounterReading reading) {
        return TrafficCounters.of(reading).received().bytes().orElseThrow();
    }

    @Test
    void asksADeviceOnlyWhenItsLastAnswerHasGrownOld() {
        CounterReader reader = lay(NodeFixture.ERDMA_COMPAT);
        CounterReading first = reader.read(ERDMA).orElseThrow();
        node.write(BYTES, "1000\n");

        clock.addAndGet(10 * MILLI - 1);
        assertThat(reader.read(ERDMA)).containsSame(first);

        clock.addAndGet(1);
        assertThat(reader.read(ERDMA)).hasValueSatisfying(again -> {
            assertThat(again.nanos()).isEqualTo(10 * MILLI - 3);
            assertThat(bytes(again)).isEqualTo(1000);
        });
    }

    @Test
    void noticesThatTheDeviceIsGoneAndBack() {
        CounterReader reader = lay(NodeFixture.ERDMA_COMPAT);
        node.link(
                "class/infiniband/kept",
                node.sysfs().resolve("class/infiniband/erdma_0").toString());
        assertThat(reader.read(ERDMA)).isPresent();
        node.removeDevice("erdma_0");
        clock.addAndGet(1000 * MILLI);
        assertThat(reader.read(ERDMA)).isEmpty();
        assertThat(reader.devices()).containsExactly("erdma_1", "kept");
    }

    @Test
    void readsTheInterfaceUnderASoftwareDevice() {
        CounterReader reader = lay(NodeFixture.SOFT_ROCE);
        node.write("class/net/eth1/statistics/rx_bytes", "7\n");
        node.write("class/net/eth1/statistics/tx_bytes", "8\n");
        assertThat(reader.read(SOFT).orElseThrow().carrier()).contains(new CarrierBytes("eth1", 7, 8));
    }

    @Test
    void readsNoInterfaceUnderRealRdma() {
        CounterReader reader = lay(NodeFixture.ERDMA_COMPAT);
        node.write("class/net/eth1/statistics/rx_bytes", "7\n");
        node.write("class/net/eth1/statistics/tx_bytes", "8\n");
        assertThat(reader.read(ERDMA).orElseThrow().carrier()).isEmpty();
    }

    private final Path garbage = temporary();

    @AfterProperty
    void removeGarbage() throws IOException {
        try (var files = Files.walk(garbage)) {
            for (Path file : files.toList().reversed()) {
                Files.delete(file);
            }
        }
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("counters");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The kernel gives a page at most, the test a little. */
    @Property(tries = 200)
    void anyContentOfSysfsIsARecord(
            @ForAll @StringLength(max = 30) String counter,
            @ForAll @StringLength(max = 30) String lifespan,
            @ForAll @Size(max = 64) byte[] bytes)
            throws IOException {
        Path counters = Files.createDirectories(garbage.resolve("class/infiniband/erdma_0/ports/1/hw_counters"));
        Files.writeString(counters.resolve("hw_rx_bytes_cnt"), counter);
        Files.write(counters.resolve("hw_tx_bytes_cnt"), bytes);
        Files.writeString(counters.resolve("lifespan"), lifespan);
        CounterReading reading = new CounterReader(new SysfsCounters(garbage), () -> 0)
                .read(ERDMA)
                .orElseThrow();
        assertThat(TrafficRates.between(TrafficCounters.of(reading), TrafficCounters.of(reading)))
                .isEqualTo(TrafficRates.UNKNOWN);
        assertThat(reading.ports().getFirst().hardware().size()
                        + reading.ports().getFirst().unreadable().size())
                .isEqualTo(2);
    }
}
