package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Asks the kubelet which pods hold shares of our resource. The calling thread waits. */
public final class PodShares {
    private final KubeletQuestion kubelet;
    private final String resource;

    /** What the kubelet said. */
    public sealed interface Answer {
        /** Every container that holds a share, in the kubelet's order; none is an answer as well. */
        record Known(List<Holder> holders) implements Answer {
            public Known {
                holders = List.copyOf(holders);
            }
        }

        /** @param reason why nobody knows, and what to do, in one line */
        record Unreadable(String reason) implements Answer {
            public Unreadable {
                requireNonNull(reason, "reason is null");
            }
        }
    }

    /**
     * A container with shares.
     *
     * @param deviceIds as they were offered to the kubelet, {@code erdma_0/17}; entries of several NUMA nodes are merged
     */
    public record Holder(String namespace, String pod, String container, List<String> deviceIds) {
        public Holder {
            requireNonNull(namespace, "namespace is null");
            requireNonNull(pod, "pod is null");
            requireNonNull(container, "container is null");
            deviceIds = List.copyOf(deviceIds);
        }
    }

    /**
     * @param kubeletRoot usually {@code /var/lib/kubelet}; the socket is below it
     * @param resource the extended resource's name
     */
    public PodShares(UnixTransport transport, Path kubeletRoot, String resource) {
        this(transport, kubeletRoot, resource, KubeletQuestion.DEADLINE);
    }

    /** @param deadline for the kubelet's answer, with the time that the first call of a program takes */
    public PodShares(UnixTransport transport, Path kubeletRoot, String resource, Duration deadline) {
        this.kubelet = new KubeletQuestion(transport, kubeletRoot, deadline);
        this.resource = requireNonNull(resource, "resource is null");
    }

    /** Never from a thread of the transport: it would wait for itself. */
    public Answer list() {
        return kubelet.ask(
                pods -> new Answer.Known(holders(pods.list(ListPodResourcesRequest.getDefaultInstance()))),
                Answer.Unreadable::new);
    }

    private List<Holder> holders(ListPodResourcesResponse answer) {
        List<Holder> holders = new ArrayList<>();
        for (PodResources pod : answer.getPodResourcesList()) {
            for (ContainerResources container : pod.getContainersList()) {
                List<String> ids = container.getDevicesList().stream()
                        .filter(devices -> devices.getResourceName().equals(resource))
                        .map(ContainerDevices::getDeviceIdsList)
                        .flatMap(List::stream)
                        .toList();
                if (!ids.isEmpty()) {
                    holders.add(new Holder(pod.getNamespace(), pod.getName(), container.getName(), ids));
                }
            }
        }
        return holders;
    }
}
