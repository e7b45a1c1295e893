package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static io.erdma.plugin.Offers.onNode;
import static io.erdma.plugin.Offers.settings;
import static io.erdma.plugin.Offers.withRdmaCm;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.log.InotifyShortage;
import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole kubelet side over real unix sockets: stream, service and session against a strict kubelet. */
class DevicePluginOverSocketTest {
    private static final String RESOURCE = FakeKubelet.RESOURCE;
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path root;

    private final DeviceStream stream = new DeviceStream(settings(), PluginObserver.NONE);
    private UnixTransport transport;
    private FakeKubelet kubelet;
    private KubeletSession session;

    @BeforeEach
    void start() throws IOException {
        transport = UnixTransport.open();
        kubelet = FakeKubelet.start(root);
        session = session(settings(), stream);
    }

    @AfterEach
    void stop() throws IOException {
        session.close();
        kubelet.close();
        transport.close();
    }

    @Test
    void r20_theKubeletGetsOneMessageAndThenOnePerChange() {
        advertise(offerOf(2));
        register(400);
        for (int i = 0; i < 100; i++) {
            advertise(offerOf(2));
        }
        advertise(offer(healthy(device(0)), down(device(1))));
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        assertThat(kubelet.messages()).hasSize(2);
        assertThat(kubelet.capacity(RESOURCE)).isEqualTo(400);
    }

    @Test
    void r09_aNodeWithoutDevicesRegistersAndOffersThemOnceTheyAreThere() {
        register(0);
        advertise(offerOf(1));
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        assertThat(kubelet.registrations()).hasSize(1);
    }

