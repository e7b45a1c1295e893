package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a device has carried since its driver was loaded, all ports together. Numbers are unsigned; what the driver does
 * not count is absent.
 *
 * @param carrier the interface whose bytes stand for those of the device, which counts none
 */
public record TrafficTotals(long nanos, Direction received, Direction sent, Optional<String> carrier) {
    /**
     * @param bandwidthDrops lost because the instance had used up its bandwidth
     * @param packetRateDrops lost because the instance had used up its packets per second
     * @param otherDrops lost otherwise
     */
    public record Direction(
            OptionalLong bytes,
            OptionalLong packets,
            OptionalLong bandwidthDrops,
            OptionalLong packetRateDrops,
            OptionalLong otherDrops) {
        public Direction {
            requireNonNull(bytes, "bytes is null");
            requireNonNull(packets, "packets is null");
            requireNonNull(bandwidthDrops, "bandwidthDrops is null");
            requireNonNull(packetRateDrops, "packetRateDrops is null");
            requireNonNull(otherDrops, "otherDrops is null");
        }

        List<OptionalLong> all() {
            return List.of(bytes, packets, bandwidthDrops, packetRateDrops, otherDrops);
        }
    }

    public TrafficTotals {
        requireNonNull(received, "received is null");
        requireNonNull(sent, "sent is null");
        requireNonNull(carrier, "carrier is null");
    }
}
