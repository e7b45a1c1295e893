package io.erdma.plugin;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The answer to one container's request for shares. */
public sealed interface Allocation {
    /**
     * What the container gets. The order of everything is fixed by the devices, so equal grants are equal on the wire.
     *
     * @param cdiDevices fully qualified names
     */
    record Granted(List<DeviceNode> nodes, Map<String, String> environment, List<String> cdiDevices)
            implements Allocation {
        public Granted {
            nodes = List.copyOf(nodes);
            environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
            cdiDevices = List.copyOf(cdiDevices);
        }
    }

    /** Nothing is given; the message names the share and what to do, and is shown in the pod's events. */
    sealed interface Refused extends Allocation {
        String message();
    }

    /** The request itself is wrong, on any node. */
    record Malformed(String message) implements Refused {}

    /** The request names what this node does not have. */
    record Unknown(String message) implements Refused {}

    /** The node has the device, but not all of what a container needs to use it. */
    record NotReady(String message) implements Refused {}

    /** A character device, readable and writable for the container. */
    record DeviceNode(Path containerPath, Path hostPath) {}
}
