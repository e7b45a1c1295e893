package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * How far the pods are that clean the nodes of a release that was uninstalled: a DaemonSet's, each ready once its node is
 * clean.
 *
 * @param nodes how many there are to be cleaned; absent while the cluster has not counted them
 * @param clean how many of them are
 * @param open the others, as far as they have a pod
 */
public record CleanupRollout(OptionalInt nodes, int clean, List<Open> open) {
    /**
     * A node that is not known to be clean.
     *
     * @param why in a few words
     */
    public record Open(String node, String why) {
        public Open {
            requireNonNull(node, "node is null");
            requireNonNull(why, "why is null");
        }
    }

    public CleanupRollout {
        requireNonNull(nodes, "nodes is null");
        open = List.copyOf(open);
    }

    /** Asks the cluster; needs get on that DaemonSet, and list on the namespace's pods. */
    public static CleanupRollout read(ClusterClient client, String namespace, String daemonSet)
            throws ClusterException {
        JsonNode set = client.read(
                "/apis/apps/v1/namespaces/" + namespace + "/daemonsets/" + daemonSet,
                "the DaemonSet " + namespace + "/" + daemonSet);
        List<String> labels = new ArrayList<>();
        set.at("/spec/selector/matchLabels")
                .properties()
                .forEach(label ->
                        labels.add(label.getKey() + "%3D" + label.getValue().asText()));
        JsonNode pods = client.read(
                "/api/v1/namespaces/" + namespace + "/pods?labelSelector=" + String.join("%2C", labels),
                "the pods of the DaemonSet " + namespace + "/" + daemonSet);
        return of(set, pods);
    }

    static CleanupRollout of(JsonNode set, JsonNode pods) {
        boolean counted = set.at("/status/observedGeneration").asLong(0)
                >= set.at("/metadata/generation").asLong(1);
        int clean = 0;
        List<Open> open = new ArrayList<>();
        for (JsonNode pod : pods.path("items")) {
            if (pod.at("/metadata/deletionTimestamp").isMissingNode()) {
                if (isReady(pod)) {
                    clean++;
                } else {
                    open.add(new Open(node(pod), why(pod)));
                }
            }
        }
        return new CleanupRollout(
                counted
                        ? OptionalInt.of(
                                set.at("/status/desiredNumberScheduled").asInt())
                        : OptionalInt.empty(),
                clean,
                open);
    }

    public boolean isDone() {
        return nodes.isPresent() && clean >= nodes.getAsInt();
    }

    private static boolean isReady(JsonNode pod) {
        for (JsonNode condition : pod.at("/status/conditions")) {
            if (condition.path("type").asText().equals("Ready")) {
                return condition.path("status").asText().equals("True");
            }
        }
        return false;
    }

    /** A DaemonSet's pod is bound to its node by its affinity before the scheduler has seen it. */
    private static String node(JsonNode pod) {
        String bound = pod.at("/spec/nodeName").asText();
        return bound.isEmpty()
                ? pod.at("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"
                                + "/nodeSelectorTerms/0/matchFields/0/values/0")
                        .asText("a node")
                : bound;
    }

    /** What "erdma cleanup" said last, else what keeps it from running. */
    private static String why(JsonNode pod) {
        JsonNode status = pod.at("/status/initContainerStatuses/0");
        if (status.isMissingNode()) {
            return "its pod has not started; is the node up?";
        }
        for (String state : List.of("/state/terminated", "/lastState/terminated")) {
            JsonNode ended = status.at(state);
            if (ended.path("exitCode").asInt(0) != 0) {
                String said = ended.path("message").asText().strip();
                return said.isEmpty()
                        ? "erdma cleanup ended with " + ended.path("exitCode").asInt()
                        : said.replaceAll("\\s*\\R\\s*", "; ");
            }
        }
        String waits = status.at("/state/waiting/reason").asText();
        return waits.isEmpty() || waits.equals("PodInitializing")
                ? "its pod is starting; is the node up?"
                : "its pod waits: " + waits;
    }
}
