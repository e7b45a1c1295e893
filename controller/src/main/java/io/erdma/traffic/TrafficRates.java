package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import io.erdma.traffic.TrafficTotals.Direction;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Traffic between two moments. Nothing here is ever negative: where counters began anew in between, because the driver
 * was loaded again, all is absent.
 *
 * @param bandwidthDrops how many were lost to the instance's bandwidth limit
 * @param packetRateDrops how many were lost to the instance's limit of packets per second
 */
public record TrafficRates(Rate received, Rate sent, long bandwidthDrops, long packetRateDrops) {
    /** Per second; absent where it can't be told. */
    public record Rate(OptionalDouble bytes, OptionalDouble packets) {
        static final Rate UNKNOWN = new Rate(OptionalDouble.empty(), OptionalDouble.empty());

        public Rate {
            requireNonNull(bytes, "bytes is null");
            requireNonNull(packets, "packets is null");
        }
    }

    /** Of one moment alone, or of two with a new beginning between them. */
    public static final TrafficRates UNKNOWN = new TrafficRates(Rate.UNKNOWN, Rate.UNKNOWN, 0, 0);

    /** A counter that wrapped has moved by no more than this; one that began anew seems to have moved by far more. */
    private static final long LARGEST_STEP_OVER_THE_END = 1L << 48;

    private static final double NANOS_PER_SECOND = 1e9;

    public static TrafficRates between(TrafficTotals before, TrafficTotals after) {
        double seconds = (after.nanos() - before.nanos()) / NANOS_PER_SECOND;
        if (seconds <= 0 || !before.carrier().equals(after.carrier()) || beganAnew(before, after)) {
            return UNKNOWN;
        }
        return new TrafficRates(
                rate(before.received(), after.received(), seconds),
                rate(before.sent(), after.sent(), seconds),
                drops(before, after, Direction::bandwidthDrops),
                drops(before, after, Direction::packetRateDrops));
    }

    private static long drops(TrafficTotals before, TrafficTotals after, Function<Direction, OptionalLong> which) {
        long both = moved(which.apply(before.received()), which.apply(after.received()))
                        .orElse(0)
                + moved(which.apply(before.sent()), which.apply(after.sent())).orElse(0);
        return both < 0 ? Long.MAX_VALUE : both;
    }

    /** One counter that went back tells it of all, also of those that have grown beyond their old number already. */
    private static boolean beganAnew(TrafficTotals before, TrafficTotals after) {
        List<OptionalLong> old = Stream.concat(before.received().all().stream(), before.sent().all().stream())
                .toList();
        List<OptionalLong> now = Stream.concat(after.received().all().stream(), after.sent().all().stream())
                .toList();
        for (int i = 0; i < old.size(); i++) {
            if (old.get(i).isPresent()
                    && now.get(i).isPresent()
                    && moved(old.get(i), now.get(i)).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static Rate rate(Direction before, Direction after, double seconds) {
        return new Rate(
                perSecond(moved(before.bytes(), after.bytes()), seconds),
                perSecond(moved(before.packets(), after.packets()), seconds));
    }

    private static OptionalDouble perSecond(OptionalLong moved, double seconds) {
        return moved.isPresent() ? OptionalDouble.of(moved.getAsLong() / seconds) : OptionalDouble.empty();
    }

    /** Empty when a counter is missing, or when it can only have begun anew. */
    private static OptionalLong moved(OptionalLong before, OptionalLong after) {
        if (before.isEmpty() || after.isEmpty()) {
            return OptionalLong.empty();
        }
        long difference = after.getAsLong() - before.getAsLong();
        boolean wrapped = Long.compareUnsigned(after.getAsLong(), before.getAsLong()) < 0;
        boolean plausible = difference >= 0 && (!wrapped || difference <= LARGEST_STEP_OVER_THE_END);
        return plausible ? OptionalLong.of(difference) : OptionalLong.empty();
    }
}
