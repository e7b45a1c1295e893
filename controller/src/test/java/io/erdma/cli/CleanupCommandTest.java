package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CleanupCommandTest {
    private static final String OUR_SPEC =
            "{\"cdiVersion\": \"0.5.0\", \"kind\": \"aliyun.com/erdma\", \"devices\": []}";

    private static UnixTransport transport;

    @TempDir
    private Path directory;

    private final List<String> routes = new ArrayList<>(List.of("route default via 10.0.0.253 dev eth1 metric 200"));
    private final List<String> stays = new ArrayList<>();
    private Path sockets;
    private Path spec;
    private Server kubelet;

    @BeforeAll
    static void openTransport() {
        transport = UnixTransport.open();
    }

    @AfterAll
    static void closeTransport() {
        transport.close();
    }

    @BeforeEach
    void lay() throws IOException {
        sockets = Files.createDirectories(directory.resolve("k/device-plugins"));
        spec = Files.createDirectories(directory.resolve("cdi")).resolve("aliyun.com-erdma.json");
    }

    @AfterEach
    void stop() {
        if (kubelet != null) {
            kubelet.shutdownNow();
        }
    }

    private void kubelet(String... pods) throws IOException {
        ListPodResourcesResponse.Builder answer = ListPodResourcesResponse.newBuilder();
        for (String pod : pods) {
            answer.addPodResources(PodResources.newBuilder()
                    .setNamespace("default")
                    .setName(pod)
                    .addContainers(ContainerResources.newBuilder()
                            .setName("worker")
                            .addDevices(ContainerDevices.newBuilder()
                                    .setResourceName("aliyun/erdma")
                                    .addDeviceIds("erdma_0/1"))));
        }
        Path socket =
                Files.createDirectories(directory.resolve("k/pod-resources")).resolve("kubelet.sock");
        kubelet = transport.serve(
                socket,
                new PodResourcesListerGrpc.PodResourcesListerImplBase() {
                    @Override
                    public void list(
                            ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
                        observer.onNext(answer.build());
                        observer.onCompleted();
                    }
                }.bindService());
    }

    private ServerSocketChannel socket(String name) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(sockets.resolve(name)));
        return channel;
    }

    private Run cleanup() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        NetworkCleanup network = () -> {
            List<String> removed = List.copyOf(routes);
            routes.clear();
            return new NetworkCleanup.Result(removed, stays);
        };
        int exitCode = new CommandLine(new CleanupCommand(new Console(out, err), network))
                .execute("--kubelet-root-dir=" + directory.resolve("k"), "--cdi-dir=" + directory.resolve("cdi"));
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void removesWhatIsOursAndHasNothingToDoTheSecondTime() throws IOException {
        kubelet();
        Files.writeString(spec, OUR_SPEC);
        socket("erdma-0123456789abcdef.sock").close();
        socket("other-erdma.sock").close();

        Run first = cleanup();
        assertThat(first.exitCode()).isZero();
        assertThat(first.err()).isEmpty();
        assertThat(first.out().lines())
                .containsExactly(
                        "removed socket " + sockets.resolve("erdma-0123456789abcdef.sock"),
                        "removed CDI specification " + spec,
                        "removed route default via 10.0.0.253 dev eth1 metric 200");
        assertThat(sockets.resolve("other-erdma.sock")).exists();

        Run second = cleanup();
        assertThat(second.exitCode()).isZero();
        assertThat(second.out()).isEqualTo("nothing to do: this node is clean\n");
    }

    @Test
    void leavesRoutesThatARunningJobMayNeedAndNamesIt() throws IOException {
        kubelet("train", "train");
        Files.writeString(spec, OUR_SPEC);
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEqualTo("removed CDI specification " + spec + "\n");
        assertThat(run.complaints())
                .containsExactly(
                        "left: routes and addresses stay: these pods hold shares of aliyun/erdma: default/train");
        assertThat(routes).hasSize(1);
    }

    @Test
    void leavesRoutesWhereNobodyCanTellWhetherPodsNeedThem() {
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("whether pods hold shares cannot be told", "kubelet.sock is not there");
        assertThat(routes).hasSize(1);
    }

    @Test
    void takesNothingFromAnAgentThatRuns() throws IOException {
        kubelet();
        Files.writeString(spec, OUR_SPEC);
        try (ServerSocketChannel agent = socket("erdma-0123456789abcdef.sock")) {
            assertThat(agent.isOpen()).isTrue();
            Run run = cleanup();
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).contains("an agent still runs", "uninstall it first");
        }
        assertThat(spec).exists();
        assertThat(routes).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"cdiVersion\": \"0.5.0\", \"kind\": \"nvidia.com/gpu\", \"devices\": []}",
                "{\"devices\": [{\"kind\": \"aliyun.com/erdma\"}], \"kind\": \"example.com/erdma\"}",
                "[]",
                "not JSON",
                ""
            })
    void leavesASpecThatSomebodyElseWrote(String content) throws IOException {
        kubelet();
        routes.clear();
        Files.writeString(spec, content);
        assertThat(cleanup().out()).isEqualTo("nothing to do: this node is clean\n");
        assertThat(spec).exists();
    }

    @Test
    void namesWhatOfTheNetworkStays() throws IOException {
        kubelet();
        stays.add("eth1: keeps 10.0.0.5/24, since the route default dev eth1 would go with it");
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.complaints()).containsExactly("left: " + stays.getFirst());
    }

    @Test
    void isContentWithANodeThatNeverHadAnAgent() throws IOException {
        kubelet();
        routes.clear();
        Files.delete(sockets);
        Files.delete(spec.getParent());
        Run run = cleanup();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).isEqualTo("nothing to do: this node is clean\n");
    }
}
