package io.erdma.plugin;

import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.AllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** The least that a kubelet accepts as a device plugin: so many healthy shares of one device. */
final class TestPlugin extends DevicePluginGrpc.DevicePluginImplBase {
    private final ListAndWatchResponse list;
    private final Set<StreamObserver<ListAndWatchResponse>> streams = ConcurrentHashMap.newKeySet();

    TestPlugin(int shares) {
        this.list = ListAndWatchResponse.newBuilder()
                .addAllDevices(IntStream.range(0, shares)
                        .mapToObj(share -> Device.newBuilder()
                                .setID("erdma_0/" + share)
                                .setHealth("Healthy")
                                .build())
                        .toList())
                .build();
    }

    /** Streams that nobody has told this service to be over. */
    int open() {
        return streams.size();
    }

    void sendAgain() {
        streams.forEach(stream -> stream.onNext(list));
    }

    void completeStreams() {
        List.copyOf(streams).forEach(stream -> {
            streams.remove(stream);
            stream.onCompleted();
        });
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> answer) {
        answer.onNext(DevicePluginOptions.newBuilder()
                .setGetPreferredAllocationAvailable(true)
                .build());
        answer.onCompleted();
    }

    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> answer) {
        ServerCallStreamObserver<ListAndWatchResponse> call = (ServerCallStreamObserver<ListAndWatchResponse>) answer;
        call.setOnCancelHandler(() -> streams.remove(call));
        streams.add(call);
        call.onNext(list);
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> answer) {
        AllocateResponse.Builder response = AllocateResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(container -> response.addContainerResponses(ContainerAllocateResponse.newBuilder()
                        .addDevices(DeviceSpec.newBuilder()
                                .setContainerPath("/dev/infiniband/uverbs0")
                                .setHostPath("/dev/infiniband/uverbs0")
                                .setPermissions("rw"))));
        answer.onNext(response.build());
        answer.onCompleted();
    }

    @Override
    public void preStartContainer(PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> answer) {
        answer.onNext(PreStartContainerResponse.getDefaultInstance());
        answer.onCompleted();
    }
}
