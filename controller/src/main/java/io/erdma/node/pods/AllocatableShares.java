package io.erdma.node.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.AllocatableResourcesRequest;
import io.erdma.proto.podresources.v1.AllocatableResourcesResponse;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Asks the kubelet how many shares of our resource it could give to pods, held or not: what the node's allocatable will
 * say, without a question to the cluster. The calling thread waits.
 */
public final class AllocatableShares {
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final int MAX_ANSWER_BYTES = 16 << 20;

    private final UnixTransport transport;
    private final Path socket;
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
        this.transport = requireNonNull(transport, "transport is null");
        this.socket = kubeletRoot.resolve("pod-resources").resolve("kubelet.sock");
        this.resource = requireNonNull(resource, "resource is null");
    }

    /** Never from a thread of the transport: it would wait for itself. */
    public Answer ask() {
        if (!Files.exists(socket)) {
            return new Answer.Unreadable(
                    socket + " is not there: is the kubelet running, and its pod-resources directory mounted?");
        }
        ManagedChannel channel = transport.connect(socket, MAX_ANSWER_BYTES);
        try {
            AllocatableResourcesResponse answer = PodResourcesListerGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(DEADLINE.toNanos(), TimeUnit.NANOSECONDS)
                    .getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance());
            return new Answer.Known(count(answer.getDevicesList()));
        } catch (StatusRuntimeException e) {
            // Kubelets before 1.23 have this behind a gate.
            return new Answer.Unreadable("the kubelet does not tell at " + socket + ": "
                    + e.getStatus().getCode());
        } finally {
            channel.shutdownNow();
        }
    }

    private Map<String, Integer> count(List<ContainerDevices> devices) {
        TreeMap<String, Integer> perDevice = new TreeMap<>();
        devices.stream()
                .filter(one -> one.getResourceName().equals(resource))
                .flatMap(one -> one.getDeviceIdsList().stream())
                .map(id -> id.substring(0, Math.max(0, id.lastIndexOf('/'))))
                .forEach(device -> perDevice.merge(device, 1, Integer::sum));
        return perDevice;
    }
}
