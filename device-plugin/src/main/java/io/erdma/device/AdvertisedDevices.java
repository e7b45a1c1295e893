package io.erdma.device;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the node offers at one moment: the one value handed from the health monitor to the kubelet's side. Immutable;
 * devices are sorted by name, and names are unique.
 *
 * @param rdmaCm path of {@code /dev/infiniband/rdma_cm} on the host, present only while it exists
 */
public record AdvertisedDevices(List<Entry> devices, Optional<Path> rdmaCm) {
    public static final AdvertisedDevices NONE = new AdvertisedDevices(List.of(), Optional.empty());

    /** One device with its health. */
    public record Entry(RdmaDevice device, DeviceHealth health) {}

    public AdvertisedDevices {
        devices = devices.stream()
                .sorted(Comparator.comparing((Entry entry) -> entry.device().name()))
                .toList();
        if (devices.stream().map(entry -> entry.device().name()).distinct().count() != devices.size()) {
            throw new IllegalArgumentException("a device name occurs twice: " + devices);
        }
    }

    public Optional<Entry> find(String name) {
        return devices.stream()
                .filter(entry -> entry.device().name().equals(name))
                .findFirst();
    }
}
