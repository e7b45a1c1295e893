package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;

/** What the kernel says of its module erdma. */
public sealed interface DriverModule {
    /** Not loaded. */
    record Absent() implements DriverModule {}

    /**
     * On its way in or out, in somebody else's hands.
     *
     * @param state the kernel's word: "coming" or "going"
     */
    record Changing(String state) implements DriverModule {
        public Changing {
            requireNonNull(state, "state is null");
        }
    }

    /**
     * @param compatMode absent: the module has no such parameter, as the kernel's own erdma, and so no mode to choose
     * @param unloadable false for a driver that is built into the kernel
     * @param references open contexts and modules above it, as the kernel counts them
     * @param holders modules that stand on this one
     */
    record Loaded(Optional<Boolean> compatMode, boolean unloadable, int references, List<String> holders)
            implements DriverModule {
        public Loaded {
            requireNonNull(compatMode, "compatMode is null");
            holders = List.copyOf(holders);
        }
    }
}
