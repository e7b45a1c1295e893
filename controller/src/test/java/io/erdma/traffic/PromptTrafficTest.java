package io.erdma.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsCounters;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PromptTrafficTest {
    private static final TrafficDevice FIRST = new TrafficDevice("erdma_0", "erdma", Optional.empty());
    private static final TrafficDevice SECOND = new TrafficDevice("erdma_1", "erdma", Optional.empty());
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(500);

    @TempDir
    private Path directory;

    private NodeFixture node;
    private final AtomicBoolean hang = new AtomicBoolean();
    private final CountDownLatch released = new CountDownLatch(1);
    private CounterReader reader;

    @BeforeEach
    void lay() {
        node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory);
        reader = new CounterReader(new SysfsCounters(node.sysfs()), this::now);
    }

    @AfterEach
    void release() {
        released.countDown();
    }

    /** The reader asks for the time before it asks a device; whoever comes first after {@link #hang} waits here. */
    private long now() {
        if (hang.getAndSet(false)) {
            try {
                assertThat(released.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return System.nanoTime();
    }

    @Test
    void readsAllDevicesThatAreThere() {
        node.write("class/infiniband/erdma_1/ports/1/hw_counters/hw_rx_bytes_cnt", "17\n");
        node.removeDevice("erdma_0");

        try (var traffic = new PromptTraffic(reader, LONG)) {
            assertThat(traffic.of(List.of(FIRST, SECOND)))
                    .containsOnlyKeys("erdma_1")
                    .hasEntrySatisfying(
                            "erdma_1",
                            totals -> assertThat(totals.received().bytes()).hasValue(17));
        }
    }

    @Test
    void leavesOutADeviceWhoseDriverHangsUntilItAnswers() {
        try (var traffic = new PromptTraffic(reader, SHORT)) {
            hang.set(true);
            await().until(() -> traffic.of(List.of(FIRST, SECOND)).size() == 1);
            String answering = traffic.of(List.of(FIRST, SECOND)).firstKey();

            await().untilAsserted(
                            () -> assertThat(traffic.of(List.of(FIRST, SECOND))).containsOnlyKeys(answering));
            released.countDown();
            await().untilAsserted(
                            () -> assertThat(traffic.of(List.of(FIRST, SECOND))).hasSize(2));
        }
    }

    @Test
    void waitsForADriverThatHangsOnlyOnce() {
        try (var traffic = new PromptTraffic(reader, Duration.ofSeconds(1))) {
            hang.set(true);
            assertThat(traffic.of(List.of(FIRST))).isEmpty();

            assertTimeout(
                    Duration.ofMillis(900),
                    () -> assertThat(traffic.of(List.of(FIRST))).isEmpty());
        }
    }
}
