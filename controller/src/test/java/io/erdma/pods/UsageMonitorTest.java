package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.pods.FallbackCause.Kind;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.FallbackVerdict.NoVerdict;
import io.erdma.pods.FallbackVerdict.OnlyContext;
import io.erdma.pods.FallbackVerdict.Uses;
import io.erdma.pods.PodShares.Answer;
import io.erdma.pods.PodShares.Holder;
import io.erdma.pods.UsageFacts.DeviceObjects;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From netlink's answer, a /proc, the pods' logs and the kubelet's answer to who uses what. */
class UsageMonitorTest {
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final ContainerId TRAIN = new ContainerId(UID, "c0".repeat(32));
    private static final ContainerId SANDBOX = new ContainerId(UID, "5a".repeat(32));
    private static final ContainerName NAME = new ContainerName("training", "job-0", "pytorch");
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    @TempDir
    private Path directory;

    private final List<UsageSnapshot> published = new ArrayList<>();
    private final TestClock clock = new TestClock();
    private ProcFixture proc;
    private UsageReader.Objects objects = _ -> List.of(idle());
    private Answer shares =
            new Answer.Known(List.of(new Holder("training", "job-0", "pytorch", List.of("erdma_0/3", "erdma_0/17"))));
    private RdmaCmUse rdmaCm = RdmaCmUse.UNUSED;
    private UsageMonitor monitor;

    private static final class TestClock extends Clock {
        private Instant now = Instant.parse("2026-12-01T10:00:00Z");

        void pass(Duration time) {
            now = now.plus(time);
        }

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    @BeforeEach
    void lay() throws IOException {
        proc = new ProcFixture(directory.resolve("proc"))
                .process(1, "systemd", "0::/init.scope")
                .process(50, "pause", ProcFixture.cgroup(SANDBOX))
                .process(51, "python", ProcFixture.cgroup(TRAIN))
                .process(52, "python", ProcFixture.cgroup(TRAIN));
        Files.createDirectories(directory.resolve("log/pods/training_job-0_" + UID));
        nameContainer(TRAIN, "pytorch");
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, Files.createDirectory(directory.resolve("node")));
        UsageReader reader = new UsageReader(
                wanted -> objects.of(wanted),
                new ProcTree(proc.root()),
                new SysfsTree(node.sysfs()),
                new PodLogs(directory.resolve("log")),
                () -> shares);
        monitor = new UsageMonitor(
                reader,
                this::offered,
                new UsageMonitor.Settings(Duration.ofSeconds(30), PATIENCE, false),
                clock,
                published::add);
    }

    @Test
    void looksAtNoProcessOfPodsWhileNobodyHoldsAShare() {
        UsageReader reader = new UsageReader(
                wanted -> objects.of(wanted),
                new ProcTree(proc.root()),
                new SysfsTree(directory),
                new PodLogs(directory.resolve("log")),
                () -> shares);
        assertThat(reader.read(_ -> true, true).processes()).containsOnlyKeys(50L, 51L, 52L);

        shares = new Answer.Known(List.of());
        assertThat(reader.read(_ -> true, true).processes()).isEmpty();
    }

    private void nameContainer(ContainerId id, String container) throws IOException {
        Path links = Files.createDirectories(directory.resolve("log/containers"));
        Files.createSymbolicLink(
                links.resolve("job-0_training_" + container + "-" + id.container() + ".log"), Path.of("/nowhere"));
    }

    private AdvertisedDevices offered() {
        return new AdvertisedDevices(
                List.of(new AdvertisedDevices.Entry(
                        new RdmaDevice(
                                "erdma_0",
                                new NodeGuid(1),
                                NodeType.CA,
                                "erdma",
                                Optional.empty(),
                                Optional.empty(),
                                Optional.of(Path.of("/dev/infiniband/uverbs1")),
                                OptionalInt.empty(),
                                rdmaCm),
                        new DeviceHealth.Healthy(Instant.EPOCH))),
                Optional.empty());
    }

    private static DeviceObjects objects(Map<Long, Integer> queuePairs, Optional<Map<Long, Integer>> contexts) {
        return new DeviceObjects("erdma_0", queuePairs, 0, contexts, 0);
    }

    private static DeviceObjects idle() {
        return objects(Map.of(), Optional.of(Map.of()));
    }

    private UsageSnapshot look() {
        monitor.look();
        return monitor.latest().orElseThrow();
    }

    private FallbackVerdict verdict() {
        UsageSnapshot snapshot = look();
        assertThat(snapshot.findings()).extracting(Finding::container).containsExactly(NAME);
        return snapshot.findings().getFirst().verdict();
    }

