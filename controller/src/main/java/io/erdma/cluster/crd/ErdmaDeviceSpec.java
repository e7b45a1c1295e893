package io.erdma.cluster.crd;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Which interfaces a node has been given.
 *
 * @param devices in no particular order
 * @param jumboFrame whether the instance has jumbo frames
 * @param more fields that are not ours, kept as they are
 */
public record ErdmaDeviceSpec(
        @JsonProperty("devices") List<Device> devices,
        @JsonProperty("jumboFrame") boolean jumboFrame,
        @JsonAnySetter @JsonAnyGetter Map<String, Object> more) {
    /**
     * One interface. What the writer left out is empty, 0 or false, as in Go.
     *
     * @param instanceId of the instance that it belongs to
     * @param mac as it was written
     * @param primary whether it is the instance's own interface, turned into an eRDMA one
     * @param id of the interface in the cloud, {@code eni-…}
     * @param cardIndex which network card of the instance it is on, from 0
     * @param queuePairs how many it may have
     * @param more fields that are not ours, kept as they are
     */
    public record Device(
            @JsonProperty("instanceID") String instanceId,
            @JsonProperty("mac") String mac,
            @JsonProperty("isPrimaryENI") boolean primary,
            @JsonProperty("id") String id,
            @JsonProperty("networkCardIndex") int cardIndex,
            @JsonProperty("queuePair") int queuePairs,
            @JsonAnySetter @JsonAnyGetter Map<String, Object> more) {
        public Device {
            instanceId = requireNonNullElse(instanceId, "");
            mac = requireNonNullElse(mac, "");
            id = requireNonNullElse(id, "");
            more = more == null ? Map.of() : more;
        }
    }

    public ErdmaDeviceSpec {
        devices = present(devices);
        more = more == null ? Map.of() : more;
    }

    /** JSON may hold null for a list, and in one. */
    static <T> List<T> present(List<T> items) {
        return items == null
                ? List.of()
                : items.stream().filter(Objects::nonNull).toList();
    }
}
