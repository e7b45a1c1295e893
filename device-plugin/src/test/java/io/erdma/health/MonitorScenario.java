package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.ScriptedNode;
import io.erdma.log.InotifyShortage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A monitor over a scripted node, with what it tells and logs. */
@Timeout(60)
abstract class MonitorScenario {
    static final Duration LONG = Duration.ofSeconds(20);
    /** Probes so rare that what is seen within the test came by events. */
    static final HealthSettings BY_EVENTS = byEvents(Paces.BRISK);

    static final HealthSettings QUICK = new HealthSettings(
            Duration.ofMillis(20), Duration.ofMillis(40), Duration.ofMinutes(15), Duration.ofMillis(300), Paces.BRISK);

    /** As quick, and waits for each device's first answer. */
    static final HealthSettings QUICK_AND_PATIENT =
            new HealthSettings(QUICK.probe(), QUICK.scan(), QUICK.grace(), LONG, Paces.BRISK);

    /** Probes slow enough to be told from a loop without pauses. */
    static final HealthSettings PACED = new HealthSettings(
            Duration.ofMillis(150), Duration.ofMinutes(5), Duration.ofMinutes(15), LONG, Paces.BRISK);

    static final HealthSettings SHORT_GRACE =
            new HealthSettings(QUICK.probe(), QUICK.scan(), Duration.ofMillis(600), QUICK.firstAnswer(), Paces.BRISK);

    static HealthSettings byEvents(Pace pace) {
        return new HealthSettings(Duration.ofMinutes(5), Duration.ofMinutes(5), Duration.ofMinutes(15), LONG, pace);
    }

    @BeforeAll
    static void lookOften() {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
    }

    @TempDir
    Path root;

    final List<AdvertisedDevices> offers = new CopyOnWriteArrayList<>();
    final List<Long> offeredAt = new CopyOnWriteArrayList<>();
    final List<String> logged = new CopyOnWriteArrayList<>();
    final List<HealthMonitor> monitors = new ArrayList<>();
    final Logger logger = Logger.getLogger(HealthMonitor.class.getPackageName());
    final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    ScriptedNode node;
    /** Called on the health thread with each offer, after it was kept. */
    volatile Consumer<AdvertisedDevices> onOffer = offer -> {};

    @BeforeEach
    void makeNode() throws IOException {
        node = new ScriptedNode(root);
        logger.addHandler(handler);
    }

    @AfterEach
    void stop() {
        monitors.forEach(HealthMonitor::close);
        logger.removeHandler(handler);
        await().untilAsserted(() -> assertThat(node.closed).hasValue(node.opened.get()));
    }

    HealthMonitor start(HealthSettings settings) throws IOException {
        HealthMonitor monitor = create(settings);
        monitor.start();
        return monitor;
    }

    HealthMonitor create(HealthSettings settings) {
        HealthMonitor monitor = new HealthMonitor(
                new DeviceInventory(node, node.paths(), List.of()),
                node,
                node.paths(),
                settings,
                Clock.systemUTC(),
                (devices, observed) -> {
                    offeredAt.add(observed);
                    offers.add(devices);
                    onOffer.accept(devices);
                },
                new InotifyShortage());
        monitors.add(monitor);
        return monitor;
    }

    Optional<Boolean> healthy(String device) {
        return offers.isEmpty()
                ? Optional.empty()
                : offers.getLast().find(device).map(entry -> entry.health().isHealthy());
    }

    void awaitHealthy(String device) {
        await().atMost(LONG).untilAsserted(() -> assertThat(healthy(device)).contains(true));
    }

    void awaitUnhealthy(String device, String reason) {
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(offers).isNotEmpty();
            assertThat(offers.getLast().find(device))
                    .hasValueSatisfying(entry -> assertThat(entry.health())
                            .isInstanceOfSatisfying(
                                    Unhealthy.class,
                                    health -> assertThat(health.reason()).contains(reason)));
        });
    }

    static void awaitJudged(HealthMonitor monitor, String device, boolean healthy) {
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(monitor.status().devices())
                        .anyMatch(status -> status.device().name().equals(device)
                                && status.health().isHealthy() == healthy));
    }

    static long threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }
}
