package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import io.erdma.node.kube.Occurrence.About;
import java.time.Instant;

/**
 * One request that writes an Event.
 *
 * @param name of the Event object
 * @param message what the API takes: 1,024 bytes at most
 * @param first when it was seen first
 * @param last when it was seen last, not before that
 * @param count how often it was seen
 */
record EventWrite(
        Kind kind,
        String name,
        About about,
        EventReason reason,
        String message,
        Instant first,
        Instant last,
        int count) {
    enum Kind {
        CREATE,
        /** The object is known to be there: the message, when it was last so, and how often. */
        UPDATE,
        /** Somebody else made it, most likely this agent before a restart: as UPDATE, but the count stays theirs. */
        TAKE_OVER
    }

    EventWrite {
        requireNonNull(kind, "kind is null");
        requireNonNull(name, "name is null");
        requireNonNull(about, "about is null");
        requireNonNull(reason, "reason is null");
        requireNonNull(message, "message is null");
        requireNonNull(first, "first is null");
        requireNonNull(last, "last is null");
    }

    /** Of the Event, which is its object's: the API takes no other; a Node has none, and its Events are in this one. */
    String namespace() {
        return switch (about) {
            case About.OnNode _ -> "default";
            case About.OnPod pod -> pod.namespace();
        };
    }
}
