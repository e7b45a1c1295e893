package io.erdma.plugin;

import java.time.Duration;

/** Waiting times that double from the first to the longest. */
final class BackOff {
    private final Duration first;
    private final Duration longest;
    private Duration next;

    BackOff(Duration first, Duration longest) {
        this.first = first;
        this.longest = longest;
        this.next = first;
    }

    Duration next() {
        Duration now = next;
        Duration doubled = now.multipliedBy(2);
        next = doubled.compareTo(longest) > 0 ? longest : doubled;
        return now;
    }

    void reset() {
        next = first;
    }
}
