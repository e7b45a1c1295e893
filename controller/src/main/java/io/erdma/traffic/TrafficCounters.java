package io.erdma.traffic;

import io.erdma.sysfs.SysfsCounters.PortCounters;
import io.erdma.traffic.CounterMeaning.Kind;
import io.erdma.traffic.CounterReading.CarrierBytes;
import io.erdma.traffic.TrafficTotals.Direction;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;

/** Finds a device's traffic among its counters. */
public final class TrafficCounters {
    private TrafficCounters() {}

    public static TrafficTotals of(CounterReading reading) {
        Direction received = direction(reading, true);
        Direction sent = direction(reading, false);
        Optional<CarrierBytes> carrier = reading.carrier()
                .filter(_ -> received.bytes().isEmpty() && sent.bytes().isEmpty());
        return new TrafficTotals(
                reading.nanos(),
                carrier.map(bytes -> withBytes(received, bytes.received())).orElse(received),
                carrier.map(bytes -> withBytes(sent, bytes.sent())).orElse(sent),
                carrier.map(CarrierBytes::netdev));
    }

    private static Direction direction(CounterReading reading, boolean received) {
        return new Direction(
                total(reading, Kind.BYTES, received),
                total(reading, Kind.PACKETS, received),
                total(reading, Kind.BANDWIDTH_DROPS, received),
                total(reading, Kind.PACKET_RATE_DROPS, received),
                total(reading, Kind.OTHER_DROPS, received));
    }

    private static Direction withBytes(Direction direction, long bytes) {
        return new Direction(
                OptionalLong.of(bytes),
                direction.packets(),
                direction.bandwidthDrops(),
                direction.packetRateDrops(),
                direction.otherDrops());
    }

    private static OptionalLong total(CounterReading reading, Kind kind, boolean received) {
        return reading.ports().stream()
                .flatMapToLong(port -> ofPort(port, kind, received).stream())
                .reduce(Long::sum);
    }

    /** What the driver counts itself comes first: it may leave InfiniBand's own names at zero. */
    private static OptionalLong ofPort(PortCounters port, Kind kind, boolean received) {
        OptionalLong hardware = among(port.hardware(), kind, received);
        return hardware.isPresent() ? hardware : among(port.standard(), kind, received);
    }

    // Of several spellings of one thing the hardware's own counts, since only that sees all traffic.
    private static OptionalLong among(SortedMap<String, Long> counters, Kind kind, boolean received) {
        return counters.entrySet().stream()
                .sorted(Comparator.comparing(
                        (Map.Entry<String, Long> entry) -> !entry.getKey().startsWith("hw_")))
                .flatMapToLong(entry -> CounterMeaning.of(entry.getKey()).stream()
                        .filter(meaning -> meaning.kind() == kind && meaning.received() == received)
                        .mapToLong(meaning -> entry.getValue() * meaning.factor()))
                .findFirst();
    }
}
