package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.AllocatableResourcesRequest;
import io.erdma.proto.podresources.v1.ContainerDevices;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Asks the kubelet how many shares of our resource it could give to pods, held or not: what the node's allocatable will
 * say, without a question to the cluster. The calling thread waits.
 */
public final class AllocatableShares {
    private final KubeletQuestion kubelet;
    private final String resource;

    /** What the kubelet said. */
    public sealed interface Answer {
        /** @param perDevice healthy shares by the name of their device */
        record Known(Map<String, Integer> perDevice) implements Answer {
            public int sum() {
                return perDevice.values().stream().mapToInt(Integer::intValue).sum();
            }
        }

        /** @param reason in one line */
        record Unreadable(String reason) implements Answer {
            public Unreadable {
                requireNonNull(reason, "reason is null");
            }
        }
    }

    /**
     * @param kubeletRoot usually {@code /var/lib/kubelet}; the socket is below it
     * @param resource the extended resource's name
     */
    public AllocatableShares(UnixTransport transport, Path kubeletRoot, String resource) {
        this.kubelet = new KubeletQuestion(transport, kubeletRoot, KubeletQuestion.DEADLINE);
        this.resource = requireNonNull(resource, "resource is null");
    }

    /** Never from a thread of the transport: it would wait for itself. */
    public Answer ask() {
        return kubelet.ask(
                // Kubelets before 1.23 have this behind a gate.
                resources -> new Answer.Known(count(resources
                        .getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance())
                        .getDevicesList())),
                Answer.Unreadable::new);
    }

    private Map<String, Integer> count(List<ContainerDevices> devices) {
        TreeMap<String, Integer> perDevice = new TreeMap<>();
        devices.stream()
                .filter(one -> one.getResourceName().equals(resource))
                .flatMap(one -> one.getDeviceIdsList().stream())
                .map(UsageRules::deviceOf)
                .forEach(device -> perDevice.merge(device, 1, Integer::sum));
        return perDevice;
    }
}