    @Test
    void givesQueuePairsAndContextsToThePodsThatHaveThem() {
        objects = _ -> List.of(
                new DeviceObjects("erdma_0", Map.of(51L, 8, 1L, 2), 3, Optional.of(Map.of(51L, 1, 52L, 1, 1L, 1)), 1));
        UsageSnapshot snapshot = look();
        assertThat(snapshot.devices()).containsExactly(new DeviceUse("erdma_0", 13, 3, OptionalInt.of(4)));
        assertThat(snapshot.processes())
                .containsExactly(
                        new ProcessUse("erdma_0", 1, "systemd", new Owner.Host(), 2, OptionalInt.of(1)),
                        new ProcessUse("erdma_0", 51, "python", new Owner.Named(NAME), 8, OptionalInt.of(1)),
                        new ProcessUse("erdma_0", 52, "python", new Owner.Named(NAME), 0, OptionalInt.of(1)));
        assertThat(snapshot.shares()).containsExactly(new ShareHold(NAME, "erdma_0", 2));
        assertThat(snapshot.findings()).containsExactly(new Finding(NAME, new Uses(8), List.of(), Optional.of(UID)));
        assertThat(snapshot.problems()).isEmpty();
        assertThat(published).containsExactly(snapshot);
    }

    @Test
    void findsThePodThatAskedAndSendsByTcp() {
        proc.write("51/environ", "NCCL_IB_DISABLE=1\0");
        rdmaCm = RdmaCmUse.REQUIRED;
        assertThat(verdict()).isInstanceOf(NoVerdict.class);
        clock.pass(PATIENCE);
        assertThat(verdict()).isEqualTo(new AsksOnly(PATIENCE));
        assertThat(published.getLast().findings().getFirst().causes())
                .extracting(FallbackCause::kind)
                .containsExactly(Kind.IWARP_MODE, Kind.NCCL_IB_DISABLE);
    }

    @Test
    void seesAPodThatWaitsForItsPeers() {
        objects = _ -> List.of(objects(Map.of(), Optional.of(Map.of(52L, 1))));
        clock.pass(PATIENCE);
        assertThat(verdict()).isEqualTo(new OnlyContext(1));
    }

    @Test
    void countsTheTimeOfAContainerFromItsOwnStart() throws IOException {
        proc.end(51);
        proc.end(52);
        // For an hour only the init container runs.
        ContainerId init = new ContainerId(UID, "1a".repeat(32));
        nameContainer(init, "download");
        proc.process(60, "curl", ProcFixture.cgroup(init));
        verdict();
        clock.pass(Duration.ofHours(1));
        assertThat(verdict())
                .isEqualTo(new NoVerdict("no process of it runs: its pod's init containers do, or it has ended"));
        proc.end(60);
        proc.process(61, "python", ProcFixture.cgroup(TRAIN));
        assertThat(verdict()).isEqualTo(new NoVerdict("it has run for 0 s only"));
        clock.pass(PATIENCE);
        assertThat(verdict()).isInstanceOf(AsksOnly.class);
    }

    @Test
    void countsAnewForARestartedContainer() throws IOException {
        verdict();
        clock.pass(PATIENCE.minusSeconds(1));
        proc.end(51);
        proc.end(52);
        ContainerId restarted = new ContainerId(UID, "c1".repeat(32));
        nameContainer(restarted, "pytorch");
        proc.process(70, "python", ProcFixture.cgroup(restarted));
        verdict();
        clock.pass(Duration.ofSeconds(2));
        assertThat(verdict()).isEqualTo(new NoVerdict("it has run for 2 s only"));
    }

    @Test
    void doesNotAccuseAPodThatClosedItsQueuePairs() {
        objects = _ -> List.of(objects(Map.of(51L, 1), Optional.of(Map.of(51L, 1))));
        assertThat(verdict()).isEqualTo(new Uses(1));
        objects = _ -> List.of(idle());
        clock.pass(Duration.ofHours(1));
        assertThat(verdict()).isEqualTo(new NoVerdict("it had queue pairs before"));
    }

    @Test
    void takesOpenDeviceNodesWhereTheKernelTellsNoContexts() {
        objects = _ -> List.of(objects(Map.of(), Optional.empty()));
        verdict();
        clock.pass(PATIENCE);
        assertThat(verdict()).isInstanceOf(AsksOnly.class);
        // On this node uverbs1 is erdma_0.
        proc.link("52/fd/9", "/dev/infiniband/uverbs1");
        assertThat(verdict()).isEqualTo(new OnlyContext(1));
        assertThat(published.getLast().devices()).containsExactly(new DeviceUse("erdma_0", 0, 0, OptionalInt.of(1)));
    }

    @Test
    void givesWhatAThreadMadeToItsProcess() {
        // Threads have numbers of their own, which /proc does not list.
        proc.thread(5151, 51, "nccl", ProcFixture.cgroup(TRAIN));
        objects = _ -> List.of(objects(Map.of(5151L, 3, 51L, 1), Optional.of(Map.of(5151L, 1))));
        assertThat(look().processes())
                .containsExactly(new ProcessUse("erdma_0", 51, "python", new Owner.Named(NAME), 4, OptionalInt.of(1)));
        assertThat(verdict()).isEqualTo(new Uses(4));
    }

