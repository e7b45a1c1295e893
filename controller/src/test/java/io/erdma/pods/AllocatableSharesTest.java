package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.plugin.UnixTransport;
import io.erdma.pods.AllocatableShares.Answer;
import io.erdma.proto.podresources.v1.AllocatableResourcesRequest;
import io.erdma.proto.podresources.v1.AllocatableResourcesResponse;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocatableSharesTest {
    @TempDir
    private Path directory;

    private Answer ask(PodResourcesListerGrpc.PodResourcesListerImplBase kubelet) throws IOException {
        Path socket = directory.resolve("pod-resources/kubelet.sock");
        Files.createDirectories(socket.getParent());
        try (UnixTransport transport = UnixTransport.open()) {
            Server server = transport.serve(socket, kubelet.bindService());
            try {
                return new AllocatableShares(transport, directory, "aliyun/erdma").ask();
            } finally {
                server.shutdownNow();
            }
        }
    }

    private static ContainerDevices devices(String resource, String... ids) {
        return ContainerDevices.newBuilder()
                .setResourceName(resource)
                .addAllDeviceIds(List.of(ids))
                .build();
    }

    @Test
    void countsOurSharesByDeviceOverAllNumaNodes() throws IOException {
        Answer answer = ask(new PodResourcesListerGrpc.PodResourcesListerImplBase() {
            @Override
            public void getAllocatableResources(
                    AllocatableResourcesRequest request, StreamObserver<AllocatableResourcesResponse> observer) {
                observer.onNext(AllocatableResourcesResponse.newBuilder()
                        .addDevices(devices("aliyun/erdma", "erdma_0/0", "erdma_0/1"))
                        .addDevices(devices("nvidia.com/gpu", "GPU-1"))
                        .addDevices(devices("aliyun/erdma", "erdma_1/0"))
                        .build());
                observer.onCompleted();
            }
        });
        assertThat(answer).isEqualTo(new Answer.Known(Map.of("erdma_0", 2, "erdma_1", 1)));
    }

    @Test
    void saysThatAnOldKubeletDoesNotTell() throws IOException {
        assertThat(ask(new PodResourcesListerGrpc.PodResourcesListerImplBase() {}))
                .isInstanceOfSatisfying(
                        Answer.Unreadable.class,
                        unreadable -> assertThat(unreadable.reason()).contains("UNIMPLEMENTED"));
    }

    @Test
    void saysThatThereIsNoKubelet() {
        try (UnixTransport transport = UnixTransport.open()) {
            assertThat(new AllocatableShares(transport, directory, "aliyun/erdma").ask())
                    .isInstanceOfSatisfying(
                            Answer.Unreadable.class,
                            unreadable -> assertThat(unreadable.reason()).contains("is not there"));
        }
    }
}
