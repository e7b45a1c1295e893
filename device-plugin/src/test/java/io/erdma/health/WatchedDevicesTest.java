package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodeSources.OpenDevice;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsEvent;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Times are nanoseconds of a clock that the test moves. */
final class WatchedDevicesTest {
    private static final OpenDevice CONTEXT = new OpenDevice() {
        @Override
        public PortState portState(int port) {
            return PortState.ACTIVE;
        }

        @Override
        public int asyncDescriptor() {
            return -1;
        }

        @Override
        public Optional<VerbsEvent> nextEvent() {
            return Optional.empty();
        }

        @Override
        public void close() {
            // Owns nothing.
        }
    };

    private final WatchedDevices devices = new WatchedDevices();

    private static Watched erdma0() {
        RdmaDevice device = new RdmaDevice(
                "erdma_0",
                new NodeGuid(1),
                NodeType.CA,
                "erdma",
                Optional.empty(),
                Optional.empty(),
                Optional.of(Path.of("/dev/infiniband/uverbs0")),
                OptionalInt.empty(),
                RdmaCmUse.UNUSED);
        return new Watched(
                new Found(device, true, "driver=erdma", true, Optional.empty(), true),
                true,
                HealthSettings.STANDARD,
                0);
    }

    private static void answersBy(Watched device, Optional<OpenDevice> context) {
        device.answered(
                new DeviceProbe.Outcome(new ProbeResult.Answered(PortState.ACTIVE, Source.VERBS, List.of()), context),
                1,
                2);
    }

    private Watched openedErdma0() {
        Watched device = erdma0();
        devices.add(device);
        device.begin(1);
        answersBy(device, Optional.of(CONTEXT));
        return device;
    }

    @Test
    void aNameThatComesBackWaitsForTheContextOfItsFormerBearer() {
        Watched former = openedErdma0();
        devices.leave(former);
        Watched latter = erdma0();
        devices.add(latter);

        assertThat(devices.due(10)).containsExactly(former);
        former.begin(10);
        assertThat(devices.due(20)).isEmpty();
        assertThat(devices.allHaveLeft()).isFalse();

        devices.closed(former);
        assertThat(devices.due(30)).containsExactly(latter);
        assertThat(devices.allHaveLeft()).isTrue();
    }

    @Test
    void whatAProbeOpenedThatWasUnderWayIsClosedToo() {
        Watched device = erdma0();
        devices.add(device);
        device.begin(1);
        devices.leave(device);
        assertThat(devices.due(10)).isEmpty();
        assertThat(devices.allHaveLeft()).isFalse();

        answersBy(device, Optional.of(CONTEXT));

        assertThat(devices.due(20)).containsExactly(device);
        assertThat(device.closing()).isTrue();
    }

    @Test
    void oneThatHoldsNothingHasLeftAtOnce() {
        Watched device = erdma0();
        devices.add(device);
        devices.leave(device);

        assertThat(devices.allHaveLeft()).isTrue();
        assertThat(devices.due(10)).isEmpty();
        assertThat(devices.present()).isEmpty();
    }

    @Test
    void whenAllLeaveEachNameStaysAndIsAskedOnlyOnceItIsFoundAgain() {
        Watched former = openedErdma0();

        devices.leaveAll(10);
        devices.due(10).forEach(device -> device.begin(10));
        devices.closed(former);

        Watched successor = devices.find("erdma_0").orElseThrow();
        assertThat(devices.isPresent(former)).isFalse();
        assertThat(devices.isPresent(successor)).isTrue();
        assertThat(devices.due(1_000_000_000_000L)).isEmpty();
        assertThat(devices.nanosUntilDue(20)).isEqualTo(Long.MAX_VALUE);

        Found found = new Found(successor.device(), true, "driver=erdma", true, Optional.empty(), true);
        assertThat(successor.update(found, true)).isFalse();
        assertThat(devices.due(20)).containsExactly(successor);
    }
}
