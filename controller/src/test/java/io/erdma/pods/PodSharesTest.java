package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.plugin.UnixTransport;
import io.erdma.pods.PodShares.Answer;
import io.erdma.pods.PodShares.Holder;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodSharesTest {
    private static final String RESOURCE = "aliyun/erdma";

    private static UnixTransport transport;

    @TempDir
    private Path directory;

    private Server kubelet;

    @BeforeAll
    static void openTransport() {
        transport = UnixTransport.open();
    }

    @AfterAll
    static void closeTransport() {
        transport.close();
    }

    @AfterEach
    void stopKubelet() {
        if (kubelet != null) {
            kubelet.shutdownNow();
        }
    }

    private PodShares shares() {
        return new PodShares(transport, directory, RESOURCE, Duration.ofSeconds(20));
    }

    private void serve(Consumer<StreamObserver<ListPodResourcesResponse>> answer) throws IOException {
        Path socket = directory.resolve("pod-resources/kubelet.sock");
        Files.createDirectories(socket.getParent());
        kubelet = transport.serve(
                socket,
                new PodResourcesListerGrpc.PodResourcesListerImplBase() {
                    @Override
                    public void list(
                            ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
                        answer.accept(observer);
                    }
                }.bindService());
    }

    private void serve(ListPodResourcesResponse answer) throws IOException {
        serve(observer -> {
            observer.onNext(answer);
            observer.onCompleted();
        });
    }

    private static ContainerDevices devices(String resource, String... ids) {
        return ContainerDevices.newBuilder()
                .setResourceName(resource)
                .addAllDeviceIds(List.of(ids))
                .build();
    }

    private static PodResources pod(String namespace, String name, ContainerResources... containers) {
        return PodResources.newBuilder()
                .setNamespace(namespace)
                .setName(name)
                .addAllContainers(List.of(containers))
                .build();
    }

    private static ContainerResources container(String name, ContainerDevices... devices) {
        return ContainerResources.newBuilder()
                .setName(name)
                .addAllDevices(List.of(devices))
                .build();
    }

    @Test
    void namesEachContainerWithSharesAndMergesItsNumaNodes() throws IOException {
        serve(ListPodResourcesResponse.newBuilder()
                .addPodResources(pod(
                        "default",
                        "train",
                        container(
                                "worker",
                                devices(RESOURCE, "erdma_0/1"),
                                devices("nvidia.com/gpu", "GPU-1"),
                                devices(RESOURCE, "erdma_1/2")),
                        container("sidecar", devices(RESOURCE, "erdma_0/3"))))
                .addPodResources(pod("default", "web", container("web", devices("nvidia.com/gpu", "GPU-2"))))
                .addPodResources(pod("default", "idle", container("idle", devices(RESOURCE))))
                .build());
        assertThat(shares().list())
                .isEqualTo(new Answer.Known(List.of(
                        new Holder("default", "train", "worker", List.of("erdma_0/1", "erdma_1/2")),
                        new Holder("default", "train", "sidecar", List.of("erdma_0/3")))));
    }

    @Test
    void noPodIsAnAnswerAsWell() throws IOException {
        serve(ListPodResourcesResponse.getDefaultInstance());
        assertThat(shares().list()).isEqualTo(new Answer.Known(List.of()));
    }

    @Test
    void readsTheWholeListOfACrowdedNode() throws IOException {
        ListPodResourcesResponse.Builder all = ListPodResourcesResponse.newBuilder();
        for (int pod = 0; pod < 500; pod++) {
            ContainerDevices.Builder devices = ContainerDevices.newBuilder().setResourceName(RESOURCE);
            for (int share = 0; share < 1_000; share++) {
                devices.addDeviceIds("erdma_%d/%d".formatted(pod, share));
            }
            all.addPodResources(pod("crowd", "p" + pod, container("c", devices.build())));
        }
        ListPodResourcesResponse answer = all.build();
        assertThat(answer.getSerializedSize()).isBetween(5 << 20, 16 << 20);
        serve(answer);
        assertThat(shares().list())
                .isInstanceOfSatisfying(
                        Answer.Known.class, known -> assertThat(known.holders()).hasSize(500));
    }

    @Test
    void saysThatTheSocketIsNotThere() {
        assertThat(shares().list())
                .isInstanceOfSatisfying(
                        Answer.Unreadable.class,
                        unreadable -> assertThat(unreadable.reason())
                                .contains("pod-resources/kubelet.sock is not there", "mounted"));
    }

    @Test
    void saysThatNobodyListens() throws IOException {
        serve(ListPodResourcesResponse.getDefaultInstance());
        kubelet.shutdownNow();
        assertThat(shares().list()).isInstanceOf(Answer.Unreadable.class);
    }

    @Test
    void passesOnWhatTheKubeletRefuses() throws IOException {
        serve(observer -> observer.onError(Status.RESOURCE_EXHAUSTED
                .withDescription("rejected by rate limit")
                .asRuntimeException()));
        assertThat(shares().list())
                .isInstanceOfSatisfying(
                        Answer.Unreadable.class,
                        unreadable -> assertThat(unreadable.reason())
                                .endsWith("RESOURCE_EXHAUSTED (rejected by rate limit)"));
    }

    @Test
    void doesNotWaitForEverForAKubeletThatDoesNotAnswer() throws IOException {
        serve(observer -> {});
        PodShares shares = new PodShares(transport, directory, RESOURCE, Duration.ofMillis(300));
        assertThat(shares.list())
                .isInstanceOfSatisfying(
                        Answer.Unreadable.class,
                        unreadable -> assertThat(unreadable.reason()).contains("DEADLINE_EXCEEDED"));
    }
}
