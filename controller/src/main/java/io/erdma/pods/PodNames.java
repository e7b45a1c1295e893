package io.erdma.pods;

import io.erdma.pods.ContainerName.PodName;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of containers and pods by their ids, from the names of the node's log files: the kubelet's podresources API
 * gives names without ids, cgroups give ids without names, and the kubelet names its logs by both.
 *
 * @param containers by the runtime's id
 * @param pods by pod UID
 * @param problem why there are none
 */
public record PodNames(Map<String, ContainerName> containers, Map<String, PodName> pods, Optional<String> problem) {
    /** NAMESPACE_POD_UID; names of Kubernetes objects have no underscore. */
    private static final Pattern POD_DIRECTORY = Pattern.compile("([a-z0-9.-]+)_([a-z0-9.-]+)_([0-9a-f-]{32,36})");

    private static final Pattern CONTAINER_LINK =
            Pattern.compile("([a-z0-9.-]+)_([a-z0-9.-]+)_([a-z0-9-]+)-([0-9a-f]{64})\\.log");

    public PodNames {
        containers = Map.copyOf(containers);
        pods = Map.copyOf(pods);
    }

    static PodNames none(String problem) {
        return new PodNames(Map.of(), Map.of(), Optional.of(problem));
    }

    /**
     * @param podDirectories names below {@code /var/log/pods}
     * @param containerLinks names below {@code /var/log/containers}
     */
    static PodNames of(Collection<String> podDirectories, Collection<String> containerLinks) {
        Map<String, PodName> pods = new HashMap<>();
        for (String name : podDirectories) {
            Matcher parts = POD_DIRECTORY.matcher(name);
            if (parts.matches()) {
                pods.put(parts.group(3), new PodName(parts.group(1), parts.group(2)));
            }
        }
        Map<String, ContainerName> containers = new HashMap<>();
        for (String name : containerLinks) {
            Matcher parts = CONTAINER_LINK.matcher(name);
            if (parts.matches()) {
                containers.put(parts.group(4), new ContainerName(parts.group(2), parts.group(1), parts.group(3)));
            }
        }
        return new PodNames(containers, pods, Optional.empty());
    }

    /** The best that is known. */
    public Owner owner(ContainerId id) {
        ContainerName container = containers.get(id.container());
        return container == null
                ? new Owner.Unnamed(id, Optional.ofNullable(pods.get(id.podUid())))
                : new Owner.Named(container);
    }
}
