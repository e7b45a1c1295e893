package io.erdma.node.kube;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Which network interfaces of a node the Terway network plugin takes for its pods, by its configuration: the entry
 * {@code eni_conf} of the ConfigMap {@value #NAME} in {@value #NAMESPACE}. Of that only what concerns us is kept; it may
 * hold keys of the cloud account.
 */
public sealed interface TerwayWhitelist {
    String NAMESPACE = "kube-system";
    String NAME = "eni-config";
    String ENTRY = "eni_conf";
    /** Tags that an interface must have for Terway to take it; without any, it takes each that it finds. */
    String FILTER = "eni_tag_filter";

    /** The cluster has another network plugin. */
    record NoTerway() implements TerwayWhitelist {}

    /** Every interface is Terway's, also one that a controller attached for RDMA. */
    record TakesAll() implements TerwayWhitelist {}

    /** @param tags that an interface of Terway's has, all of them */
    record Takes(Map<String, String> tags) implements TerwayWhitelist {
        public Takes {
            tags = Map.copyOf(tags);
        }

        /** {@code creator=terway}. */
        public String describe() {
            return new TreeMap<>(tags)
                    .entrySet().stream()
                            .map(tag -> tag.getKey() + "=" + tag.getValue())
                            .collect(Collectors.joining(", "));
        }
    }

    /** @param configuration the entry, read as JSON */
    static TerwayWhitelist of(Map<?, ?> configuration) {
        if (!(configuration.get(FILTER) instanceof Map<?, ?> tags) || tags.isEmpty()) {
            return new TakesAll();
        }
        return new Takes(tags.entrySet().stream()
                .collect(Collectors.toMap(
                        tag -> String.valueOf(tag.getKey()), tag -> String.valueOf(tag.getValue()), (one, _) -> one)));
    }
}
