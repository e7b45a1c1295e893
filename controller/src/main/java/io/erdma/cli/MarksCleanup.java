package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterClient;
import io.erdma.node.kube.ClusterException;
import io.erdma.node.kube.NodeMarks;
import java.util.List;
import java.util.Optional;

/** The condition and the label on the Node object. */
final class MarksCleanup implements Leftover {
    private final Optional<ClusterAccess> access;
    private final String node;

    /** @param node name of the Node object */
    MarksCleanup(Optional<ClusterAccess> access, String node) {
        this.access = requireNonNull(access, "access is null");
        this.node = requireNonNull(node, "node is null");
    }

    @Override
    public String name() {
        return "the marks on the Node object";
    }

    @Override
    public boolean podsNeedIt() {
        return false;
    }

    @Override
    public Result remove() {
        if (access.isEmpty()) {
            return left("there are no credentials here for the cluster's API");
        }
        try (ClusterClient client = ClusterClient.open(access.get())) {
            NodeMarks.Removal removal = new NodeMarks(client, node).remove();
            return new Result(removal.removed(), removal.left());
        } catch (ClusterException e) {
            return left(e.getMessage());
        }
    }

    private Result left(String why) {
        return new Result(List.of(), List.of(name() + ": " + why));
    }
}
