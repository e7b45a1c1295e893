package io.erdma.traffic;

import io.erdma.sysfs.SysfsCounters.PortCounters;
import io.erdma.traffic.CounterReading.CarrierBytes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Readings written by hand. */
final class Counters {
    private Counters() {}

    static PortCounters port(Map<String, Long> hardware, Map<String, Long> standard) {
        return new PortCounters(
                1, new TreeMap<>(hardware), new TreeMap<>(standard), new TreeMap<>(), Duration.ofMillis(10));
    }

    static CounterReading reading(Map<String, Long> hardware) {
        return new CounterReading("erdma_0", 0, List.of(port(hardware, Map.of())), Optional.empty());
    }

    static CounterReading reading(Map<String, Long> hardware, CarrierBytes carrier) {
        return new CounterReading("erdma_0", 0, List.of(port(hardware, Map.of())), Optional.of(carrier));
    }
}
