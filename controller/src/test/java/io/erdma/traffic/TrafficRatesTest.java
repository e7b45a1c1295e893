package io.erdma.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.traffic.TrafficRates.Rate;
import io.erdma.traffic.TrafficTotals.Direction;
import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class TrafficRatesTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Direction NOTHING = direction(OptionalLong.empty());

    private static Direction direction(OptionalLong bytes) {
        return new Direction(
                bytes, OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());
    }

    private static TrafficTotals received(long nanos, long bytes) {
        return new TrafficTotals(nanos, direction(OptionalLong.of(bytes)), NOTHING, Optional.empty());
    }

    @Test
    void dividesByTheTimeThatReallyPassed() {
        TrafficRates rates = TrafficRates.between(received(5 * SECOND, 1000), received(7 * SECOND, 4000));
        assertThat(rates.received().bytes()).hasValue(1500.0);
        assertThat(rates.received().packets()).isEmpty();
        assertThat(rates.sent()).isEqualTo(Rate.UNKNOWN);
    }

    @Test
    void countsOverTheEndOfA64BitCounter() {
        TrafficRates rates = TrafficRates.between(received(0, -100), received(SECOND, 200));
        assertThat(rates.received().bytes()).hasValue(300.0);
    }

    @Test
    void countsAcrossTheSignBit() {
        TrafficRates rates = TrafficRates.between(received(0, Long.MAX_VALUE), received(SECOND, Long.MIN_VALUE));
        assertThat(rates.received().bytes()).hasValue(1.0);
    }

    @Test
    void tellsNothingWhenTheCountersBeganAnew() {
        assertThat(TrafficRates.between(received(0, 5_000_000), received(SECOND, 10)))
                .isEqualTo(TrafficRates.UNKNOWN);
    }

    @Test
    void tellsNothingOfAnyCounterWhenOneWentBack() {
        var before =
                new TrafficTotals(0, direction(OptionalLong.of(5)), direction(OptionalLong.of(1000)), Optional.empty());
        var after = new TrafficTotals(
                SECOND, direction(OptionalLong.of(500)), direction(OptionalLong.of(3)), Optional.empty());
        assertThat(TrafficRates.between(before, after)).isEqualTo(TrafficRates.UNKNOWN);
    }

    @Test
    void tellsNothingWhenNoTimePassed() {
        assertThat(TrafficRates.between(received(7, 5), received(7, 5))).isEqualTo(TrafficRates.UNKNOWN);
    }

    @Test
    void tellsNothingBetweenTheDevicesBytesAndThoseOfItsInterface() {
        var after = new TrafficTotals(SECOND, direction(OptionalLong.of(500)), NOTHING, Optional.of("eth1"));
        assertThat(TrafficRates.between(received(0, 5), after)).isEqualTo(TrafficRates.UNKNOWN);
    }

    @Test
    void addsWhatBothDirectionsLostToTheInstancesLimits() {
        TrafficRates rates = TrafficRates.between(drops(0, 10, 1), drops(SECOND, 110, 3));
        assertThat(rates.bandwidthDrops()).isEqualTo(200);
        assertThat(rates.packetRateDrops()).isEqualTo(4);
    }

    private static TrafficTotals drops(long nanos, long bandwidth, long packetRate) {
        Direction both = new Direction(
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.of(bandwidth),
                OptionalLong.of(packetRate),
                OptionalLong.empty());
        return new TrafficTotals(nanos, both, both, Optional.empty());
    }

    @Provide
    Arbitrary<TrafficTotals> totals() {
        Arbitrary<OptionalLong> number = Arbitraries.oneOf(
                Arbitraries.longs().map(OptionalLong::of),
                Arbitraries.longs().between(0, 1000).map(OptionalLong::of),
                Arbitraries.just(OptionalLong.empty()));
        Arbitrary<Direction> direction =
                Combinators.combine(number, number, number, number, number).as(Direction::new);
        return Combinators.combine(
                        Arbitraries.longs().between(0, 10 * SECOND),
                        direction,
                        direction,
                        Arbitraries.of(Optional.<String>empty(), Optional.of("eth1")))
                .as(TrafficTotals::new);
    }

    @Property
    void isNeverNegativeOrInfinite(@ForAll("totals") TrafficTotals before, @ForAll("totals") TrafficTotals after) {
        TrafficRates rates = TrafficRates.between(before, after);
        for (Rate rate : new Rate[] {rates.received(), rates.sent()}) {
            assertThat(rate.bytes().orElse(0)).isNotNegative().isFinite();
            assertThat(rate.packets().orElse(0)).isNotNegative().isFinite();
        }
        assertThat(rates.bandwidthDrops()).isNotNegative();
        assertThat(rates.packetRateDrops()).isNotNegative();
    }
}
