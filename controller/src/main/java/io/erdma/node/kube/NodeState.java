package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

/**
 * What the marks on the Node object rest on.
 *
 * @param hasDevices whether the node offers any, healthy or not
 */
public record NodeState(NodeCondition condition, boolean hasDevices) {
    public NodeState {
        requireNonNull(condition, "condition is null");
    }
}
