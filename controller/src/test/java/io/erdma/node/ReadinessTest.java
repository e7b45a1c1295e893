package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.health.MonitorStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.node.http.Verdict;
import io.erdma.plugin.SessionStatus;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ReadinessTest {
    private static final SessionStatus SERVING = new SessionStatus(true, 1, 1, Optional.empty());

    private static MonitorStatus.DeviceStatus device(String name, Optional<Source> source) {
        return new MonitorStatus.DeviceStatus(
                new RdmaDevice(
                        name,
                        new NodeGuid(1),
                        NodeType.RNIC,
                        "erdma",
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(Path.of("/dev/infiniband/uverbs0")),
                        OptionalInt.empty(),
                        RdmaCmUse.REQUIRED),
                new DeviceHealth.Unhealthy("port 1 is DOWN", Instant.EPOCH),
                Optional.empty(),
                source,
                List.of());
    }

    private static MonitorStatus scanned(MonitorStatus.DeviceStatus... devices) {
        return scanned(List.of(), Optional.empty(), devices);
    }

    private static MonitorStatus scanned(
            List<MonitorStatus.Withheld> withheld, Optional<String> suspended, MonitorStatus.DeviceStatus... devices) {
        return new MonitorStatus(
                Arrays.asList(devices),
                List.of(),
                Optional.of(Instant.EPOCH),
                NetnsMode.SHARED,
                Optional.empty(),
                Optional.empty(),
                withheld,
                suspended);
    }

    private static Verdict ready(SessionStatus session, MonitorStatus monitor) {
        return Readiness.ready(session, monitor, Duration.ofSeconds(30), Instant.EPOCH.plusSeconds(90));
    }

    @Test
    void isNotReadyOnceLooksAtTheNodeNoLongerComeToAnEnd() {
        Instant late = Instant.EPOCH.plusSeconds(91);

        assertThat(Readiness.ready(SERVING, scanned(), Duration.ofSeconds(30), late)
                        .failures())
                .containsExactly(
                        "the node's devices were last looked at 91 s ago; at most 90 s are normal; does sysfs or"
                                + " a driver hang?");
        assertThat(Readiness.ready(SERVING, scanned(), Duration.ofSeconds(31), late)
                        .holds())
                .isTrue();
        assertThat(Readiness.ready(SERVING, scanned(), Duration.ofSeconds(1), Instant.EPOCH.plusSeconds(60))
                        .holds())
                .isTrue();
        assertThat(Readiness.ready(SERVING, scanned(), Duration.ofSeconds(1), Instant.EPOCH.plusSeconds(61))
                        .holds())
                .isFalse();
    }

    @Test
    void aNodeWithoutDevicesIsReady() {
        assertThat(ready(SERVING, scanned())).isEqualTo(Verdict.YES);
    }

    @Test
    void aWithheldDeviceThatNobodyTellsOfLeavesTheAgentReady() {
        MonitorStatus.Withheld withheld = new MonitorStatus.Withheld("erdma_0", "its interface is not prepared");

        assertThat(ready(SERVING, scanned(List.of(withheld), Optional.empty(), device("erdma_0", Optional.empty()))))
                .isEqualTo(Verdict.YES);
        assertThat(ready(SERVING, scanned(List.of(withheld), Optional.empty(), device("erdma_1", Optional.empty())))
                        .failures())
                .containsExactly("no source tells the state of erdma_1");
    }

    @Test
    void staysReadyWhileTheMonitorIsSuspended() {
        MonitorStatus suspended =
                scanned(List.of(), Optional.of("the driver is changed"), device("erdma_0", Optional.empty()));

        assertThat(Readiness.ready(SERVING, suspended, Duration.ofSeconds(30), Instant.EPOCH.plusSeconds(600)))
                .isEqualTo(Verdict.YES);
    }

    @Test
    void aDeviceThatIsDownLeavesTheAgentReady() {
        assertThat(ready(SERVING, scanned(device("erdma_0", Optional.of(Source.SYSFS)))))
                .isEqualTo(Verdict.YES);
    }

    @Test
    void isNotReadyBeforeTheFirstLookAtTheNode() {
        assertThat(ready(SERVING, MonitorStatus.NOT_YET).failures())
                .containsExactly("the node's devices have not been looked at yet");
    }

    @Test
    void isNotReadyWhileTheKubeletDoesNotListen() {
        SessionStatus unregistered = new SessionStatus(false, 0, 0, Optional.of("no kubelet.sock; waiting for it"));
        SessionStatus withoutStream = new SessionStatus(true, 0, 1, Optional.empty());

        assertThat(ready(unregistered, scanned()).failures()).containsExactly("no kubelet.sock; waiting for it");
        assertThat(ready(withoutStream, scanned()).failures())
                .containsExactly("the kubelet holds no ListAndWatch stream open");
    }

    @Test
    void namesTheDeviceThatNoSourceTellsOf() {
        assertThat(ready(
                                SERVING,
                                scanned(
                                        device("erdma_0", Optional.of(Source.VERBS)),
                                        device("erdma_1", Optional.empty())))
                        .failures())
                .containsExactly("no source tells the state of erdma_1");
    }

    @Test
    void isAliveAsLongAsTheHealthLoopGoesRound() {
        assertThat(Readiness.alive(Duration.ofSeconds(60)).holds()).isTrue();
        assertThat(Readiness.alive(Duration.ofSeconds(61)).failures())
                .containsExactly("the health loop last went round 61 s ago; at most 60 s are normal");
    }
}
