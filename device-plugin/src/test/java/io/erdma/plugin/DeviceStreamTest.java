package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static io.erdma.plugin.Offers.onNode;
import static io.erdma.plugin.Offers.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeviceStreamTest {
    private final List<Integer> streamCounts = new ArrayList<>();
    private final List<Duration> latencies = new ArrayList<>();
    private final PluginObserver observer = new PluginObserver() {
        @Override
        public void streams(int open) {
            streamCounts.add(open);
        }

        @Override
        public void messageSent(Duration sinceObserved) {
            latencies.add(sinceObserved);
        }
    };
    private final DeviceStream stream = new DeviceStream(settings(), observer);

    @Test
    void r09_beginsWithAnEmptyListWhereNoDeviceIsKnownYet() {
        RecordingCall<ListAndWatchResponse> call = open();
        assertThat(call.messages).containsExactly(ListAndWatchResponse.getDefaultInstance());
        advertise(offerOf(1));
        assertThat(call.messages).hasSize(2);
        assertThat(call.messages.getLast().getDevicesList())
                .extracting(Device::getID)
                .containsExactlyElementsOf(
                        IntStream.range(0, 200).mapToObj(n -> "erdma_0/" + n).toList());
    }

    @Test
    void sendsTheWholeListAtOnceToEachNewStream() {
        advertise(offerOf(2));
        assertThat(open().messages)
                .singleElement()
                .satisfies(list -> assertThat(list.getDevicesCount()).isEqualTo(400));
        assertThat(open().messages)
                .singleElement()
                .satisfies(list -> assertThat(list.getDevicesCount()).isEqualTo(400));
    }

    @Test
    void r20_sendsNothingWhileNothingChanges() {
        advertise(offerOf(2));
        RecordingCall<ListAndWatchResponse> call = open();
        for (int i = 0; i < 120; i++) {
            advertise(offerOf(2));
            call.becomeReady();
        }
        assertThat(call.messages).hasSize(1);
        advertise(offer(healthy(device(0)), down(device(1))));
        assertThat(call.messages).hasSize(2);
    }

    @Test
    void r20_changesThatTheKubeletDoesNotSeeSendNothingButCountForAllocate() {
        advertise(offer(down(device(0))));
        RecordingCall<ListAndWatchResponse> call = open();
        AdvertisedDevices otherReason = offer(new AdvertisedDevices.Entry(
                Offers.withUverbs(0, Optional.of(Offers.uverbs(9))),
                new DeviceHealth.Unhealthy("no carrier", Instant.MAX)));
        advertise(otherReason);
        assertThat(call.messages).hasSize(1);
        assertThat(stream.latest()).isEqualTo(otherReason);
    }

    @Test
    void p13_aDeviceThatFailsTakesOnlyItsOwnShares() {
        advertise(offerOf(3));
        RecordingCall<ListAndWatchResponse> call = open();
        advertise(offer(healthy(device(0)), down(device(1)), healthy(device(2))));
        assertThat(call.messages.getLast().getDevicesList())
                .hasSize(600)
                .allSatisfy(share -> assertThat(share.getHealth())
                        .isEqualTo(share.getID().startsWith("erdma_1/") ? "Unhealthy" : "Healthy"));
        advertise(offerOf(3));
        assertThat(call.messages.getLast()).isEqualTo(call.messages.getFirst());
        advertise(offer(device(0), device(2)));
        assertThat(call.messages.getLast().getDevicesList())
                .hasSize(400)
                .noneMatch(share -> share.getID().startsWith("erdma_1/"));
        assertThat(call.messages).hasSize(4);
    }

    @Test
    void aSlowKubeletGetsTheNewestListAndNothingInBetween() {
        advertise(offerOf(1));
        RecordingCall<ListAndWatchResponse> slow = open();
        RecordingCall<ListAndWatchResponse> quick = open();
        slow.ready = false;
        for (int devices = 2; devices <= 9; devices++) {
            advertise(offerOf(devices));
        }
        assertThat(slow.messages).hasSize(1);
        assertThat(quick.messages).hasSize(9);
        slow.becomeReady();
        assertThat(slow.messages).hasSize(2);
        assertThat(slow.messages.getLast()).isSameAs(quick.messages.getLast());
        slow.becomeReady();
        assertThat(slow.messages).hasSize(2);
    }

    @Test
    void aFlapThatASlowKubeletDidNotSeeIsNotSent() {
        advertise(offerOf(1));
        RecordingCall<ListAndWatchResponse> slow = open();
        slow.ready = false;
        advertise(offer(down(device(0))));
        advertise(offerOf(1));
        slow.becomeReady();
        assertThat(slow.messages).hasSize(1);
    }

    @Test
    void aStreamThatIsNotReadyAtItsStartGetsItsListOnceItIs() {
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        call.ready = false;
        stream.open(call);
        assertThat(call.messages).isEmpty();
        call.becomeReady();
        assertThat(call.messages).hasSize(1);
    }

    @Test
    void p14_aCancelledStreamIsForgottenAtOnce() {
        RecordingCall<ListAndWatchResponse> gone = open();
        RecordingCall<ListAndWatchResponse> other = open();
        gone.cancel();
        advertise(offerOf(1));
        gone.becomeReady();
        assertThat(gone.messages).hasSize(1);
        assertThat(other.messages).hasSize(2);
        assertThat(streamCounts).containsExactly(1, 2, 1);
    }

    @Test
    void p14_aStreamCancelledBeforeItIsServedLeavesNothing() {
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        call.cancel();
        stream.open(call);
        assertThat(call.messages).isEmpty();
        assertThat(streamCounts).endsWith(0);
    }

    @Test
    void p14_aThousandStreamsLeaveNoThread() {
        int threads = Thread.activeCount();
        for (int i = 0; i < 1000; i++) {
            open().cancel();
        }
        assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
        assertThat(streamCounts).endsWith(1, 0);
    }

    @Test
    void aStreamThatCannotSendIsEndedWithAnErrorAndTheOthersGoOn() {
        RecordingCall<ListAndWatchResponse> broken = open();
        RecordingCall<ListAndWatchResponse> other = open();
        broken.broken = true;
        advertise(offerOf(1));
        assertThat(broken.error).map(Status::fromThrowable).map(Status::getCode).contains(Status.Code.INTERNAL);
        assertThat(other.messages).hasSize(2);
        assertThat(streamCounts).endsWith(1);
    }

    @Test
    void anObserverThatFailsDoesNotEndTheStream() {
        DeviceStream observed = new DeviceStream(settings(), new PluginObserver() {
            @Override
            public void streams(int open) {
                throw new IllegalStateException("broken metrics");
            }

            @Override
            public void messageSent(Duration sinceObserved) {
                throw new IllegalStateException("broken metrics");
            }
        });
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        observed.open(call);
        observed.advertise(offerOf(1), System.nanoTime());
        assertThat(call.messages).hasSize(2);
    }

    @Test
    void topologyIsTheNumaNodeWhereAllAreKnown() {
        advertise(offer(onNode(0, 0), onNode(1, 1)));
        assertThat(open().messages.getLast().getDevicesList())
                .allSatisfy(share -> assertThat(share.getTopology().getNodesList())
                        .singleElement()
                        .satisfies(node ->
                                assertThat(node.getID()).isEqualTo(share.getID().charAt(6) - '0')));
    }

    @Test
    void r08_oneDeviceOfUnknownNumaNodeTakesTheTopologyFromAll() {
        advertise(offer(onNode(0, 0), device(1), onNode(2, 1)));
        RecordingCall<ListAndWatchResponse> call = open();
        assertThat(call.messages.getLast().getDevicesList()).hasSize(600).noneMatch(Device::hasTopology);
        advertise(offer(onNode(0, 0), onNode(1, 1), onNode(2, 1)));
        assertThat(call.messages.getLast().getDevicesList()).hasSize(600).allMatch(Device::hasTopology);
    }

    @Test
    void listsOf1To32DevicesStayBelowWhatTheKubeletReceives() {
        DeviceStream most = new DeviceStream(Offers.shares(PluginSettings.MAX_SHARES_PER_DEVICE), observer);
        for (int devices = 1; devices <= 32; devices++) {
            advertise(offerOf(devices));
            assertThat(open().messages.getLast().getDevicesCount()).isEqualTo(200 * devices);
            most.advertise(
                    offer(IntStream.range(0, devices)
                            .mapToObj(
                                    i -> device("n".repeat(61) + (10 + i), i, OptionalInt.of(i % 8), RdmaCmUse.UNUSED))
                            .toArray(RdmaDevice[]::new)),
                    0);
        }
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        most.open(call);
        assertThat(call.messages.getLast().getDevicesCount()).isEqualTo(32_000);
        assertThat(call.messages.getLast().getSerializedSize()).isLessThan(4 << 20);
    }

    @Test
    void aNameThatCannotBePartOfAnIdHidesOnlyItsDevice() {
        advertise(offer(device(0), device("n".repeat(64), 1, OptionalInt.empty(), RdmaCmUse.UNUSED)));
        assertThat(open().messages.getLast().getDevicesList())
                .hasSize(200)
                .allMatch(share -> share.getID().startsWith("erdma_0/"));
    }

    @Test
    void theTimeToTheTransportCountsFromTheEventButNotFromBeforeTheStream() {
        advertise(offerOf(1), System.nanoTime() - Duration.ofHours(1).toNanos());
        open();
        assertThat(latencies)
                .singleElement()
                .satisfies(first -> assertThat(first).isBetween(Duration.ZERO, Duration.ofMinutes(1)));
        long observed = System.nanoTime();
        advertise(offerOf(2), observed);
        Duration upTo = Duration.ofNanos(System.nanoTime() - observed);
        assertThat(latencies).hasSize(2);
        assertThat(latencies.getLast()).isBetween(Duration.ZERO, upTo);
    }

    private RecordingCall<ListAndWatchResponse> open() {
        RecordingCall<ListAndWatchResponse> call = new RecordingCall<>();
        stream.open(call);
        return call;
    }

    private void advertise(AdvertisedDevices devices) {
        advertise(devices, System.nanoTime());
    }

    private void advertise(AdvertisedDevices devices, long observedNanos) {
        stream.advertise(devices, observedNanos);
    }
}
