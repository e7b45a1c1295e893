package io.erdma.health;

import java.time.Duration;

/**
 * Waiting times that are part of how the monitor behaves, not settings of an operator; tests have shorter ones.
 *
 * @param betweenScans several events in a row, as when a driver is loaded, lead to one scan
 * @param secondLook until a scan after news is followed by another, since the news may come before all of a device can be
 *     seen
 * @param scanPatience a scan that takes longer has met a driver that doesn't answer
 * @param nodePoll how often /dev is looked at when the kernel can't notify
 * @param firstEagerRetry after good news that the port doesn't confirm yet; doubles from there up to the probe's interval
 * @param firstReopen until a device whose context died is opened again; doubles from there
 * @param slowestReopen where that doubling ends
 * @param quiet a device that changes after so long without a change is told at once, see {@link FlapDamper}
 * @param betweenMessages that flapping causes
 * @param settled how long a device that flaps must be up until it is told as healthy
 */
public record Pace(
        Duration betweenScans,
        Duration secondLook,
        Duration scanPatience,
        Duration nodePoll,
        Duration firstEagerRetry,
        Duration firstReopen,
        Duration slowestReopen,
        Duration quiet,
        Duration betweenMessages,
        Duration settled) {
    public static final Pace STANDARD = new Pace(
            Duration.ofMillis(200),
            Duration.ofSeconds(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofMillis(20),
            Duration.ofMillis(500),
            Duration.ofSeconds(60),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
}
