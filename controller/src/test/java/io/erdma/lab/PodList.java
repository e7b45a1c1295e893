package io.erdma.lab;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The kubelet's list of pods and their devices, in which no pod has any. */
public final class PodList implements AutoCloseable {
    private final UnixTransport transport = UnixTransport.open();
    private final Server server;

    public PodList(Path kubeletRoot) throws IOException {
        Path socket =
                Files.createDirectories(kubeletRoot.resolve("pod-resources")).resolve("kubelet.sock");
        server = transport.serve(
                socket,
                new PodResourcesListerGrpc.PodResourcesListerImplBase() {
                    @Override
                    public void list(
                            ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
                        observer.onNext(ListPodResourcesResponse.getDefaultInstance());
                        observer.onCompleted();
                    }
                }.bindService());
    }

    @Override
    public void close() {
        server.shutdownNow();
        transport.close();
    }
}
