package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodeSources.OpenDevice;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsEvent;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a device's answers make of it after a fatal error; times are seconds of a clock that the test moves. */
final class WatchedTest {
    private static final HealthSettings SETTINGS = HealthSettings.STANDARD;
    private static final DeviceHealth HEALTHY = new DeviceHealth.Healthy(Instant.EPOCH);

    private final Watched device = new Watched(
            new Found(
                    new RdmaDevice(
                            "erdma_0",
                            new NodeGuid(1),
                            NodeType.CA,
                            "erdma",
                            Optional.empty(),
                            Optional.empty(),
                            Optional.of(Path.of("/dev/infiniband/uverbs0")),
                            OptionalInt.empty(),
                            RdmaCmUse.UNUSED),
                    true,
                    "driver=erdma",
                    true,
                    Optional.empty(),
                    true),
            true,
            0);

    private record Context(String name) implements OpenDevice {
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
    }

    private static long seconds(double time) {
        return Math.round(time * 1e9);
    }

    private void answer(double time, ProbeResult result, Optional<OpenDevice> context) {
        device.begin(seconds(time), SETTINGS.probe());
        device.answered(new DeviceProbe.Outcome(result, context), seconds(time), seconds(time) + 1_000_000, SETTINGS);
    }

    private void opensAndIsActive(double time) {
        answer(time, new ProbeResult.Answered(PortState.ACTIVE, Source.VERBS, List.of()), Optional.of(new Context("")));
    }

    /** As the probe answers when opening is refused for a reason of ours. */
    private void isActiveByNetlinkAlone(double time) {
        SourceStatus refused = new SourceStatus(Source.VERBS, Optional.of("open: EPERM (1)"));
        answer(
                time,
                new ProbeResult.Answered(PortState.ACTIVE, Source.RDMA_NETLINK, List.of(refused)),
                Optional.empty());
    }

    private DeviceHealth health(double time) {
        device.judge(
                new HealthRules.LinkView.NotJudged(),
                new Watched.Node(SETTINGS, true, NetnsMode.SHARED, Optional.empty(), Instant.EPOCH),
                seconds(time));
        return device.health().orElseThrow();
    }

    private void assertSickOfItsFatalError(double time) {
        assertThat(health(time)).isEqualTo(new DeviceHealth.Unhealthy("reported a fatal error", Instant.EPOCH));
    }

    @BeforeEach
    void reportsAFatalErrorAfterTenSeconds() {
        opensAndIsActive(0);
        assertThat(health(9)).isEqualTo(HEALTHY);
        device.suspect("reported a fatal error", seconds(10), true);
        assertSickOfItsFatalError(10);
        device.begin(seconds(10), SETTINGS.probe());
        device.closed();
    }

    @Test
    void aNewContextDisprovesTheFatalErrorAtOnce() {
        opensAndIsActive(10.6);
        assertThat(health(10.7)).isEqualTo(HEALTHY);
    }

    @Test
    void netlinkDisprovesItAfterTheGraceWhereWeMayNotOpenTheDevice() {
        isActiveByNetlinkAlone(11);
        assertSickOfItsFatalError(11.1);
        isActiveByNetlinkAlone(24.9);
        assertSickOfItsFatalError(25);
        isActiveByNetlinkAlone(25);
        assertThat(health(25.1)).isEqualTo(HEALTHY);
    }

    @Test
    void netlinkDisprovesNothingWhileTheUverbsNodeIsMissing() {
        isActiveByNetlinkAlone(11);
        device.uverbsPresent(false);
        isActiveByNetlinkAlone(30);
        device.uverbsPresent(true);
        assertSickOfItsFatalError(31);
        isActiveByNetlinkAlone(32);
        assertThat(health(33)).isEqualTo(HEALTHY);
    }

    @Test
    void anOpenThatFailsForTheDevicesOwnReasonIsNoExcuse() {
        isActiveByNetlinkAlone(11);
        answer(30, new ProbeResult.Failed("ibv_open_device on erdma_0 failed: EIO (5)", false), Optional.empty());
        assertSickOfItsFatalError(31);
        assertThat(device.notOpened(seconds(31)))
                .contains(new DeviceProbe.NotOpened("ibv_open_device on erdma_0 failed: EIO (5)", true));
    }

    @Test
    void aPortThatIsDownIsNotHealthyWhenTheFatalErrorIsPast() {
        answer(
                30,
                new ProbeResult.Answered(
                        PortState.DOWN,
                        Source.RDMA_NETLINK,
                        List.of(new SourceStatus(Source.VERBS, Optional.of("open: EPERM (1)")))),
                Optional.empty());
        assertThat(health(31)).isEqualTo(new DeviceHealth.Unhealthy("port 1 is DOWN", Instant.EPOCH));
    }
}
