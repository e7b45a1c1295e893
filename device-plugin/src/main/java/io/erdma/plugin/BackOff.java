package io.erdma.plugin;

import java.time.Duration;

/** Waiting times that double from the first to the longest. */
public final class BackOff {
    private final Duration first;
    private final Duration longest;
    private Duration next;

    public BackOff(Duration first, Duration longest) {
        this.first = first;
        this.longest = longest;
        this.next = first;
    }

    public Duration next() {
        Duration now = next;
        Duration doubled = now.multipliedBy(2);
        next = doubled.compareTo(longest) > 0 ? longest : doubled;
        return now;
    }

    public void reset() {
        next = first;
    }
}
