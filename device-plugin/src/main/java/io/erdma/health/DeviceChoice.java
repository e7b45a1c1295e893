package io.erdma.health;

import io.erdma.device.RdmaDevice;
import java.util.Optional;

/**
 * Which of the selected devices are offered. Asked on the health thread, again and again, so an implementation is immutable
 * and never blocks; another decision is another choice.
 */
@FunctionalInterface
public interface DeviceChoice {
    DeviceChoice ALL = device -> Optional.empty();

    /** Why the device is withheld, as one line for people; empty when it is offered. */
    Optional<String> whyNot(RdmaDevice device);
}
