package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.Set;

/**
 * What is known besides the log.
 *
 * @param devices names of the devices that count as eRDMA; with none, those whose name begins with "erdma"
 * @param mode of the driver on the nodes that the log comes from
 * @param modeSource who says so, for people; empty where nobody does
 */
public record Expectation(Set<String> devices, Optional<Mode> mode, String modeSource) {
    /** Of the driver's names, {@code erdma_0}, {@code erdma_1} and so on. */
    private static final String PREFIX = "erdma";

    public Expectation {
        devices = Set.copyOf(devices);
        requireNonNull(mode, "mode is null");
        requireNonNull(modeSource, "modeSource is null");
    }

    /** The log alone. */
    public static Expectation none() {
        return new Expectation(Set.of(), Optional.empty(), "");
    }

    boolean isErdma(String device) {
        return devices.isEmpty() ? device.startsWith(PREFIX) : devices.contains(device);
    }
}
