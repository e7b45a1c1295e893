package io.erdma.plugin;

import static io.erdma.plugin.Node.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FakeKubeletTest {
    /** Answers nothing, and counts what it does not answer. */
    private static final class MutePlugin extends DevicePluginGrpc.DevicePluginImplBase {
        final AtomicInteger optionsAsked = new AtomicInteger();
        final AtomicInteger streamsOpened = new AtomicInteger();
        volatile boolean tellsOptions;

        @Override
        public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> answer) {
            optionsAsked.incrementAndGet();
            if (tellsOptions) {
                answer.onNext(DevicePluginOptions.getDefaultInstance());
                answer.onCompleted();
            }
        }

        @Override
        public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> answer) {
            streamsOpened.incrementAndGet();
        }
    }

    @TempDir
    private Path root;

    private final UnixTransport transport = UnixTransport.open();
    private final MutePlugin plugin = new MutePlugin();
    private final Uncaught uncaught = Uncaught.record();
    private FakeKubelet kubelet;

    @BeforeEach
    void startBoth() throws IOException {
        kubelet = FakeKubelet.start(root);
        transport.serve(kubelet.directory().resolve("mute.sock"), plugin.bindService());
        kubelet.dialDeadline(SOON);
    }

    @AfterEach
    void stopBoth() throws IOException {
        kubelet.close();
        transport.close();
        uncaught.close();
    }

    private RegisterCall register() {
        RegisterRequest request = RegisterRequest.newBuilder()
                .setVersion("v1beta1")
                .setEndpoint("mute.sock")
                .setResourceName(FakeKubelet.RESOURCE)
                .build();
        return RegisterCall.begin(transport, kubelet.kubeletSocket(), request, SOON, () -> {});
    }

    @Test
    void leavesNobodyBehindWhenItIsClosedBeforeItDialsBack() throws IOException {
        kubelet.slow(Duration.ofMillis(300));
        register();
        await().atMost(SOON).until(() -> kubelet.registerCalls() == 1);

        kubelet.close();

        assertNobodyIsLeft();
    }

    @Test
    void leavesNobodyBehindWhenItIsClosedWhileItAsksForTheOptions() throws IOException {
        register();
        await().atMost(SOON).until(() -> plugin.optionsAsked.get() == 1);

        kubelet.close();

        assertNobodyIsLeft();
    }

    @Test
    void leavesNobodyBehindWhenItIsClosedWhileItWaitsForTheFirstList() throws IOException {
        plugin.tellsOptions = true;
        register();
        await().atMost(SOON).until(() -> plugin.streamsOpened.get() == 1);

        kubelet.close();

        assertNobodyIsLeft();
    }

    private void assertNobodyIsLeft() {
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain(FakeKubelet.THREAD);
        assertThat(uncaught.deaths()).isEmpty();
    }
}
