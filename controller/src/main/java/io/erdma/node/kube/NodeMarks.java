package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The condition and the label that the agent puts on its Node object. Each is written such that nothing of anybody else is
 * touched: the condition by its type, the label as a field of ours, which stays where others have set it, too.
 */
public final class NodeMarks {
    /** The condition's type. */
    public static final String CONDITION = "ErdmaReady";

    /** As the cloud's own tools label nodes with eRDMA. */
    public static final String LABEL = "aliyun.accelerator/erdma";

    private static final String LABEL_VALUE = "true";

    /**
     * One line for each mark.
     *
     * @param left what stays, with the reason
     */
    public record Removal(List<String> removed, List<String> left) {
        public Removal {
            removed = List.copyOf(removed);
            left = List.copyOf(left);
        }
    }

    private final ClusterClient client;
    private final String node;

    /** @param node name of the Node object */
    public NodeMarks(ClusterClient client, String node) {
        this.client = requireNonNull(client, "client is null");
        this.node = requireNonNull(node, "node is null");
    }

    /**
     * Writes the condition, with the time since when it is so.
     *
     * @throws ClusterException when the Node object, which tells that time, cannot be read
     */
    WriteAnswer condition(NodeCondition wanted, Instant now) throws ClusterException {
        String time = now.truncatedTo(ChronoUnit.SECONDS).toString();
        String since = condition(client.node(node))
                .filter(found -> wanted.status().equals(found.getStatus()))
                .map(io.fabric8.kubernetes.api.model.NodeCondition::getLastTransitionTime)
                .orElse(time);
        return client.patchStatus(
                node,
                Serialization.asJson(Map.of(
                        "status",
                        Map.of(
                                "conditions",
                                List.of(new NodeConditionBuilder()
                                        .withType(CONDITION)
                                        .withStatus(wanted.status())
                                        .withReason(wanted.reason())
                                        .withMessage(wanted.message())
                                        .withLastHeartbeatTime(time)
                                        .withLastTransitionTime(since)
                                        .build())))));
    }

    /** Sets the label, or takes back that we have set it. */
    WriteAnswer label(boolean wanted) {
        return client.applyNode(
                node,
                Serialization.asJson(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .withLabels(wanted ? Map.of(LABEL, LABEL_VALUE) : Map.of())
                        .endMetadata()
                        .build()));
    }

    /**
     * Takes both away; a second time there is nothing to do. A label that somebody else has set, too, stays.
     *
     * @throws ClusterException when the Node object cannot be read
     */
    public Removal remove() throws ClusterException {
        List<String> removed = new ArrayList<>();
        List<String> left = new ArrayList<>();
        Node found = client.node(node);
        if (condition(found).isPresent()) {
            String what = "condition " + CONDITION + " of the Node " + node;
            tell(
                    what,
                    client.patchStatus(
                            node,
                            "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"" + CONDITION + "\"}]}}"),
                    removed,
                    left);
        }
        if (labelled(found) && isOurs(found)) {
            String what = "label " + LABEL + " of the Node " + node;
            WriteAnswer answer = label(false);
            if (answer instanceof WriteAnswer.Written && labelled(client.node(node))) {
                left.add(what + ": somebody else has set it, too");
            } else {
                tell(what, answer, removed, left);
            }
        }
        return new Removal(removed, left);
    }

    private static Optional<io.fabric8.kubernetes.api.model.NodeCondition> condition(Node node) {
        return Optional.ofNullable(node.getStatus())
                .flatMap(status -> status.getConditions().stream()
                        .filter(condition -> CONDITION.equals(condition.getType()))
                        .findFirst());
    }

    private static boolean labelled(Node node) {
        return Optional.ofNullable(node.getMetadata().getLabels())
                .orElse(Map.of())
                .containsKey(LABEL);
    }

    /** Applied fields are the label alone. */
    private static boolean isOurs(Node node) {
        return node.getMetadata().getManagedFields().stream().anyMatch(NodeMarks::isApplied);
    }

    private static boolean isApplied(ManagedFieldsEntry entry) {
        return ClusterClient.AGENT.equals(entry.getManager()) && "Apply".equals(entry.getOperation());
    }

    private static void tell(String what, WriteAnswer answer, List<String> removed, List<String> left) {
        switch (answer) {
            case WriteAnswer.Written _ -> removed.add(what);
            // The Node has gone in between, and its marks with it.
            case WriteAnswer.Gone _ -> removed.add(what);
            case WriteAnswer.Exists _ -> left.add(what + ": the API server answered 409");
            case WriteAnswer.Forbidden(String why) -> left.add(what + ": " + why);
            case WriteAnswer.Refused(String why) -> left.add(what + ": " + why);
            case WriteAnswer.Later(String why, var _) -> left.add(what + ": " + why);
        }
    }
}
