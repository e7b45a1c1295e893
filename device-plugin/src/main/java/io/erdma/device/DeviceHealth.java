package io.erdma.device;

import static java.util.Objects.requireNonNull;

import java.time.Instant;

/** Whether a device can carry traffic now. */
public sealed interface DeviceHealth {
    record Healthy(Instant since) implements DeviceHealth {
        public Healthy {
            requireNonNull(since, "since is null");
        }
    }

    /** @param reason one line for people, for example "port 1 is DOWN" */
    record Unhealthy(String reason, Instant since) implements DeviceHealth {
        public Unhealthy {
            requireNonNull(reason, "reason is null");
            requireNonNull(since, "since is null");
        }
    }

    default boolean isHealthy() {
        return this instanceof Healthy;
    }
}
