package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.log.Log;
import io.erdma.plugin.Allocation.Granted;
import io.erdma.plugin.Allocation.Malformed;
import io.erdma.plugin.Allocation.NotReady;
import io.erdma.plugin.Allocation.Refused;
import io.erdma.plugin.Allocation.Unknown;
import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.AllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.CDIDevice;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationResponse;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The methods that the kubelet calls. They compute their answers from the latest offer and do no I/O but to ask whether a
 * device node exists, so they may run on the transport's own threads. A fault of ours costs the call in which it shows,
 * nothing else.
 */
public final class DevicePluginService extends DevicePluginGrpc.DevicePluginImplBase {
    private static final Log LOG = Log.of(DevicePluginService.class);

    private final PluginSettings settings;
    private final DeviceStream stream;
    private final Predicate<Path> nodeExists;
    private final CdiNames cdi;
    private final PluginObserver observer;
    private final Allocator allocator;
    private final PreferredAllocation preference;

    /** @param nodeExists whether a path of the host, such as {@code /dev/infiniband/uverbs0}, exists now */
    public DevicePluginService(
            PluginSettings settings,
            DeviceStream stream,
            Predicate<Path> nodeExists,
            CdiNames cdi,
            PluginObserver observer) {
        this.settings = requireNonNull(settings, "settings is null");
        this.stream = requireNonNull(stream, "stream is null");
        this.nodeExists = requireNonNull(nodeExists, "nodeExists is null");
        this.cdi = requireNonNull(cdi, "cdi is null");
        this.observer = requireNonNull(observer, "observer is null");
        this.allocator = new Allocator(settings);
        this.preference = new PreferredAllocation(settings);
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> response) {
        answer(
                "GetDevicePluginOptions",
                response,
                () -> DevicePluginOptions.newBuilder()
                        .setGetPreferredAllocationAvailable(true)
                        .setPreStartRequired(settings.preStartRequired())
                        .build());
    }

    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> response) {
        try {
            stream.open((ServerCallStreamObserver<ListAndWatchResponse>) response);
        } catch (RuntimeException | Error e) {
            fail("ListAndWatch", response, e);
        }
    }

    @Override
    public void getPreferredAllocation(
            PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> response) {
        answer("GetPreferredAllocation", response, () -> {
            AdvertisedDevices offer = stream.latest();
            PreferredAllocationResponse.Builder answer = PreferredAllocationResponse.newBuilder();
            for (ContainerPreferredAllocationRequest container : request.getContainerRequestsList()) {
                answer.addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                        .addAllDeviceIDs(preference.choose(
                                container.getAvailableDeviceIDsList(),
                                container.getMustIncludeDeviceIDsList(),
                                container.getAllocationSize(),
                                offer)));
            }
            return answer.build();
        });
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> response) {
        long start = System.nanoTime();
        boolean granted = answer("Allocate", response, () -> allocate(request));
        try {
            observer.allocated(Duration.ofNanos(System.nanoTime() - start), granted);
        } catch (RuntimeException e) {
            LOG.error("the observer of Allocate failed", e);
        }
    }

    @Override
    public void preStartContainer(
            PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> response) {
        answer("PreStartContainer", response, PreStartContainerResponse::getDefaultInstance);
    }

    private AllocateResponse allocate(AllocateRequest request) {
        if (request.getContainerRequestsCount() == 0) {
            throw refusal(new Malformed("the request names no container"));
        }
        AdvertisedDevices offer = stream.latest();
        AllocateResponse.Builder answer = AllocateResponse.newBuilder();
        for (ContainerAllocateRequest container : request.getContainerRequestsList()) {
            switch (allocator.allocate(container.getDevicesIdsList(), offer, nodeExists, cdi)) {
                case Granted granted -> answer.addContainerResponses(response(granted));
                case Refused refused -> throw refusal(refused);
            }
        }
        return answer.build();
    }

    private static ContainerAllocateResponse response(Granted granted) {
        ContainerAllocateResponse.Builder response =
                ContainerAllocateResponse.newBuilder().putAllEnvs(granted.environment());
        for (Allocation.DeviceNode node : granted.nodes()) {
            response.addDevices(DeviceSpec.newBuilder()
                    .setContainerPath(node.containerPath().toString())
                    .setHostPath(node.hostPath().toString())
                    .setPermissions("rw"));
        }
        for (String name : granted.cdiDevices()) {
            response.addCdiDevices(CDIDevice.newBuilder().setName(name));
        }
        return response.build();
    }

    private StatusRuntimeException refusal(Refused refused) {
        Status status = switch (refused) {
            case Malformed malformed -> Status.INVALID_ARGUMENT;
            case Unknown unknown -> Status.NOT_FOUND;
            case NotReady notReady -> Status.FAILED_PRECONDITION;
        };
        LOG.warn("Allocate refused: " + refused.message(), Log.Field.of("resource", settings.resourceName()));
        return status.withDescription(refused.message()).asRuntimeException();
    }

    private static <T> boolean answer(String method, StreamObserver<T> response, Supplier<T> computation) {
        try {
            response.onNext(computation.get());
            response.onCompleted();
            return true;
        } catch (StatusRuntimeException e) {
            response.onError(e);
            return false;
        } catch (RuntimeException | Error e) {
            fail(method, response, e);
            return false;
        }
    }

    private static void fail(String method, StreamObserver<?> response, Throwable fault) {
        LOG.error(method + " failed by a fault of the agent", fault);
        response.onError(Status.INTERNAL
                .withDescription(method + " failed by a fault of the eRDMA agent (" + fault
                        + "); its log on this node has the stack trace, please report it")
                .asRuntimeException());
    }
}
