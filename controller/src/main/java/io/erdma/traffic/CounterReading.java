package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import io.erdma.sysfs.SysfsCounters.PortCounters;
import java.util.List;
import java.util.Optional;

/**
 * All counters of a device at one moment.
 *
 * @param nanos the moment, by {@link System#nanoTime}
 * @param carrier what the interface under a software device has counted
 */
public record CounterReading(String device, long nanos, List<PortCounters> ports, Optional<CarrierBytes> carrier) {
    /** Unsigned bytes of the interface since it was made. */
    public record CarrierBytes(String netdev, long received, long sent) {}

    public CounterReading {
        requireNonNull(device, "device is null");
        ports = List.copyOf(ports);
        requireNonNull(carrier, "carrier is null");
    }
}
