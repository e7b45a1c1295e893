package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static io.erdma.plugin.Offers.settings;
import static io.erdma.plugin.Offers.withRdmaCm;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.AllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.CDIDevice;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationResponse;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationResponse;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DevicePluginServiceTest {
    // Held, since java.util.logging forgets the handlers of a logger that nobody holds.
    private static final Logger LOGGER = Logger.getLogger(DevicePluginService.class.getName());

    private final List<Boolean> allocations = new ArrayList<>();
    private final PluginObserver observer = new PluginObserver() {
        @Override
        public void allocated(Duration took, boolean granted) {
            assertThat(took).isPositive();
            allocations.add(granted);
        }
    };
    private final List<LogRecord> logged = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            logged.add(line);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final DeviceStream stream = new DeviceStream(settings(), observer);
    private Predicate<Path> exists = path -> true;

    @BeforeEach
    void listen() {
        LOGGER.addHandler(handler);
        LOGGER.setUseParentHandlers(false);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(handler);
        LOGGER.setUseParentHandlers(true);
    }

    @Test
    void offersPreferredAllocationAndPreStartOnlyBySetting() {
        assertThat(options(settings()))
                .isEqualTo(DevicePluginOptions.newBuilder()
                        .setGetPreferredAllocationAvailable(true)
                        .build());
        PluginSettings withPreStart = new PluginSettings(
                "aliyun/erdma", 200, false, CdiMode.OFF, PluginSettings.DEFAULT_CDI_DIRECTORY, false, true);
        assertThat(options(withPreStart).getPreStartRequired()).isTrue();
    }

    @Test
    void allocateAnswersInTheKubeletsWords() {
        advertise(offer(withRdmaCm(0, RdmaCmUse.REQUIRED)));
        RecordingCall<AllocateResponse> call = allocate(service(), List.of("erdma_0/7"));
        assertThat(call.completed).isTrue();
        assertThat(call.messages)
                .containsExactly(AllocateResponse.newBuilder()
                        .addContainerResponses(ContainerAllocateResponse.newBuilder()
                                .putEnvs("SMCR_PNET", "00163E2F3700")
                                .addDevices(node("/dev/infiniband/uverbs0"))
                                .addDevices(node("/dev/infiniband/rdma_cm")))
                        .build());
        assertThat(allocations).containsExactly(true);
        assertThat(logged).isEmpty();
    }

    @Test
    void allocateNamesCdiDevices() {
        PluginSettings settings = Offers.cdi(CdiMode.ONLY, PluginSettings.DEFAULT_CDI_DIRECTORY);
        advertise(offerOf(1));
        DevicePluginService service = new DevicePluginService(settings, stream, exists, name -> true, observer);
        assertThat(allocate(service, List.of("erdma_0/7")).messages.getFirst().getContainerResponses(0))
                .isEqualTo(ContainerAllocateResponse.newBuilder()
                        .putEnvs("SMCR_PNET", "00163E2F3700")
                        .addCdiDevices(CDIDevice.newBuilder().setName("aliyun.com/erdma=erdma_0"))
                        .build());
    }

    @Test
    void p08_everyContainerOfOneCallGetsItsOwnFullAnswerInOrder() {
        advertise(offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.REQUIRED), device(2)));
        AllocateResponse answer = allocate(
                        service(),
                        List.of("erdma_0/1"),
                        List.of("erdma_0/2"),
                        List.of("erdma_1/0", "erdma_0/3"),
                        List.of("erdma_2/0"))
                .messages
                .getFirst();
        assertThat(answer.getContainerResponsesList())
                .extracting(container -> container.getDevicesList().stream()
                        .map(DeviceSpec::getHostPath)
                        .map(path -> path.substring("/dev/infiniband/".length()))
                        .toList())
                .containsExactly(
                        List.of("uverbs0", "rdma_cm"),
                        List.of("uverbs0", "rdma_cm"),
                        List.of("uverbs0", "uverbs1", "rdma_cm"),
                        List.of("uverbs2"));
        assertThat(answer.getContainerResponsesList())
                .extracting(container -> container.getEnvsMap().get("SMCR_PNET"))
                .containsExactly("00163E2F3700", "00163E2F3700", "00163E2F3700", "00163E2F3702");
    }

    @Test
    void p09_oneBadContainerRefusesTheWholeCallAndTheNextIsServed() {
        advertise(offerOf(1));
        DevicePluginService service = service();
        assertRefused(
                allocate(service, List.of("erdma_0/1"), List.of("erdma_4/1")), Status.Code.NOT_FOUND, "\"erdma_4/1\"");
        assertRefused(
                allocate(service, List.of("erdma_0/200"), List.of("erdma_0/1")),
                Status.Code.NOT_FOUND,
                "\"erdma_0/200\"");
        assertRefused(
                allocate(service, List.of("erdma_0/1"), List.of("erdma_0/x")),
                Status.Code.INVALID_ARGUMENT,
                "\"erdma_0/x\"");
        assertRefused(
                allocate(service, List.of("erdma_0/1", "erdma_0/1")), Status.Code.INVALID_ARGUMENT, "\"erdma_0/1\"");
        assertRefused(allocate(service, List.of()), Status.Code.INVALID_ARGUMENT, "names no share");
        assertRefused(allocate(service), Status.Code.INVALID_ARGUMENT, "names no container");
        exists = path -> false;
        assertRefused(
                allocate(service(), List.of("erdma_0/1")), Status.Code.FAILED_PRECONDITION, "/dev/infiniband/uverbs0");
        assertThat(allocate(service, List.of("erdma_0/1")).completed).isTrue();
        assertThat(allocations).containsExactly(false, false, false, false, false, false, false, true);
    }

    @Test
    void aRefusalIsLoggedOnceWithWhatThePodShows() {
        advertise(offerOf(1));
        RecordingCall<AllocateResponse> call = allocate(service(), List.of("erdma_4/1"));
        assertThat(logged).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARNING);
            assertThat(line.getMessage())
                    .contains(Status.fromThrowable(call.error.orElseThrow()).getDescription());
            assertThat(line.getThrown()).isNull();
        });
    }

    @Test
    void r05_initContainerMainContainerAndPreStartAskForTheSameSharesAgainAndAgain() {
        advertise(offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.REQUIRED)));
        AllocateResponse init =
                allocate(service(), List.of("erdma_0/7", "erdma_1/3")).messages.getFirst();
        assertThat(preStart("erdma_0/7").completed).isTrue();
        // A new service is what the kubelet meets after a restart of either side.
        AllocateResponse main =
                allocate(service(), List.of("erdma_1/3", "erdma_0/7")).messages.getFirst();
        assertThat(main.toByteString()).isEqualTo(init.toByteString());
        assertThat(preStart("erdma_0/7").completed).isTrue();
        assertThat(allocations).containsExactly(true, true);
    }

    @Test
    void p30_preStartAnswersWhateverItIsAsked() {
        assertThat(preStart().completed).isTrue();
        assertThat(preStart("erdma_9/1", "nonsense", "erdma_0/1").completed).isTrue();
        assertThat(logged).isEmpty();
    }

    @Test
    void preferenceAnswersEachContainer() {
        advertise(offerOf(2));
        RecordingCall<PreferredAllocationResponse> call = new RecordingCall<>();
        service()
                .getPreferredAllocation(
                        PreferredAllocationRequest.newBuilder()
                                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                        .addAllAvailableDeviceIDs(List.of("erdma_0/4", "erdma_1/3", "erdma_1/2"))
                                        .setAllocationSize(1))
                                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                        .addAllAvailableDeviceIDs(List.of("erdma_0/4", "erdma_1/3", "erdma_1/2"))
                                        .addMustIncludeDeviceIDs("erdma_1/3")
                                        .setAllocationSize(2))
                                .build(),
                        call);
        assertThat(call.messages.getFirst().getContainerResponsesList())
                .extracting(ContainerPreferredAllocationResponse::getDeviceIDsList)
                .extracting(List::copyOf)
                .containsExactly(List.of("erdma_1/2"), List.of("erdma_1/3", "erdma_0/4"));
        assertThat(call.completed).isTrue();
    }

    @Test
    void aFaultOfOursIsInternalForThatCallAloneAndLoggedOnce() {
        advertise(offerOf(1));
        exists = path -> {
            throw new IllegalStateException("bug");
        };
        RecordingCall<AllocateResponse> call = allocate(service(), List.of("erdma_0/1"));
        assertRefused(call, Status.Code.INTERNAL, "bug");
        assertThat(logged).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.SEVERE);
            assertThat(line.getThrown()).hasMessage("bug");
        });
        exists = path -> true;
        assertThat(allocate(service(), List.of("erdma_0/1")).completed).isTrue();
    }

    @Test
    void listAndWatchIsServedByTheStream() {
        advertise(offerOf(1));
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        service().listAndWatch(Empty.getDefaultInstance(), call);
        assertThat(call.messages)
                .singleElement()
                .satisfies(list -> assertThat(list.getDevicesCount()).isEqualTo(200));
    }

    private DevicePluginService service() {
        return new DevicePluginService(settings(), stream, exists, CdiNames.NONE, observer);
    }

    private void advertise(AdvertisedDevices devices) {
        stream.advertise(devices, System.nanoTime());
    }

    private DevicePluginOptions options(PluginSettings settings) {
        RecordingCall<DevicePluginOptions> call = new RecordingCall<>();
        new DevicePluginService(settings, stream, exists, CdiNames.NONE, observer)
                .getDevicePluginOptions(Empty.getDefaultInstance(), call);
        return call.messages.getFirst();
    }

    private RecordingCall<PreStartContainerResponse> preStart(String... ids) {
        RecordingCall<PreStartContainerResponse> call = new RecordingCall<>();
        service()
                .preStartContainer(
                        PreStartContainerRequest.newBuilder()
                                .addAllDevicesIds(List.of(ids))
                                .build(),
                        call);
        return call;
    }

    @SafeVarargs
    private static RecordingCall<AllocateResponse> allocate(DevicePluginService service, List<String>... containers) {
        AllocateRequest.Builder request = AllocateRequest.newBuilder();
        for (List<String> ids : containers) {
            request.addContainerRequests(ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids));
        }
        RecordingCall<AllocateResponse> call = new RecordingCall<>();
        service.allocate(request.build(), call);
        return call;
    }

    private static DeviceSpec node(String path) {
        return DeviceSpec.newBuilder()
                .setContainerPath(path)
                .setHostPath(path)
                .setPermissions("rw")
                .build();
    }

    private static void assertRefused(RecordingCall<?> call, Status.Code code, String text) {
        assertThat(call.messages).isEmpty();
        assertThat(call.completed).isFalse();
        Status status = Status.fromThrowable(call.error.orElseThrow());
        assertThat(status.getCode()).isEqualTo(code);
        assertThat(status.getDescription()).contains(text);
    }
}
