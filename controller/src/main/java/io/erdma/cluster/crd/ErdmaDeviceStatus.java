package io.erdma.cluster.crd;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * How far the controller is with a node's interfaces.
 *
 * @param more fields that are not ours, kept as they are
 */
public record ErdmaDeviceStatus(
        @JsonProperty("devices") List<Device> devices,
        @JsonAnySetter @JsonAnyGetter Map<String, Object> more) {
    /** What {@link Device#status} says once the interface is attached. */
    public static final String READY = "Ready";
    /** What it says when the controller has given up. */
    public static final String FAILED = "Failed";

    /**
     * One interface.
     *
     * @param id as in the spec
     * @param status Pending, Ready or Failed
     * @param message for people
     * @param more fields that are not ours, kept as they are
     */
    public record Device(
            @JsonProperty("id") String id,
            @JsonProperty("status") String status,
            @JsonProperty("message") String message,
            @JsonAnySetter @JsonAnyGetter Map<String, Object> more) {
        public Device {
            id = requireNonNullElse(id, "");
            status = requireNonNullElse(status, "");
            message = requireNonNullElse(message, "");
            more = more == null ? Map.of() : more;
        }
    }

    public ErdmaDeviceStatus {
        devices = ErdmaDeviceSpec.present(devices);
        more = more == null ? Map.of() : more;
    }
}
