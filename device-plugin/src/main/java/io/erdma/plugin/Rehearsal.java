package io.erdma.plugin;

import io.erdma.log.Log;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/**
 * Plays the kubelet's dial-back once before the first Register, with a service of its own that has no device. The first calls
 * of a process load the classes of the transport, which on a tenth of a core takes seconds, and the kubelet that waits in
 * Register would give up.
 */
final class Rehearsal {
    private static final Log LOG = Log.of(Rehearsal.class);

    private Rehearsal() {}

    /** @param socket a name that nobody else knows; it is gone afterwards */
    static void play(UnixTransport transport, Path socket, Duration atMost) throws IOException {
        Endpoint endpoint = Endpoint.open(transport, socket, service(), open -> {});
        ManagedChannel channel = transport.connect(endpoint.socket(), UnixTransport.DEFAULT_MAX_MESSAGE_BYTES);
        try {
            DevicePluginGrpc.DevicePluginBlockingStub kubelet =
                    DevicePluginGrpc.newBlockingStub(channel).withDeadlineAfter(atMost.toNanos(), TimeUnit.NANOSECONDS);
            DevicePluginOptions options = kubelet.getDevicePluginOptions(Empty.getDefaultInstance());
            Iterator<ListAndWatchResponse> lists = kubelet.listAndWatch(Empty.getDefaultInstance());
            LOG.debug("rehearsed with " + options.getSerializedSize() + " and "
                    + lists.next().getSerializedSize() + " bytes");
        } catch (StatusRuntimeException e) {
            LOG.warn("the plugin does not answer itself, the kubelet will tell more: "
                    + RegisterCall.reason(e.getStatus()));
        } finally {
            channel.shutdownNow();
            endpoint.discard();
        }
    }

    /** Of the real kind, so that its classes are loaded too; it knows no device and tells no observer. */
    private static DevicePluginService service() {
        PluginSettings settings = PluginSettings.defaults();
        return new DevicePluginService(
                settings,
                new DeviceStream(settings, PluginObserver.NONE),
                path -> false,
                CdiNames.NONE,
                PluginObserver.NONE);
    }
}
