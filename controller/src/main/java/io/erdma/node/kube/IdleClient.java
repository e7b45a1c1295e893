package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The cluster's client while it is used, and some time beyond that: with its connection and threads it is a third of the
 * agent's memory, and on most days there is nothing to tell. For one thread.
 */
final class IdleClient implements Closeable {
    private final ClusterAccess access;
    private final Duration idle;
    private Optional<ClusterClient> client = Optional.empty();
    private long usedAt;

    /** @param idle after which it is closed */
    IdleClient(ClusterAccess access, Duration idle) {
        this.access = requireNonNull(access, "access is null");
        this.idle = requireNonNull(idle, "idle is null");
    }

    /** @throws ClusterException when the credentials cannot be used */
    ClusterClient get(Moment now) throws ClusterException {
        if (client.isEmpty()) {
            client = Optional.of(ClusterClient.open(access));
        }
        usedAt = now.nanos();
        return client.get();
    }

    void closeIfIdle(Moment now) {
        if (client.isPresent() && now.since(usedAt).compareTo(idle) >= 0) {
            close();
        }
    }

    /** When it is to be closed unless it is used; empty while it is. */
    OptionalLong due() {
        return client.isPresent() ? OptionalLong.of(usedAt + idle.toNanos()) : OptionalLong.empty();
    }

    @Override
    public void close() {
        // A method reference would load the client's classes, at the end of an agent that never needed them.
        if (client.isPresent()) {
            client.get().close();
            client = Optional.empty();
        }
    }
}
