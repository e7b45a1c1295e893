package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

/**
 * Something that whoever looks at a Node or a Pod should be told.
 *
 * @param subject what of the object it is about, a device or an interface; empty for all of it
 * @param message for people, of any length
 */
public record Occurrence(About about, EventReason reason, String subject, String message) {
    /** The object whose description shows the Event. */
    public sealed interface About {
        record OnNode(String name) implements About {
            public OnNode {
                requireNonNull(name, "name is null");
            }
        }

        /** @param uid without it, {@code kubectl describe} does not find the Event */
        record OnPod(String namespace, String name, String uid) implements About {
            public OnPod {
                requireNonNull(namespace, "namespace is null");
                requireNonNull(name, "name is null");
                requireNonNull(uid, "uid is null");
            }
        }
    }

    public Occurrence {
        requireNonNull(about, "about is null");
        requireNonNull(reason, "reason is null");
        requireNonNull(subject, "subject is null");
        requireNonNull(message, "message is null");
    }
}
