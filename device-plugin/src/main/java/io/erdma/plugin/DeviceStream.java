package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.RdmaDevice;
import io.erdma.log.Log;
import io.erdma.log.Quote;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.NUMANode;
import io.erdma.proto.deviceplugin.v1beta1.TopologyInfo;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Keeps every open ListAndWatch stream at the node's latest offer: the whole list when a stream opens, then only when
 * the list that the kubelet would see differs from the one it has. A stream that cannot take a message now gets the
 * newest list once it can; what came between is left out.
 *
 * <p>It has no thread. Messages leave on the thread that advertises, or on gRPC's when a stream opens or becomes ready.
 * Each stream has its own lock, held while it takes a message, since a stream must not be written to from two threads;
 * the lock of the set of streams is only ever taken after it.
 */
public final class DeviceStream implements AdvertisementListener {
    static final String HEALTHY = "Healthy";
    static final String UNHEALTHY = "Unhealthy";

    /** What grpc-go, and so the kubelet, receives at most. */
    private static final int MAX_MESSAGE_BYTES = 4 << 20;

    private static final Log LOG = Log.of(DeviceStream.class);

    private final PluginSettings settings;
    private final PluginObserver observer;
    private final Object advertising = new Object();
    private final Set<Stream> streams = new LinkedHashSet<>();
    private volatile Offer current;

    public DeviceStream(PluginSettings settings, PluginObserver observer) {
        this.settings = requireNonNull(settings, "settings is null");
        this.observer = requireNonNull(observer, "observer is null");
        this.current = new Offer(
                AdvertisedDevices.NONE, List.of(), ListAndWatchResponse.getDefaultInstance(), System.nanoTime());
    }

    public AdvertisedDevices latest() {
        return current.devices;
    }

    @Override
    public void advertise(AdvertisedDevices devices, long observedNanos) {
        synchronized (advertising) {
            Offer former = current;
            List<Row> rows = rows(devices);
            current = rows.equals(former.rows)
                    ? new Offer(devices, former.rows, former.message, former.observedNanos)
                    : new Offer(devices, rows, message(former, rows), observedNanos);
        }
        for (Stream stream : openStreams()) {
            stream.send();
        }
    }

    /** Serves one ListAndWatch call until it is cancelled. */
    void open(ServerCallStreamObserver<ListAndWatchResponse> call) {
        Stream stream = new Stream(call);
        call.setOnCancelHandler(() -> forget(stream));
        call.setOnReadyHandler(stream::send);
        synchronized (streams) {
            streams.add(stream);
            announce();
        }
        // Cancelled before the handler was there to be told.
        if (call.isCancelled()) {
            forget(stream);
        }
        stream.send();
    }

    private List<Stream> openStreams() {
        synchronized (streams) {
            return List.copyOf(streams);
        }
    }

    private void forget(Stream stream) {
        synchronized (streams) {
            if (streams.remove(stream)) {
                announce();
            }
        }
    }

    private void announce() {
        int open = streams.size();
        tell(() -> observer.streams(open));
    }

    private static void tell(Runnable notification) {
        try {
            notification.run();
        } catch (RuntimeException e) {
            LOG.error("the observer of the ListAndWatch streams failed", e);
        }
    }

    private static List<Row> rows(AdvertisedDevices devices) {
        List<Row> rows = new ArrayList<>();
        // The kubelet never puts a device without topology beside devices with it, so one unknown node hides all.
        boolean topology = devices.devices().stream()
                .allMatch(entry -> entry.device().numaNode().isPresent());
        for (AdvertisedDevices.Entry entry : devices.devices()) {
            RdmaDevice device = entry.device();
            if (ShareId.isDeviceName(device.name())) {
                rows.add(new Row(
                        device.name(), entry.health().isHealthy(), topology ? device.numaNode() : OptionalInt.empty()));
            } else {
                LOG.warn(
                        "device " + Quote.of(device.name()) + " is not offered: its shares would have no valid id;"
                                + " rename it with rdma dev set",
                        Log.Field.of("device", device.name()));
            }
        }
        return List.copyOf(rows);
    }

    private ListAndWatchResponse message(Offer former, List<Row> rows) {
        Map<Row, Integer> known = new HashMap<>();
        for (int i = 0; i < former.rows.size(); i++) {
            known.put(former.rows.get(i), i * settings.sharesPerDevice());
        }
        ListAndWatchResponse.Builder message = ListAndWatchResponse.newBuilder();
        for (Row row : rows) {
            Integer start = known.get(row);
            if (start == null) {
                addShares(message, row);
            } else {
                message.addAllDevices(
                        former.message.getDevicesList().subList(start, start + settings.sharesPerDevice()));
            }
        }
        ListAndWatchResponse built = message.build();
        if (built.getSerializedSize() >= MAX_MESSAGE_BYTES) {
            LOG.error("the list of " + built.getDevicesCount() + " shares has " + built.getSerializedSize()
                    + " bytes, more than the kubelet receives; lower the shares per device, now "
                    + settings.sharesPerDevice());
        }
        return built;
    }

    private void addShares(ListAndWatchResponse.Builder message, Row row) {
        Device.Builder share = Device.newBuilder().setHealth(row.healthy ? HEALTHY : UNHEALTHY);
        row.numaNode.ifPresent(node -> share.setTopology(
                TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node))));
        for (int number = 0; number < settings.sharesPerDevice(); number++) {
            message.addDevices(
                    share.setID(new ShareId(row.device, number).toString()).build());
        }
    }

    /** What the kubelet sees of a device. */
    private record Row(String device, boolean healthy, OptionalInt numaNode) {}

    /** The latest offer with its message, which all streams share. */
    private record Offer(AdvertisedDevices devices, List<Row> rows, ListAndWatchResponse message, long observedNanos) {}

    private final class Stream {
        private final ServerCallStreamObserver<ListAndWatchResponse> call;
        private final long openedNanos = System.nanoTime();
        private Optional<List<Row>> sent = Optional.empty();
        private boolean ended;

        Stream(ServerCallStreamObserver<ListAndWatchResponse> call) {
            this.call = call;
        }

        synchronized void send() {
            if (ended || call.isCancelled() || !call.isReady()) {
                return;
            }
            Offer offer = current;
            if (sent.isPresent() && sent.get().equals(offer.rows)) {
                return;
            }
            sent = Optional.of(offer.rows);
            try {
                call.onNext(offer.message);
            } catch (RuntimeException e) {
                LOG.error("a ListAndWatch stream failed and is ended, so that it is opened anew", e);
                end(() -> call.onError(Status.INTERNAL
                        .withDescription("the agent could not send its devices")
                        .asRuntimeException()));
                return;
            }
            long since = offer.observedNanos - openedNanos > 0 ? offer.observedNanos : openedNanos;
            tell(() -> observer.messageSent(Duration.ofNanos(System.nanoTime() - since)));
        }

        private void end(Runnable ending) {
            ended = true;
            forget(this);
            try {
                ending.run();
            } catch (RuntimeException e) {
                LOG.debug("a ListAndWatch stream had ended already: " + e);
            }
        }
    }
}
