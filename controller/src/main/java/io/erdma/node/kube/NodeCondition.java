package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

/**
 * What the Node's condition {@link NodeMarks#CONDITION} is to say.
 *
 * @param reason one word for programs, in CamelCase
 * @param message for people
 */
public record NodeCondition(boolean ready, String reason, String message) {
    public NodeCondition {
        requireNonNull(reason, "reason is null");
        requireNonNull(message, "message is null");
    }

    String status() {
        return ready ? "True" : "False";
    }
}
