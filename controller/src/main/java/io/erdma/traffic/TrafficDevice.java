package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.Set;

/**
 * A device whose traffic is of interest.
 *
 * @param driver the kernel driver's name
 * @param netdev the interface that it is bound to
 */
public record TrafficDevice(String name, String driver, Optional<String> netdev) {
    /** They send through their interface like anybody else, so the interface counts what they send. */
    private static final Set<String> SOFTWARE_DRIVERS = Set.of("rdma_rxe", "siw");

    public TrafficDevice {
        requireNonNull(name, "name is null");
        requireNonNull(driver, "driver is null");
        requireNonNull(netdev, "netdev is null");
    }

    /**
     * The interface through which all traffic of the device goes; empty for real RDMA, which bypasses the interface and
     * what it counts.
     */
    Optional<String> carrier() {
        return SOFTWARE_DRIVERS.contains(driver) ? netdev : Optional.empty();
    }
}
