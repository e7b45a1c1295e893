package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.DeviceHealth;
import io.erdma.device.DeviceHealth.Healthy;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.health.HealthRules.LinkView;
import io.erdma.health.HealthRules.Observation;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class HealthRulesTest {
    private static final Duration GRACE = Duration.ofSeconds(15);
    private static final Optional<ProbeResult> ACTIVE = port(PortState.ACTIVE);

    private static Optional<ProbeResult> port(PortState state) {
        return Optional.of(new ProbeResult.Answered(state, Source.VERBS, List.of()));
    }

    private static RdmaDevice device(RdmaCmUse rdmaCm, Optional<Path> uverbs) {
        return new RdmaDevice(
                "erdma_0",
                new NodeGuid(1),
                NodeType.CA,
                "erdma",
                Optional.empty(),
                Optional.empty(),
                uverbs,
                OptionalInt.empty(),
                rdmaCm);
    }

    private static RdmaDevice device(RdmaCmUse rdmaCm) {
        return device(rdmaCm, Optional.of(Path.of("/dev/infiniband/uverbs0")));
    }

    private static Observation seen(Optional<ProbeResult> answer, LinkView link) {
        return new Observation(
                device(RdmaCmUse.UNUSED),
                true,
                false,
                NetnsMode.SHARED,
                link,
                answer,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
    }

    private static Optional<String> why(Observation seen) {
        return HealthRules.whyUnhealthy(seen, GRACE);
    }

    private static LinkView link(int flags, int operState) {
        return new LinkView.Seen(new Link(
                7,
                "eth1",
                flags,
                1500,
                operState,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty()));
    }

    @Test
    void anActivePortOnALinkWithCarrierIsHealthy() {
        assertThat(why(seen(ACTIVE, link(Link.IFF_UP | Link.IFF_LOWER_UP, 6)))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(value = PortState.class, mode = EnumSource.Mode.EXCLUDE, names = "ACTIVE")
    void namesTheStateOfAPortThatIsNotActive(PortState state) {
        assertThat(why(seen(port(state), new LinkView.NotJudged()))).contains("port 1 is " + state);
    }

    @ParameterizedTest
    @CsvSource({
        "0x10001,6,",
        "0x10001,0,",
        "0x10000,6,netdev eth1 is down",
        "0x1,6,netdev eth1 has no carrier",
        "0x10001,2,netdev eth1 has no carrier",
        "0x10001,3,netdev eth1 has no carrier",
        "0x10001,5,netdev eth1 has no carrier",
        "0x0,2,netdev eth1 is down"
    })
    void aLinkWithoutCarrierCountsEvenIfThePortClaimsToBeActive(String flags, int operState, String reason) {
        assertThat(why(seen(ACTIVE, link(Integer.decode(flags), operState)))).isEqualTo(Optional.ofNullable(reason));
    }

    @Test
    void anInterfaceElsewhereIsJudgedByThePortAlone() {
        assertThat(why(seen(ACTIVE, new LinkView.NotJudged()))).isEmpty();
    }

    @Test
    void anInterfaceThatHasGoneIsUnhealthy() {
        assertThat(why(seen(ACTIVE, new LinkView.Gone("eth1")))).contains("netdev eth1 is gone");
    }

    @Test
    void exclusiveNamespaceModeIsUnhealthyWhateverThePortSays() {
        Observation seen = new Observation(
                device(RdmaCmUse.UNUSED),
                true,
                true,
                NetnsMode.EXCLUSIVE,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
        assertThat(why(seen).orElseThrow()).contains("exclusive").contains("rdma system set netns shared");
    }

    @Test
    void aMissingUverbsNodeIsUnhealthy() {
        Observation seen = new Observation(
                device(RdmaCmUse.UNUSED),
                false,
                true,
                NetnsMode.SHARED,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
        assertThat(why(seen)).contains("/dev/infiniband/uverbs0 is missing");
    }

    @Test
    void aDeviceWithoutUverbsNodeIsUnhealthy() {
        Observation seen = new Observation(
                device(RdmaCmUse.UNUSED, Optional.empty()),
                false,
                true,
                NetnsMode.SHARED,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
        assertThat(why(seen)).contains("the kernel made no uverbs node for it");
    }

    @ParameterizedTest
    @CsvSource({"REQUIRED,false,true", "REQUIRED,true,false", "IF_PRESENT,false,false", "UNUSED,false,false"})
    void onlyARequiredRdmaCmIsMissed(RdmaCmUse use, boolean present, boolean unhealthy) {
        Observation seen = new Observation(
                device(use),
                true,
                present,
                NetnsMode.SHARED,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty());
        assertThat(why(seen).isPresent()).isEqualTo(unhealthy);
    }

    @ParameterizedTest
    @CsvSource({"0,false", "15,false", "16,true", "3600,true"})
    void unknownIsNotHealthyOnceTheGraceIsOver(long age, boolean unhealthy) {
        Observation seen = new Observation(
                device(RdmaCmUse.UNUSED),
                true,
                true,
                NetnsMode.SHARED,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ofSeconds(age),
                Optional.of("VERBS: no descriptors"),
                Optional.empty());
        assertThat(why(seen))
                .isEqualTo(
                        unhealthy ? Optional.of("has not answered for 15 s: VERBS: no descriptors") : Optional.empty());
    }

    @Test
    void aDeviceThatHasNeverAnsweredIsNotHealthy() {
        assertThat(why(seen(Optional.empty(), new LinkView.NotJudged()))).contains("has not answered yet");
    }

    @Test
    void aRefusalIsGivenAsItWas() {
        ProbeResult failed = new ProbeResult.Failed("ibv_query_port on erdma_0 port 1 failed: EINVAL (22)", false);
        assertThat(why(seen(Optional.of(failed), new LinkView.NotJudged())))
                .contains("ibv_query_port on erdma_0 port 1 failed: EINVAL (22)");
    }

    @Test
    void anEventIsBelievedBeforeTheAnswerThatIsOlder() {
        Observation seen = new Observation(
                device(RdmaCmUse.UNUSED),
                true,
                true,
                NetnsMode.SHARED,
                new LinkView.NotJudged(),
                ACTIVE,
                Duration.ZERO,
                Optional.empty(),
                Optional.of("reported a fatal error"));
        assertThat(why(seen)).contains("reported a fatal error");
    }

    @Test
    void keepsTheTimeOfTheLastChangeWhileTheOutcomeStays() {
        Instant first = Instant.parse("2026-01-01T00:00:00Z");
        Instant later = first.plusSeconds(60);
        Observation down = seen(port(PortState.DOWN), new LinkView.NotJudged());
        DeviceHealth former = HealthRules.judge(down, GRACE, Optional.empty(), first);

        assertThat(HealthRules.judge(down, GRACE, Optional.of(former), later))
                .isEqualTo(new Unhealthy("port 1 is DOWN", first));
        assertThat(HealthRules.judge(seen(ACTIVE, new LinkView.NotJudged()), GRACE, Optional.of(former), later))
                .isEqualTo(new Healthy(later));
    }
}
