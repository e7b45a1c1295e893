package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.traffic.TrafficTotals;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TrafficSamplerTest {
    private final AtomicReference<Map<String, TrafficTotals>> traffic =
            new AtomicReference<>(Map.of("erdma_0", Pages.totals(0, 100, 0)));
    private final TrafficSampler sampler = new TrafficSampler(traffic::get, Clock.systemUTC());

    @AfterEach
    void close() {
        sampler.close();
    }

    @Test
    void remembersWhatTheDevicesCarryFromReadingToReading() {
        sampler.sample();
        traffic.set(Map.of("erdma_0", Pages.totals(2_000_000_000L, 5_100, 0)));
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
                .hasValue(2_500);
    }

    @Test
    void forgetsDevicesThatAreOutOfService() {
        sampler.sample();
        traffic.set(Map.of());
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
    void goesOnAfterAFaultOfOurs() {
        traffic.set(null);
        sampler.sampleOrTell();
        traffic.set(Map.of("erdma_0", Pages.totals(0, 100, 0)));
        sampler.sampleOrTell();

        assertThat(sampler.series()).containsOnlyKeys("erdma_0");
    }
}
