package io.erdma.health;

import io.erdma.device.RdmaDevice;
import java.util.Optional;

/** Which of the devices that the selectors found are offered. Asked on the health thread, so it must not block. */
@FunctionalInterface
public interface DeviceChoice {
    /** Why the device is not offered, in one line; empty when it is. */
    Optional<String> whyNot(RdmaDevice device);
}
