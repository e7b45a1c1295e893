package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/**
 * How we stand with the kubelet.
 *
 * @param registered the kubelet that is there now has accepted us
 * @param streams ListAndWatch streams that it holds open
 * @param registrations accepted ones since the start
 * @param problem what keeps the devices from the kubelet, and what to do; empty when nothing does
 */
public record SessionStatus(boolean registered, int streams, long registrations, Optional<String> problem) {
    static final SessionStatus STARTING = new SessionStatus(false, 0, 0, Optional.of("not registered yet"));

    public SessionStatus {
        requireNonNull(problem, "problem is null");
    }

    /** Registered alone is not enough: without a stream the kubelet counts every device as unhealthy. */
    public boolean serving() {
        return registered && streams > 0;
    }
}
