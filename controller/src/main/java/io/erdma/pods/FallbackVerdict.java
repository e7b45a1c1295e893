package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/** Whether a container that holds shares uses RDMA. */
public sealed interface FallbackVerdict {
    record Uses(int queuePairs) implements FallbackVerdict {}

    /** It waits for peers, as a server does, or it has given up making connections. */
    record OnlyContext(int contexts) implements FallbackVerdict {}

    /** It has run for that long without a sign of RDMA: what it sends goes over TCP. */
    record AsksOnly(Duration running) implements FallbackVerdict {}

    /** @param reason in a few words */
    record NoVerdict(String reason) implements FallbackVerdict {
        public NoVerdict {
            requireNonNull(reason, "reason is null");
        }
    }
}
