package io.erdma.health;

import java.time.Duration;

/**
 * Times of the health monitor.
 *
 * @param probe between two checks of a device's port
 * @param scan between two looks at everything, for what the kernel doesn't notify
 * @param grace how long a device may go without an answer before it counts as unhealthy: unknown is not healthy
 * @param firstAnswer how long a new device is held back for its first answer before it is offered as unhealthy
 * @param pace what nobody needs to set
 */
public record HealthSettings(Duration probe, Duration scan, Duration grace, Duration firstAnswer, Pace pace) {
    public static final HealthSettings STANDARD = new HealthSettings(
            Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(15), Duration.ofSeconds(1));

    public HealthSettings {
        if (!probe.isPositive() || !scan.isPositive() || !grace.isPositive() || !firstAnswer.isPositive()) {
            throw new IllegalArgumentException("times of the health monitor must be positive");
        }
    }

    public HealthSettings(Duration probe, Duration scan, Duration grace, Duration firstAnswer) {
        this(probe, scan, grace, firstAnswer, Pace.STANDARD);
    }
}
