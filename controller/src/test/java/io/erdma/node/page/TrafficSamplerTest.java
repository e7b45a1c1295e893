package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrafficSamplerTest {
    @TempDir
    Path sysfs;

    private final AtomicReference<List<RdmaDevice>> devices = new AtomicReference<>(List.of(device("erdma_0")));
    private TrafficSampler sampler;

    @BeforeEach
    void write() throws IOException {
        counter("erdma_0", 100);
        sampler = new TrafficSampler(new SysfsCounters(sysfs), devices::get, Clock.systemUTC());
    }

    private static RdmaDevice device(String name) {
        return new RdmaDevice(
                name,
                new NodeGuid(1),
                NodeType.RNIC,
                "erdma",
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                OptionalInt.empty(),
                RdmaCmUse.REQUIRED);
    }

    private void counter(String device, long bytes) throws IOException {
        Path counters = Files.createDirectories(sysfs.resolve("class/infiniband/" + device + "/ports/1/hw_counters"));
        Files.writeString(counters.resolve("rx_bytes_cnt"), bytes + "\n");
    }

    @Test
    void remembersWhatTheDevicesCarryFromReadingToReading() throws IOException {
        sampler.sample();
        counter("erdma_0", 5_000);
        sampler.sample();

        assertThat(sampler.series()).containsOnlyKeys("erdma_0");
        assertThat(sampler.series().get("erdma_0").points()).hasSize(2);
        assertThat(sampler.series()
                        .get("erdma_0")
                        .points()
                        .getLast()
                        .rates()
                        .received()
                        .bytes())
                .isPresent();
        assertThat(sampler.series().get("erdma_0").latest().received().bytes()).hasValue(5_000);
    }

    @Test
    void forgetsDevicesThatAreOutOfService() {
        sampler.sample();
        devices.set(List.of());
        sampler.sample();

        assertThat(sampler.series()).isEmpty();
    }

    @Test
    void readsAtOnceWhenItStartsAndEndsWhenItIsClosed() {
        sampler.start();
        await().atMost(Duration.ofSeconds(10)).until(() -> !sampler.series().isEmpty());
        sampler.close();

        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals("erdma-traffic"));
    }

    @Test
    void closesWithoutHavingStarted() {
        sampler.close();
        assertThat(sampler.series()).isEmpty();
    }
}