    @Test
    void r05_theSameSharesAreGrantedAlikeBeforeAndAfterAKubeletRestart() throws IOException {
        advertise(offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.REQUIRED)));
        register(400);
        ContainerAllocateResponse init = kubelet.allocate("erdma_0/7", "erdma_1/2");
        kubelet.preStart("erdma_0/7", "erdma_1/2");
        assertThat(kubelet.allocate("erdma_1/2", "erdma_0/7")).isEqualTo(init);
        assertThat(init.getDevicesList())
                .extracting(DeviceSpec::getHostPath)
                .containsExactly("/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1", "/dev/infiniband/rdma_cm");
        kubelet.restart(FakeKubelet.Wipe.SOCKETS, Duration.ZERO);
        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 400, SOON);
        kubelet.preStart("erdma_0/7", "erdma_1/2");
        assertThat(kubelet.allocate("erdma_0/7", "erdma_1/2")).isEqualTo(init);
    }

    @Test
    void p09_aRefusalNamesTheShareAndTheServiceGoesOn() {
        advertise(offerOf(1));
        register(200);
        assertThatThrownBy(() -> kubelet.allocate(RESOURCE, List.of("erdma_7/3")))
                .hasMessageContaining("erdma_7/3");
        assertThatThrownBy(() -> kubelet.allocate(RESOURCE, List.of("\u0001\n")))
                .hasMessageContaining("malformed");
        assertThat(kubelet.allocate("erdma_0/3").getDevicesCount()).isEqualTo(1);
    }

    @Test
    void theMostSharesOf32DevicesReachTheKubelet() {
        advertise(offer(IntStream.range(0, 32).mapToObj(i -> onNode(i, i % 2)).toArray(RdmaDevice[]::new)));
        register(6400);
        advertise(offer(IntStream.range(0, 32)
                .mapToObj(i -> i == 9 ? down(onNode(i, 1)) : healthy(onNode(i, i % 2)))
                .toArray(AdvertisedDevices.Entry[]::new)));
        kubelet.awaitAllocatable(RESOURCE, 6200, SOON);
        assertThat(kubelet.capacity(RESOURCE)).isEqualTo(6400);
    }

    @Test
    void p14_aCancelledStreamIsGivenUpAndReplaced() {
        advertise(offerOf(1));
        register(200);
        kubelet.cancelStream(RESOURCE);
        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        await().atMost(SOON).until(() -> session.status().streams() == 1);
        int before = kubelet.messages().size();
        advertise(offerOf(2));
        kubelet.awaitAllocatable(RESOURCE, 400, SOON);
        assertThat(kubelet.messages()).hasSize(before + 1);
    }

    @Test
    void r02_aBrokenConnectionIsNoticedAndTheSessionRegistersOnceMore() {
        advertise(offerOf(1));
        register(200);
        kubelet.dropConnection(RESOURCE);
        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable(RESOURCE, 200, SOON);
        await().during(Duration.ofMillis(500))
                .atMost(SOON)
                .until(() -> session.status().serving() && session.status().streams() == 1);
        assertThat(kubelet.registerCalls()).isEqualTo(2);
        assertThat(kubelet.messages()).hasSize(2);
    }

    /** The most that the settings allow, with the longest names that the kernel does: still below grpc-go's 4 MiB. */
    @Test
    void aThousandSharesOf32DevicesReachTheKubelet() {
        PluginSettings many = Offers.shares(PluginSettings.MAX_SHARES_PER_DEVICE);
        DeviceStream large = new DeviceStream(many, PluginObserver.NONE);
        session = session(many, large);
        String prefix = "erdma_" + "x".repeat(55);
        large.advertise(
                offer(IntStream.range(0, 32)
                        .mapToObj(
                                i -> down(Offers.device(prefix + (10 + i), i, OptionalInt.of(i % 2), RdmaCmUse.UNUSED)))
                        .toArray(AdvertisedDevices.Entry[]::new)),
                System.nanoTime());
        register(32_000);
        assertThat(kubelet.messages().getFirst().list().getSerializedSize()).isBetween(2 << 20, 4 << 20);
    }

    @Test
    void survivesRubbishOnItsSocket() throws IOException {
        advertise(offerOf(1));
        register(200);
        Path socket = kubelet.directory().resolve(kubelet.endpointOf(RESOURCE).orElseThrow());
        long before = ProcessUse.now().heapBytes();
        long descriptors = ProcessUse.now().descriptors();
        SplittableRandom random = new SplittableRandom(6);
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        byte[] settings = {0, 0, 0, 4, 0, 0, 0, 0, 0};
        for (int round = 0; round < 300; round++) {
            byte[] noise = new byte[random.nextInt(1, 2000)];
            random.nextBytes(noise);
            switch (round % 3) {
                case 0 -> send(socket, noise);
                case 1 -> send(socket, preface, noise);
                default -> send(socket, preface, settings, noise);
            }
        }
        send(socket, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        sendTooMuch(socket);
        List<SocketChannel> halfOpen = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                halfOpen.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
            }
            assertThat(kubelet.allocate("erdma_0/3").getDevicesCount()).isEqualTo(1);
        } finally {
            for (SocketChannel channel : halfOpen) {
                channel.close();
            }
        }
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(ProcessUse.now().descriptors()).isLessThanOrEqualTo(descriptors);
            assertThat(ProcessUse.now().heapBytes()).isLessThan(before + (4 << 20));
        });
        advertise(offerOf(2));
        kubelet.awaitAllocatable(RESOURCE, 400, SOON);
        assertThat(kubelet.registrations()).hasSize(1);
    }

    private static void send(Path socket, byte[]... parts) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            for (byte[] part : parts) {
                channel.write(ByteBuffer.wrap(part));
            }
        } catch (IOException e) {
            // The server may hang up as soon as it has seen enough.
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    private void sendTooMuch(Path socket) {
        ManagedChannel channel = transport.connect(socket, UnixTransport.DEFAULT_MAX_MESSAGE_BYTES);
        try {
            assertThatThrownBy(() -> DevicePluginGrpc.newBlockingStub(channel)
                            .allocate(AllocateRequest.newBuilder()
                                    .addContainerRequests(ContainerAllocateRequest.newBuilder()
                                            .addDevicesIds("x".repeat(5 << 20)))
                                    .build()))
                    .hasMessageContaining("RESOURCE_EXHAUSTED");
        } finally {
            channel.shutdownNow();
        }
    }

    private KubeletSession session(PluginSettings settings, DeviceStream stream) {
        return new KubeletSession(
                SessionSettings.of(root, RESOURCE),
                transport,
                service(settings, stream),
                PluginObserver.NONE,
                new InotifyShortage());
    }

    private static DevicePluginService service(PluginSettings settings, DeviceStream stream) {
        return new DevicePluginService(settings, stream, path -> true, CdiNames.NONE, PluginObserver.NONE);
    }

    private void register(long shares) {
        session.start();
        kubelet.awaitRegistration(1, SOON);
        kubelet.awaitMessage(0, message -> message.list().getDevicesCount() == shares, SOON);
    }

    private void advertise(AdvertisedDevices devices) {
        stream.advertise(devices, System.nanoTime());
    }
}
