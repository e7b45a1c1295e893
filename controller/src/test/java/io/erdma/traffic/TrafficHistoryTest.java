package io.erdma.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.traffic.TrafficHistory.Point;
import io.erdma.traffic.TrafficHistory.Series;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TrafficHistoryTest {
    private static final Instant START = Instant.parse("2026-12-01T12:00:00Z");

    private final TrafficHistory history = new TrafficHistory(3);

    private static TrafficTotals totals(int second, long received) {
        return TrafficCounters.of(new CounterReading(
                "erdma_0",
                second * 1_000_000_000L,
                List.of(Counters.port(Map.of("hw_rx_bytes_cnt", received), Map.of())),
                Optional.empty()));
    }

    private void add(int second, Map<String, TrafficTotals> read) {
        history.add(START.plusSeconds(second), read);
    }

    private List<Double> received(String device) {
        return history.series().get(device).points().stream()
                .map(point -> point.rates().received().bytes().orElse(-1))
                .toList();
    }

    @Test
    void tellsTheRateBetweenEachTwoReadings() {
        add(0, Map.of("erdma_0", totals(0, 1_000)));
        add(10, Map.of("erdma_0", totals(10, 3_000)));
        add(20, Map.of("erdma_0", totals(20, 3_000)));

        assertThat(received("erdma_0")).containsExactly(-1.0, 200.0, 0.0);
        assertThat(history.series().get("erdma_0").points())
                .extracting(Point::at)
                .containsExactly(START, START.plusSeconds(10), START.plusSeconds(20));
    }

    @Test
    void keepsNoMoreThanItMay() {
        for (int i = 0; i < 1_000; i++) {
            add(i, Map.of("erdma_0", totals(i, i * 10L)));
        }
        assertThat(received("erdma_0")).containsExactly(10.0, 10.0, 10.0);
        assertThat(history.series().get("erdma_0").points().getFirst().at()).isEqualTo(START.plusSeconds(997));
    }

    @Test
    void forgetsADeviceThatHasGoneAndBeginsAnewWithOneThatComes() {
        add(0, Map.of("erdma_0", totals(0, 10), "erdma_1", totals(0, 10)));
        add(1, Map.of("erdma_1", totals(1, 20)));
        assertThat(history.series()).containsOnlyKeys("erdma_1");

        add(2, Map.of("erdma_0", totals(2, 500), "erdma_1", totals(2, 30)));
        assertThat(received("erdma_0")).containsExactly(-1.0);
        assertThat(received("erdma_1")).containsExactly(-1.0, 10.0, 10.0);
    }

    @Test
    void knowsNoRateWhereCountersBeganAnew() {
        add(0, Map.of("erdma_0", totals(0, 1_000_000)));
        add(1, Map.of("erdma_0", totals(1, 5)));
        add(2, Map.of("erdma_0", totals(2, 15)));

        assertThat(received("erdma_0")).containsExactly(-1.0, -1.0, 10.0);
    }

    @Test
    void handsOutWhatLaterReadingsDoNotChange() {
        add(0, Map.of("erdma_0", totals(0, 10)));
        Map<String, Series> before = history.series();
        add(1, Map.of("erdma_0", totals(1, 20)));

        assertThat(before.get("erdma_0").points()).hasSize(1);
    }
}
