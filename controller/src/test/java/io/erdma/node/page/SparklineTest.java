package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.page.Sparkline.Direction;
import io.erdma.traffic.TrafficHistory.Point;
import io.erdma.traffic.TrafficRates;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class SparklineTest {
    private static final Instant NOW = Instant.parse("2026-12-01T12:00:00Z");
    private static final Duration SPAN = Duration.ofSeconds(100);

    private static Point point(int secondsAgo, double received) {
        TrafficRates.Rate rate = new TrafficRates.Rate(OptionalDouble.of(received), OptionalDouble.empty());
        return new Point(NOW.minusSeconds(secondsAgo), new TrafficRates(rate, rate, 0, 0));
    }

    private static Point unknown(int secondsAgo) {
        return new Point(NOW.minusSeconds(secondsAgo), TrafficRates.UNKNOWN);
    }

    private static String path(double top, Point... points) {
        return Sparkline.path(List.of(points), Direction.RECEIVED, NOW, SPAN, top);
    }

    @Test
    void goesFromTheOldestAtTheLeftToNowAtTheRightWithTheHighestAtTheTop() {
        assertThat(path(10, point(100, 0), point(50, 10), point(0, 5))).isEqualTo("M0.0 42.0L150.0 2.0L300.0 22.0");
    }

    @Test
    void leavesAGapWhereNothingIsKnown() {
        assertThat(path(10, point(30, 10), unknown(20), point(10, 10), point(0, 10)))
                .isEqualTo("M210.0 2.0M270.0 2.0L300.0 2.0");
    }

    @Test
    void staysWithinThePictureWhateverTheClockDoes() {
        assertThat(path(10, point(101, 5), point(-1, 5), point(0, 50))).isEqualTo("M300.0 2.0");
        assertThat(path(0, point(10, 0), point(0, 0))).isEqualTo("M270.0 42.0L300.0 42.0");
    }

    @Test
    void isEmptyBeforeTheFirstReading() {
        assertThat(path(0)).isEmpty();
        assertThat(Sparkline.highest(List.of())).isZero();
    }
}
