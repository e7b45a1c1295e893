package io.erdma.node.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Asks the kubelet which pods hold shares of our resource, by its podresources API. Each question has a connection of
 * its own, so that a kubelet that restarts between two is none of ours to care about. The calling thread waits.
 */
public final class PodShares {
    /** The kubelet limits the rate of questions and answers within milliseconds otherwise. */
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    /** A node's whole list comes in one message; clients of this API allow 16 MiB. */
    private static final int MAX_ANSWER_BYTES = 16 << 20;

    private final UnixTransport transport;
    private final Path socket;
    private final String resource;
    private final Duration deadline;

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
        this(transport, kubeletRoot, resource, DEADLINE);
    }

    /** @param deadline for the kubelet's answer, with the time that the first call of a program takes */
    public PodShares(UnixTransport transport, Path kubeletRoot, String resource, Duration deadline) {
        this.transport = requireNonNull(transport, "transport is null");
        this.socket = kubeletRoot.resolve("pod-resources").resolve("kubelet.sock");
        this.resource = requireNonNull(resource, "resource is null");
        this.deadline = requireNonNull(deadline, "deadline is null");
    }

    /** Never from a thread of the transport: it would wait for itself. */
    public Answer list() {
        if (!Files.exists(socket)) {
            return new Answer.Unreadable(
                    socket + " is not there: is the kubelet running, and its pod-resources directory mounted?");
        }
        ManagedChannel channel = transport.connect(socket, MAX_ANSWER_BYTES);
        try {
            ListPodResourcesResponse answer = PodResourcesListerGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                    .list(ListPodResourcesRequest.getDefaultInstance());
            return new Answer.Known(holders(answer));
        } catch (StatusRuntimeException e) {
            return new Answer.Unreadable(
                    "the kubelet's pod resources at " + socket + " cannot be read: " + reason(e.getStatus()));
        } finally {
            channel.shutdownNow();
        }
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

    private static String reason(Status status) {
        Throwable cause = status.getCause();
        String more = status.getDescription() != null
                ? status.getDescription()
                : cause != null ? String.valueOf(cause.getMessage()) : "";
        return more.isEmpty() ? status.getCode().name() : status.getCode().name() + " (" + more + ")";
    }
}
