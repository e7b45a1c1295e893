package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.interfaces.InterfacesStatus;
import io.erdma.node.interfaces.OfferedDevices;
import io.erdma.node.kube.EventReason;
import io.erdma.node.kube.NodeCondition;
import io.erdma.node.kube.NodeState;
import io.erdma.node.kube.Occurrence;
import io.erdma.node.kube.Occurrence.About;
import io.erdma.node.net.KeeperStatus;
import io.erdma.node.net.Note;
import io.erdma.node.net.Plan;
import io.erdma.node.net.WantedInterfaces;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackCause;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeNewsTest {
    private static final Instant START = Instant.parse("2026-12-01T10:00:00Z");
    private static final About NODE = new About.OnNode("node-a");
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final String OTHER_UID = "77777777-9b7e-4c1d-8a2f-0123456789ab";
    private static final ContainerName TRAIN = new ContainerName("training", "job-worker-0", "pytorch");

    private final AtomicInteger wakeUps = new AtomicInteger();
    private final NodeNews news = new NodeNews("node-a", wakeUps::incrementAndGet);
    private Optional<DriverStatus> driver = Optional.empty();
    private KeeperStatus network = keeper(List.of(), Optional.empty());
    private InterfacesStatus interfaces = interfaces(List.of());
    private SessionStatus session = new SessionStatus(true, 1, 1, Optional.empty());

    private static KeeperStatus keeper(List<Note> notes, Optional<String> error) {
        return new KeeperStatus(Plan.NONE, notes, error, 0, true, Optional.of(START));
    }

    private static InterfacesStatus interfaces(List<String> problems) {
        return new InterfacesStatus(
                "local discovery", true, new OfferedDevices.Everything(), WantedInterfaces.NONE, problems);
    }

    private void watchAll() {
        news.watch(new NodeNews.Sources(() -> driver, () -> network, () -> interfaces, () -> session));
    }

    private static AdvertisedDevices.Entry device(String name, DeviceHealth health) {
        return new AdvertisedDevices.Entry(
                new RdmaDevice(
                        name,
                        new NodeGuid(1),
                        NodeType.CA,
                        "erdma",
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalInt.empty(),
                        RdmaCmUse.UNUSED),
                health);
    }

    private static AdvertisedDevices.Entry well(String name, long second) {
        return device(name, new DeviceHealth.Healthy(START.plusSeconds(second)));
    }

    private static AdvertisedDevices.Entry sick(String name, long second) {
        return device(name, new DeviceHealth.Unhealthy("port 1 is DOWN", START.plusSeconds(second)));
    }

    private void offer(AdvertisedDevices.Entry... entries) {
        news.advertise(new AdvertisedDevices(Arrays.asList(entries), Optional.empty()), 0);
    }

    private static Occurrence onNode(EventReason reason, String subject, String message) {
        return new Occurrence(NODE, reason, subject, message);
    }

    @Test
    void aStartIsNoNewsButASickDeviceIs() {
        offer(sick("erdma_0", 0), sick("erdma_1", 0));
        offer(well("erdma_0", 1), sick("erdma_1", 0));

        assertThat(news.occurrences())
                .containsExactly(onNode(
                        EventReason.DEVICE_UNHEALTHY,
                        "erdma_1",
                        "erdma_1 is unhealthy, so no new pod gets it: port 1 is DOWN"));
        assertThat(news.occurrences()).isEmpty();
        assertThat(wakeUps).hasValue(2);
    }

    @Test
    void tellsOfTheDeviceThatFailsAndForHowLongOnceItRecovers() {
        offer(well("erdma_0", 0), well("erdma_1", 0));
        assertThat(news.occurrences()).isEmpty();

        offer(sick("erdma_0", 10), well("erdma_1", 0));
        offer(sick("erdma_0", 10), well("erdma_1", 0));
        offer(well("erdma_0", 22), well("erdma_1", 0));
        assertThat(news.occurrences())
                .containsExactly(
                        onNode(
                                EventReason.DEVICE_UNHEALTHY,
                                "erdma_0",
                                "erdma_0 is unhealthy, so no new pod gets it: port 1 is DOWN"),
                        onNode(
                                EventReason.DEVICE_HEALTHY,
                                "erdma_0",
                                "erdma_0 is healthy again after 12 s (port 1 is DOWN)"));
    }

    @Test
    void saysNoTimeWhenTheClockHasJumpedBack() {
        offer(sick("erdma_0", 10));
        offer(well("erdma_0", 5));
        news.occurrences();
        offer(sick("erdma_0", 10));
        offer(well("erdma_0", 5));

        assertThat(news.occurrences()).last().extracting(Occurrence::message).isEqualTo("erdma_0 is healthy again");
    }

    @Test
    void tellsOfADeviceThatGoesAndComesBack() {
        offer(well("erdma_0", 0));
        news.occurrences();

        offer();
        offer(well("erdma_0", 30));
        assertThat(news.occurrences())
                .extracting(Occurrence::reason)
                .containsExactly(EventReason.DEVICE_WITHDRAWN, EventReason.DEVICE_HEALTHY);
    }

    @Test
    void aDeviceThatComesForTheFirstTimeIsNoNews() {
        offer();
        news.occurrences();
        offer(well("erdma_0", 30));

        assertThat(news.occurrences()).isEmpty();
    }

    /** The reporter may hang in a request for a long time. */
    @Test
    void keepsFewOffersAndTheLastOneWhileNobodyAsks() {
        offer(well("erdma_0", 0));
        news.occurrences();
        IntStream.range(0, 10_000).forEach(i -> offer(i % 2 == 0 ? sick("erdma_0", i) : well("erdma_0", i)));
        offer(sick("erdma_0", 10_001));

        List<Occurrence> all = news.occurrences();
        assertThat(all).hasSizeLessThanOrEqualTo(64);
        assertThat(all).last().extracting(Occurrence::reason).isEqualTo(EventReason.DEVICE_UNHEALTHY);
    }

    @Test
    void losesNoNewsToWhoeverAsksForTheState() {
        offer(well("erdma_0", 0));
        news.occurrences();
        offer(sick("erdma_0", 10));

        assertThat(news.state().orElseThrow().condition().ready()).isFalse();
        assertThat(news.occurrences()).hasSize(1);
    }

    private static DriverStatus driver(ModeInForce mode, String pending, String problem) {
        return new DriverStatus(
                DriverMode.OFED,
                false,
                mode,
                "the plan",
                Optional.ofNullable(pending),
                Optional.ofNullable(problem),
                List.of(),
                START);
    }

    @Test
    void tellsHowTheDriversSwitchGoes() {
        watchAll();
        driver = Optional.of(driver(ModeInForce.DEFAULT, null, null));
        assertThat(news.occurrences()).isEmpty();

        driver = Optional.of(driver(ModeInForce.DEFAULT, "switch to ofed pending: 2 users", null));
        assertThat(news.occurrences())
                .containsExactly(onNode(EventReason.DRIVER_SWITCH_PENDING, "", "switch to ofed pending: 2 users"));
        driver = Optional.of(driver(ModeInForce.DEFAULT, "switch to ofed pending: 1 user", null));
        assertThat(news.occurrences()).isEmpty();

        driver = Optional.of(driver(ModeInForce.NOT_LOADED, null, "modprobe failed"));
        assertThat(news.occurrences()).containsExactly(onNode(EventReason.DRIVER_FAILED, "", "modprobe failed"));
        driver = Optional.of(driver(ModeInForce.NOT_LOADED, null, "modprobe failed"));
        assertThat(news.occurrences()).isEmpty();

        driver = Optional.of(driver(ModeInForce.OFED, null, null));
        assertThat(news.occurrences())
                .containsExactly(onNode(
                        EventReason.DRIVER_SWITCHED,
                        "",
                        "the erdma driver is in mode ofed now, and was in mode default"));
    }

    @Test
    void tellsOnceOfEachInterfaceThatIsNotSetUp() {
        watchAll();
        network = keeper(
                List.of(
                        new Note("eth1", Note.Severity.INFO, "is well"),
                        new Note("eth2", Note.Severity.WARNING, "Terway changes it; put it on the whitelist")),
                Optional.of("cannot add route 10.0.0.0/16: the kernel answered EPERM (1)"));
        interfaces = interfaces(List.of("eni-1 has no MAC address yet"));

        assertThat(news.occurrences())
                .containsExactly(
                        onNode(
                                EventReason.INTERFACE_NOT_SET_UP,
                                "eth2",
                                "eth2: Terway changes it; put it on the whitelist"),
                        onNode(
                                EventReason.INTERFACE_NOT_SET_UP,
                                "interfaces",
                                "cannot add route 10.0.0.0/16: the kernel answered EPERM (1)"),
                        onNode(EventReason.INTERFACE_NOT_SET_UP, "interfaces", "eni-1 has no MAC address yet"));
        assertThat(news.occurrences()).isEmpty();

        network = keeper(List.of(), Optional.empty());
        assertThat(news.occurrences()).isEmpty();
    }

    private static Finding finding(ContainerName container, String uid, FallbackVerdict verdict) {
        return new Finding(
                container,
                verdict,
                List.of(new FallbackCause(
                        FallbackCause.Kind.NCCL_IB_DISABLE,
                        "NCCL_IB_DISABLE=1 is set in the container",
                        "remove the variable")),
                Optional.ofNullable(uid));
    }

    private static UsageSnapshot usage(int second, List<Finding> findings, String... problems) {
        return new UsageSnapshot(
                START.plusSeconds(second),
                List.of(),
                List.of(),
                findings.stream()
                        .map(finding -> new ShareHold(finding.container(), "erdma_0", 1))
                        .toList(),
                findings,
                List.of(problems));
    }

    private static Finding asksOnly(String uid) {
        return finding(TRAIN, uid, new AsksOnly(Duration.ofMinutes(10)));
    }

    @Test
    void tellsOfAPodOnceThatItDoesNotUseWhatItAskedFor() {
        news.accept(usage(0, List.of(asksOnly(UID))));

        assertThat(news.occurrences())
                .containsExactly(new Occurrence(
                        new About.OnPod("training", "job-worker-0", UID),
                        EventReason.NOT_USED,
                        "",
                        "container pytorch asked for eRDMA and has not used it for 600 s, so its traffic goes over TCP;"
                                + " NCCL_IB_DISABLE=1 is set in the container: remove the variable"));
        news.accept(usage(30, List.of(asksOnly(UID))));
        assertThat(news.occurrences()).isEmpty();
    }

    @Test
    void tellsOfAnotherPodOfTheSameName() {
        news.accept(usage(0, List.of(asksOnly(UID))));
        news.occurrences();
        news.accept(usage(30, List.of(asksOnly(OTHER_UID))));

        assertThat(news.occurrences())
                .extracting(Occurrence::about)
                .containsExactly(new About.OnPod("training", "job-worker-0", OTHER_UID));
    }

    @Test
    void tellsOfAllContainersOfAPodInOneEvent() {
        ContainerName second = new ContainerName("training", "job-worker-0", "sidecar");
        news.accept(usage(0, List.of(asksOnly(UID), finding(second, UID, new AsksOnly(Duration.ofMinutes(11))))));

        assertThat(news.occurrences())
                .singleElement()
                .extracting(Occurrence::message)
                .asString()
                .contains("container pytorch asked", "container sidecar asked");
    }

    @Test
    void accusesNobodyWithoutAVerdictOrAUid() {
        news.accept(usage(
                0,
                List.of(
                        finding(TRAIN, UID, new FallbackVerdict.NoVerdict("its processes are stopped")),
                        finding(new ContainerName("a", "b", "c"), UID, new FallbackVerdict.Uses(1)),
                        finding(new ContainerName("a", "c", "c"), null, new AsksOnly(Duration.ofHours(1))))));

        assertThat(news.occurrences()).isEmpty();
    }

    @Test
    void doesNotTellAgainBecauseTheKubeletDidNotAnswerInBetween() {
        news.accept(usage(0, List.of(asksOnly(UID))));
        news.occurrences();
        news.accept(usage(30, List.of(), "shares of pods are not known: no answer"));
        assertThat(news.occurrences()).isEmpty();
        news.accept(usage(60, List.of(asksOnly(UID))));

        assertThat(news.occurrences()).isEmpty();
    }

    @Test
    void knowsNoStateBeforeTheFirstOffer() {
        watchAll();

        assertThat(news.state()).isEmpty();
    }

    @Test
    void isReadyOnceAllDevicesAreHealthyAndTheKubeletKnowsThem() {
        watchAll();
        offer(well("erdma_0", 0), well("erdma_1", 0));
        assertThat(news.state())
                .contains(
                        new NodeState(new NodeCondition(true, "DevicesHealthy", "erdma_0, erdma_1 are healthy"), true));

        session = new SessionStatus(false, 0, 0, Optional.of("the kubelet's socket is missing"));
        assertThat(news.state())
                .contains(new NodeState(
                        new NodeCondition(
                                false,
                                "NotRegistered",
                                "not registered with the kubelet: the kubelet's socket is missing"),
                        true));

        offer(sick("erdma_0", 0), well("erdma_1", 0));
        assertThat(news.state())
                .contains(new NodeState(
                        new NodeCondition(false, "DeviceUnhealthy", "1 of 2 devices: erdma_0: port 1 is DOWN"), true));

        offer();
        assertThat(news.state())
                .contains(new NodeState(
                        new NodeCondition(
                                false,
                                "NoDevice",
                                "no eRDMA device is offered; devices to offer: all that the node has"),
                        false));
    }
}
