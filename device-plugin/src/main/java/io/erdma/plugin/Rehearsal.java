package io.erdma.plugin;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.log.Log;
import io.erdma.netlink.MacAddress;
import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Plays the kubelet once before the first Register: its dial-back, a pod's start and a port that goes down, with a service of
 * its own and a device that does not exist. The first calls of a process load and link classes, which on a tenth of a core
 * takes seconds: the kubelet that waits in Register would give up, and the first pod and the first event would wait, too.
 */
final class Rehearsal {
    private static final Log LOG = Log.of(Rehearsal.class);

    private static final String DEVICE = "rehearsed_0";
    private static final String SHARE = new ShareId(DEVICE, 0).toString();

    private Rehearsal() {}

    /** @param socket a name that nobody else knows; it is gone afterwards */
    static void play(UnixTransport transport, Path socket, Duration atMost) throws IOException {
        PluginSettings settings = PluginSettings.defaults();
        DeviceStream stream = new DeviceStream(settings, PluginObserver.NONE);
        stream.advertise(offer(new DeviceHealth.Healthy(Instant.EPOCH)), System.nanoTime());
        // Of the real kind, so that its classes are loaded too; it tells no observer.
        DevicePluginService service =
                new DevicePluginService(settings, stream, path -> true, CdiNames.NONE, PluginObserver.NONE);
        Endpoint endpoint = Endpoint.open(transport, socket, service, () -> {});
        ManagedChannel channel = transport.connect(endpoint.socket(), UnixTransport.DEFAULT_MAX_MESSAGE_BYTES);
        try {
            DevicePluginGrpc.DevicePluginBlockingStub kubelet =
                    DevicePluginGrpc.newBlockingStub(channel).withDeadlineAfter(atMost.toNanos(), TimeUnit.NANOSECONDS);
            int bytes =
                    kubelet.getDevicePluginOptions(Empty.getDefaultInstance()).getSerializedSize();
            Iterator<ListAndWatchResponse> lists = kubelet.listAndWatch(Empty.getDefaultInstance());
            bytes += lists.next().getSerializedSize();
            stream.advertise(offer(new DeviceHealth.Unhealthy("rehearsed", Instant.EPOCH)), System.nanoTime());
            bytes += lists.next().getSerializedSize();
            bytes += kubelet.getPreferredAllocation(preference()).getSerializedSize();
            bytes += kubelet.allocate(allocation()).getSerializedSize();
            LOG.debug("rehearsed with " + bytes + " bytes");
        } catch (StatusRuntimeException e) {
            LOG.warn("the plugin does not answer itself, the kubelet will tell more: "
                    + RegisterCall.reason(e.getStatus()));
        } finally {
            channel.shutdownNow();
            endpoint.discard();
        }
    }

    private static AdvertisedDevices offer(DeviceHealth health) {
        RdmaDevice device = new RdmaDevice(
                DEVICE,
                new NodeGuid(0),
                NodeType.RNIC,
                "rehearsed",
                Optional.empty(),
                Optional.of(new Netdev(1, "rehearsed0", Optional.of(new MacAddress(0)))),
                Optional.of(Path.of("/dev/infiniband/uverbs0")),
                OptionalInt.empty(),
                RdmaCmUse.REQUIRED);
        return new AdvertisedDevices(
                List.of(new AdvertisedDevices.Entry(device, health)), Optional.of(Path.of("/dev/infiniband/rdma_cm")));
    }

    private static PreferredAllocationRequest preference() {
        return PreferredAllocationRequest.newBuilder()
                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                        .addAvailableDeviceIDs(SHARE)
                        .setAllocationSize(1))
                .build();
    }

    private static AllocateRequest allocation() {
        return AllocateRequest.newBuilder()
                .addContainerRequests(ContainerAllocateRequest.newBuilder().addDevicesIds(SHARE))
                .build();
    }
}
