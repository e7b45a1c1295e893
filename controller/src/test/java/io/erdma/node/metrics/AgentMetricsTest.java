package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AgentMetricsTest {
    private final AgentMetrics metrics = new AgentMetrics("1.2.3", 200);

    @AfterEach
    void close() {
        metrics.close();
    }

    private static AdvertisedDevices.Entry device(String name, boolean healthy) {
        Instant since = Instant.EPOCH;
        return new AdvertisedDevices.Entry(
                new RdmaDevice(
                        name,
                        new NodeGuid(1),
                        NodeType.RNIC,
                        "erdma",
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(Path.of("/dev/infiniband/uverbs0")),
                        OptionalInt.empty(),
                        RdmaCmUse.REQUIRED),
                healthy ? new DeviceHealth.Healthy(since) : new DeviceHealth.Unhealthy("port 1 is DOWN", since));
    }

    private static AdvertisedDevices offer(AdvertisedDevices.Entry... entries) {
        return new AdvertisedDevices(Arrays.asList(entries), Optional.empty());
    }

    private String[] scrape() {
        return metrics.scrape().lines().toArray(String[]::new);
    }

    @Test
    void showsDevicesByHealthAndTheirShares() {
        metrics.advertise(offer(device("erdma_0", true), device("erdma_1", false)), 0);

        assertThat(scrape())
                .contains(
                        "erdma_devices{health=\"healthy\"} 1.0",
                        "erdma_devices{health=\"unhealthy\"} 1.0",
                        "erdma_device_healthy{device=\"erdma_0\"} 1.0",
                        "erdma_device_healthy{device=\"erdma_1\"} 0.0",
                        "erdma_shares 400.0");
    }

    @Test
    void forgetsTheSeriesOfAVanishedDevice() {
        metrics.advertise(offer(device("erdma_0", true), device("erdma_1", false)), 0);
        metrics.advertise(offer(device("erdma_1", true)), 0);

        assertThat(scrape())
                .contains("erdma_device_healthy{device=\"erdma_1\"} 1.0", "erdma_devices{health=\"healthy\"} 1.0")
                .noneMatch(line -> line.contains("erdma_0"));
    }

    @Test
    void countsWhatTheKubeletDoes() {
        metrics.allocated(Duration.ofMillis(3), true);
        metrics.allocated(Duration.ofMillis(3), false);
        metrics.allocated(Duration.ofMillis(700), true);
        metrics.streams(1);
        metrics.registered(false);
        metrics.registered(true);
        metrics.registered(true);
        metrics.registrationFailed("refused");
        metrics.messageSent(Duration.ofMillis(4));

        assertThat(scrape())
                .contains(
                        "erdma_allocate_duration_seconds_count{outcome=\"granted\"} 2",
                        "erdma_allocate_duration_seconds_count{outcome=\"refused\"} 1",
                        "erdma_allocate_duration_seconds_bucket{outcome=\"granted\",le=\"0.005\"} 1",
                        "erdma_allocate_duration_seconds_bucket{outcome=\"granted\",le=\"1.0\"} 2",
                        "erdma_listandwatch_streams 1.0",
                        "erdma_registrations_total{kind=\"first\"} 1.0",
                        "erdma_registrations_total{kind=\"again\"} 2.0",
                        "erdma_registration_failures_total 1.0",
                        "erdma_event_to_kubelet_seconds_bucket{le=\"0.005\"} 1",
                        "erdma_event_to_kubelet_seconds_bucket{le=\"0.002\"} 0");
    }

    @Test
    void tellsItsVersionAndTheAgeOfTheHealthLoop() {
        metrics.watchHealthLoop(() -> Duration.ofMillis(1500));

        assertThat(scrape())
                .contains("erdma_health_loop_age_seconds 1.5")
                .anyMatch(line -> line.startsWith("erdma_build_info{") && line.contains("version=\"1.2.3\""));
    }

    @Test
    void showsTheDriversModeAndWhyASwitchWaits() {
        AtomicReference<Optional<DriverStatus>> driver = new AtomicReference<>(Optional.empty());
        metrics.watchDriver(driver::get);
        assertThat(scrape()).contains("erdma_driver_switch_pending NaN");

        driver.set(Optional.of(new DriverStatus(
                DriverMode.COMPAT,
                false,
                ModeInForce.DEFAULT,
                "switch pending",
                false,
                Optional.of("switch pending"),
                Optional.empty(),
                List.of("pod default/train", "pid 4711 (python3)"),
                Instant.EPOCH)));
        assertThat(scrape())
                .contains(
                        "erdma_driver_mode{mode=\"default\"} 1.0",
                        "erdma_driver_mode{mode=\"compat\"} 0.0",
                        "erdma_driver_mode{mode=\"not-loaded\"} 0.0",
                        "erdma_driver_switch_pending 1.0",
                        "erdma_driver_switch_users 2.0",
                        "erdma_driver_problem 0.0");
    }

    @Test
    void showsTheProcessOnceItIsWatched() {
        metrics.watchProcess();

        assertThat(metrics.scrape())
                .contains("process_resident_memory_bytes ")
                .contains("process_threads ")
                .contains("process_open_fds ")
                .contains("process_cpu_seconds_total ")
                .contains("process_start_time_seconds ")
                .contains("jvm_memory_used_bytes{area=\"heap\"} ")
                .contains("jvm_memory_max_bytes{area=\"heap\"} ")
                .doesNotContain("NaN");
    }
}