    @Test
    void doesNotAccuseAPodWhoseThreadEndedBehindItsQueuePairs() throws IOException {
        verdict();
        // The kernel has forgotten who made these.
        objects = _ -> List.of(new DeviceObjects("erdma_0", Map.of(), 8, Optional.of(Map.of()), 1));
        clock.pass(PATIENCE);
        proc.link("52/fd/9", "/dev/infiniband/uverbs1");
        assertThat(verdict())
                .isEqualTo(new NoVerdict("it has a device open whose queue pairs the kernel names no owner of"));
        objects = _ -> List.of(new DeviceObjects("erdma_0", Map.of(), 0, Optional.of(Map.of()), 1));
        assertThat(verdict()).isEqualTo(new OnlyContext(1));
        // It ended between the kernel's answer and the look at it.
        objects = _ -> List.of(objects(Map.of(), Optional.of(Map.of(5151L, 1))));
        assertThat(verdict()).isEqualTo(new OnlyContext(1));
        proc.write("51/fd/3", "not a link");
        assertThat(verdict())
                .isEqualTo(new NoVerdict("neither the kernel nor its processes tell whether it has a device open"));
        proc.remove("51/fd/3");
        proc.remove("52/fd/9");
        assertThat(verdict()).isInstanceOf(AsksOnly.class);
        proc.remove("52/fd");
        assertThat(verdict())
                .isEqualTo(new NoVerdict("neither the kernel nor its processes tell whether it has a device open"));
    }

    @Test
    void judgesNobodyWhereNeitherContextsNorOpenDeviceNodesCanBeRead() throws IOException {
        objects = _ -> List.of(objects(Map.of(), Optional.empty()));
        verdict();
        clock.pass(PATIENCE);
        proc.remove("51/fd");
        assertThat(verdict())
                .isEqualTo(new NoVerdict("neither the kernel nor its processes tell whether it has a device open"));
    }

    @Test
    void judgesNobodyWhereNetlinkDoesNotAnswer() {
        verdict();
        objects = _ -> {
            throw new NativeException("socket", Errno.EPERM, "netlink for RDMA devices");
        };
        clock.pass(PATIENCE);
        assertThat(verdict()).isEqualTo(new NoVerdict("the kernel does not tell who uses erdma_0"));
        assertThat(published.getLast().problems())
                .singleElement()
                .asString()
                .startsWith("queue pairs are not known: socket on netlink for RDMA devices failed: EPERM");
    }

    @Test
    void judgesNobodyWhereThePodsContainersCantBeToldApart() throws IOException {
        verdict();
        clock.pass(PATIENCE);
        ContainerId other = new ContainerId(UID, "0e".repeat(32));
        proc.process(80, "sidecar", ProcFixture.cgroup(other));
        assertThat(verdict())
                .isEqualTo(new NoVerdict("a process of its pod can't be given to any of the pod's containers"));
        nameContainer(other, "sidecar");
        assertThat(verdict()).isInstanceOf(AsksOnly.class);
    }

    @Test
    void countsForEachDeviceOnlyInAnotherPidNamespace() {
        proc.link("self/ns/pid", "pid:[4026532999]");
        objects = _ -> List.of(new DeviceObjects("erdma_0", Map.of(), 8, Optional.of(Map.of()), 2));
        UsageSnapshot snapshot = look();
        assertThat(snapshot.devices()).containsExactly(new DeviceUse("erdma_0", 8, 8, OptionalInt.of(2)));
        assertThat(snapshot.processes()).isEmpty();
        assertThat(snapshot.findings()).extracting(Finding::verdict).allMatch(NoVerdict.class::isInstance);
        assertThat(snapshot.problems()).singleElement().asString().contains("hostPID: true");
    }

    @Test
    void startsNothingInAnotherPidNamespace() {
        proc.link("self/ns/pid", "pid:[4026532999]");
        monitor.start();
        monitor.close();
        assertThat(published).isEmpty();
    }

    @Test
    void looksOnItsOwnThreadUntilItIsClosed() {
        monitor.start();
        await().until(() -> monitor.latest().isPresent());
        monitor.close();
        assertThat(published).hasSize(1);
    }

    @Test
    void knowsNoHoldersWhereTheKubeletIsSilent() {
        shares = new Answer.Unreadable("no socket");
        UsageSnapshot snapshot = look();
        assertThat(snapshot.shares()).isEmpty();
        assertThat(snapshot.findings()).isEmpty();
        assertThat(snapshot.problems()).containsExactly("shares of pods are not known: no socket");
    }

    @Test
    void tellsWhatIsSoAndWhatToDo() {
        assertThat(UsageMonitor.describe(
                        Duration.ofMinutes(10),
                        List.of(new FallbackCause(Kind.NCCL_IB_DISABLE, "NCCL_IB_DISABLE=1 is set", "remove it"))))
                .isEqualTo("asked for eRDMA and has not used it for 600 s, so its traffic goes over TCP;"
                        + " NCCL_IB_DISABLE=1 is set: remove it");
    }
}
