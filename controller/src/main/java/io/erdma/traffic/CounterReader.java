package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import io.erdma.sysfs.SysfsCounters;
import io.erdma.sysfs.SysfsCounters.PortCounters;
import io.erdma.traffic.CounterReading.CarrierBytes;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Reads devices' counters, and asks none again before its last answer has grown old. Safe for use from several threads;
 * a driver that hangs holds up the one who asks for its device.
 */
public final class CounterReader {
    private final SysfsCounters sysfs;
    private final LongSupplier nanoTime;
    private final Map<String, CounterReading> last = new ConcurrentHashMap<>();

    /** @param nanoTime {@link System#nanoTime} */
    public CounterReader(SysfsCounters sysfs, LongSupplier nanoTime) {
        this.sysfs = requireNonNull(sysfs, "sysfs is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /** Empty when there is no such device (any more). Within the counters' lifespan it is the last reading again. */
    public Optional<CounterReading> read(TrafficDevice device) {
        long now = nanoTime.getAsLong();
        CounterReading before = last.get(device.name());
        if (before != null && now - before.nanos() < lifespan(before).toNanos()) {
            return Optional.of(before);
        }
        Optional<CounterReading> reading = sysfs.read(device.name())
                .map(ports -> new CounterReading(device.name(), now, ports, carrier(device.carrier())));
        reading.ifPresentOrElse(found -> last.put(device.name(), found), () -> last.remove(device.name()));
        return reading;
    }

    private static Duration lifespan(CounterReading reading) {
        return reading.ports().stream()
                .map(PortCounters::lifespan)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    private Optional<CarrierBytes> carrier(Optional<String> netdev) {
        return netdev.flatMap(name -> {
            OptionalLong received = sysfs.netdevStatistic(name, "rx_bytes");
            OptionalLong sent = sysfs.netdevStatistic(name, "tx_bytes");
            return received.isPresent() && sent.isPresent()
                    ? Optional.of(new CarrierBytes(name, received.getAsLong(), sent.getAsLong()))
                    : Optional.empty();
        });
    }

    /** Names of the RDMA devices that are there now. */
    public List<String> devices() {
        return sysfs.devices();
    }
}
