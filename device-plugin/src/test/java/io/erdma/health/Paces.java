package io.erdma.health;

import java.time.Duration;

/** How fast the monitor goes in tests. */
public final class Paces {
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration NONE = Duration.ofNanos(1);
    private static final Duration PATIENT = Duration.ofSeconds(2);

    /** Everything is told at once. */
    public static final Pace BRISK = pace(PATIENT, NONE, NONE, NONE);

    /** For a scan that hangs. */
    static final Pace HASTY = pace(Duration.ofMillis(100), NONE, NONE, NONE);

    /** Only what is told at once is told at all. */
    static final Pace STILL = pace(PATIENT, NEVER, NEVER, NEVER);

    /** Whatever changes a second time flaps, and is not trusted again. */
    static final Pace DAMPED = pace(PATIENT, NEVER, Duration.ofMillis(200), NEVER);

    private Paces() {}

    private static Pace pace(Duration scanPatience, Duration quiet, Duration betweenMessages, Duration settled) {
        return new Pace(
                Duration.ofMillis(10),
                Duration.ofMillis(100),
                scanPatience,
                Duration.ofMillis(20),
                Duration.ofMillis(5),
                Duration.ofMillis(20),
                Duration.ofSeconds(60),
                quiet,
                betweenMessages,
                settled);
    }
}
