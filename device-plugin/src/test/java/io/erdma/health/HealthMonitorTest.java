package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.inventory.ScriptedNode;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.Errno;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HealthMonitorTest extends MonitorScenario {
    @Test
    void aNodeWithoutDevicesOffersAnEmptyList() throws IOException {
        start(BY_EVENTS);

        await().atMost(LONG).untilAsserted(() -> assertThat(offers).containsExactly(AdvertisedDevices.NONE));
    }

    @Test
    void marksOnlyTheFailedDeviceUnhealthyWhenItsPortGoesDown() throws IOException {
        ScriptedNode.Device sick = node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");
        awaitHealthy("erdma_1");

        node.setPort(sick, PortState.DOWN);

        awaitUnhealthy("erdma_0", "port 1 is DOWN");
        assertThat(healthy("erdma_1")).contains(true);
    }

    @Test
    void offersTheDeviceAgainOnceItsPortIsBack() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");
        node.setPort(device, PortState.DOWN);
        awaitUnhealthy("erdma_0", "port 1 is DOWN");

        node.setPort(device, PortState.ACTIVE);

        awaitHealthy("erdma_0");
    }

    @Test
    void aLostCarrierCountsThoughThePortClaimsToBeActive() throws IOException {
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.setLink(10, false);
        awaitUnhealthy("erdma_0", "netdev eth0 has no carrier");

        node.setLink(10, true);
        awaitHealthy("erdma_0");
    }

    @Test
    void aLinkThatIsBackIsNotBelievedWhileThePortIsDown() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        HealthMonitor monitor = start(BY_EVENTS);
        awaitHealthy("erdma_0");
        device.state = PortState.DOWN;
        node.setLink(10, false);
        awaitJudged(monitor, "erdma_0", false);

        node.setLink(10, true);

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(monitor.status().devices())
                        .anyMatch(status -> !status.health().isHealthy()
                                && status.portState().equals(Optional.of(PortState.DOWN))));
        device.state = PortState.ACTIVE;
        node.raise(device, new VerbsEvent.PortActive(1));
        awaitHealthy("erdma_0");
    }

    @Test
    void readsAllLinksAnewWhenNotificationsWereLost() throws IOException {
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.setLinkSilently(10, false);
        node.loseLinkNotifications();

        awaitUnhealthy("erdma_0", "no carrier");
    }

    @Test
    void replacesNotificationsThatBrokeAlsoWhenTheirCloseFails() throws IOException {
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");
        int scansBefore = node.scans.get();

        node.breakLinkNotifications();
        await().atMost(LONG).until(() -> node.scans.get() > scansBefore);
        await().atMost(LONG).until(node::linksWatched);
        node.setLink(10, false);

        awaitUnhealthy("erdma_0", "no carrier");
    }

    @Test
    void aRemovedUverbsNodeIsNoticedAndItsReturnToo() throws IOException {
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.removeNode("uverbs0");
        awaitUnhealthy("erdma_0", "/dev/infiniband/uverbs0 is missing");

        node.makeNode("uverbs0");
        awaitHealthy("erdma_0");
    }

    @Test
    void watchesTheNewDirectoryAfterTheKernelRemovedTheOldOne() throws IOException {
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");
        node.removeNode("uverbs0");
        node.removeNodeDirectory();
        awaitUnhealthy("erdma_0", "is missing");

        node.makeNode("uverbs0");
        awaitHealthy("erdma_0");

        node.removeNode("uverbs0");
        awaitUnhealthy("erdma_0", "is missing");
    }

    @Test
    void pollsWhileThereIsNoDevAndWatchesTheNextOne() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.removeNode("uverbs0");
        node.removeNodeDirectory();
        Files.delete(node.paths().dev());
        await().atMost(LONG).until(() -> monitor.status().polling().isPresent());

        node.makeNode("uverbs0");
        awaitHealthy("erdma_0");
        await().atMost(LONG).until(() -> monitor.status().polling().isEmpty());
        node.removeNode("uverbs0");
        awaitUnhealthy("erdma_0", "is missing");
    }

    @Test
    void aDriverLoadedAfterTheStartIsNoticed() throws IOException {
        start(BY_EVENTS);
        await().atMost(LONG).until(() -> !offers.isEmpty());

        node.add("erdma_0", 0);

        awaitHealthy("erdma_0");
    }

    @Test
    void waitsForRdmaCmWhereTheDriverModeNeedsIt() throws IOException {
        node.add("erdma_0", 0).type = NodeType.RNIC;
        start(new HealthSettings(
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                Duration.ofMinutes(15),
                Duration.ofMillis(100),
                Paces.BRISK));
        await().atMost(LONG).until(() -> !offers.isEmpty());
        awaitUnhealthy("erdma_0", "rdma_cm is missing");
        assertThat(offers.getLast().rdmaCm()).isEmpty();

        node.makeNode("rdma_cm");

        awaitHealthy("erdma_0");
        assertThat(offers.getLast().rdmaCm()).contains(Path.of("/dev/infiniband/rdma_cm"));
    }

    @Test
    void oneCardThatCannotBeAskedHidesNoOther() throws IOException {
        ScriptedNode.Device foreign = node.add("mlx5_0", 5);
        foreign.driverId = 1;
        foreign.sysfsDriver = Optional.of("mlx5_core");
        foreign.pciDevice = OptionalInt.of(0x1017);
        foreign.openErrno = Errno.EPERM;
        node.add("erdma_0", 0);
        node.add("erdma_1", 1).queryErrno = Errno.EINVAL;
        start(QUICK);

        awaitHealthy("erdma_0");
        awaitUnhealthy("erdma_1", "ibv_query_port on erdma_1 port 1 failed: EINVAL (22)");
        assertThat(offers.getLast().find("mlx5_0")).isEmpty();
        assertThat(logged).filteredOn(line -> line.startsWith("mlx5_0")).hasSize(1);
    }

    @Test
    void aDeviceThatMayNotBeOpenedIsJudgedByNetlink() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.openErrno = Errno.EPERM;
        HealthMonitor monitor = start(QUICK);
        awaitHealthy("erdma_0");

        MonitorStatus.DeviceStatus status = monitor.status().devices().getFirst();
        assertThat(status.source()).contains(Source.RDMA_NETLINK);
        assertThat(status.unused().getFirst().problem().orElseThrow()).contains("EPERM");

        device.state = PortState.DOWN;
        awaitUnhealthy("erdma_0", "port 1 is DOWN");
        assertThat(logged)
                .filteredOn(line -> line.startsWith("erdma_0 is watched without verbs events"))
                .hasSize(1)
                .allMatch(line -> line.contains("EPERM"));
    }

    @Test
    void verbsCountAsTheSourceOfADeviceThatRefusesToAnswer() throws IOException {
        node.add("erdma_0", 0).openErrno = Errno.EINVAL;
        node.add("erdma_1", 1).queryErrno = Errno.EINVAL;
        HealthMonitor monitor = start(BY_EVENTS);
        await().atMost(LONG).until(() -> !offers.isEmpty());

        assertThat(monitor.status().devices())
                .hasSize(2)
                .allSatisfy(status -> assertThat(status.health()).isInstanceOf(Unhealthy.class))
                .allSatisfy(status -> assertThat(status.source()).contains(Source.VERBS));
    }

    @Test
    void withoutVerbsAndNetlinkSysfsTellsThePortState() throws IOException {
        node.add("erdma_0", 0);
        node.verbsProblem = Optional.of("libibverbs.so.1 is missing");
        node.netlinkErrno = Errno.EPROTONOSUPPORT;
        HealthMonitor monitor = start(QUICK);

        awaitHealthy("erdma_0");
        assertThat(monitor.status().devices().getFirst().source()).contains(Source.SYSFS);
        assertThat(monitor.status().devices().getFirst().unused()).hasSize(2);
    }

    @Test
    void warnsOfASourceOnlyOnceThereIsADeviceThatItCouldTellOf() throws IOException {
        node.netlinkErrno = Errno.EPROTONOSUPPORT;
        start(QUICK);
        await().atMost(LONG)
                .until(() -> logged.stream()
                        .anyMatch(line -> line.startsWith("source RDMA_NETLINK is not usable: ")
                                && line.endsWith("; there is no RDMA device that it could tell of")));

        node.add("erdma_0", 0);
        awaitHealthy("erdma_0");
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(logged)
                        .filteredOn(line -> line.startsWith("source RDMA_NETLINK is not usable: ")
                                && !line.endsWith("; there is no RDMA device that it could tell of"))
                        .hasSize(1));
    }

    @Test
    void unknownIsNotHealthyAfterTheGrace() throws IOException {
        node.add("erdma_0", 0).openErrno = Errno.EPERM;
        start(SHORT_GRACE);
        awaitHealthy("erdma_0");

        node.netlinkErrno = Errno.EMFILE;
        node.sysfsProblem = Optional.of("too many open files");
        awaitUnhealthy("erdma_0", "has not answered for 600 ms: VERBS: ibv_open_device on erdma_0 failed: EPERM (1)");

        node.netlinkErrno = 0;
        node.sysfsProblem = Optional.empty();
        awaitHealthy("erdma_0");
    }

    private ScriptedNode.Device find(String name) {
        return node.find(name);
    }

    @Test
    void aFatalErrorClosesTheContextAndTheDeviceRecoversThroughAnother() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.raise(device, new VerbsEvent.DeviceFatal());

        awaitUnhealthy("erdma_0", "fatal error");
        awaitHealthy("erdma_0");
        assertThat(node.opened).hasValue(2);
        assertThat(node.closed).hasValue(1);
    }

    private void awaitPacedFaults(ScriptedNode.Device device, long since) {
        await().atMost(LONG).until(() -> device.faults.get() >= 4);
        // Between the first and the fourth lie three pauses.
        assertThat(System.nanoTime() - since).isGreaterThan(3 * PACED.probe().toNanos());
        assertThat(logged)
                .filteredOn(line -> line.contains("died of a fault of ours"))
                .isNotEmpty()
                .doesNotHaveDuplicates();
        device.fault = Optional.empty();
    }

    @Test
    void aContextWhoseCloseFailsIsTriedAgainAtThePaceOfProbes() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(PACED);
        awaitHealthy("erdma_0");

        long before = System.nanoTime();
        device.fault = Optional.of("close broke");
        node.raise(device, new VerbsEvent.DeviceFatal());

        awaitPacedFaults(device, before);
        awaitHealthy("erdma_0");
    }

    @Test
    void aDeviceWhoseReopeningBreaksIsTriedAgainAtThePaceOfProbes() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(PACED);
        awaitHealthy("erdma_0");
        node.raise(device, new VerbsEvent.DeviceFatal());
        await().atMost(LONG).until(() -> node.closed.get() == 1);

        long before = System.nanoTime();
        device.fault = Optional.of("open broke");

        awaitPacedFaults(device, before);
        awaitHealthy("erdma_0");
    }

    @Test
    void theContextOfAVanishedDeviceIsClosedAgainAtThePaceOfProbes() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(PACED);
        awaitHealthy("erdma_0");

        long before = System.nanoTime();
        device.fault = Optional.of("close broke");
        node.remove("erdma_0");

        awaitPacedFaults(device, before);
        await().atMost(LONG).untilAsserted(() -> assertThat(node.closed).hasValue(1));
    }

    @Test
    void aFaultWhileAskingLeavesNoContextBehind() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.askFault = Optional.of("ask broke");
        start(QUICK);

        await().atMost(LONG).until(() -> node.opened.get() >= 3);

        assertThat(node.opened.get() - node.closed.get()).isLessThanOrEqualTo(1);
        device.askFault = Optional.empty();
        awaitHealthy("erdma_0");
    }

    @Test
    void afterAFatalErrorNetlinkIsBelievedOnceTheGraceIsOverWhereWeMayNotOpenTheDeviceAgain() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(SHORT_GRACE);
        awaitHealthy("erdma_0");

        device.openErrno = Errno.EPERM;
        long fatalAt = System.nanoTime();
        node.raise(device, new VerbsEvent.DeviceFatal());

        awaitUnhealthy("erdma_0", "fatal error");
        awaitHealthy("erdma_0");
        assertThat(Duration.ofNanos(System.nanoTime() - fatalAt)).isGreaterThan(SHORT_GRACE.grace());
    }

    @Test
    void aDeviceThatCannotBeOpenedStaysUnhealthyBetweenTheAttempts() throws IOException {
        node.add("erdma_0", 0).openErrno = Errno.EIO;
        HealthMonitor monitor = start(QUICK);
        awaitUnhealthy("erdma_0", "ibv_open_device on erdma_0 failed: EIO (5)");
        List<Boolean> judgements = new ArrayList<>();

        int attemptsBefore = find("erdma_0").openAttempts.get();
        await().pollInterval(Duration.ofMillis(5)).atMost(LONG).until(() -> {
            judgements.add(monitor.status().devices().getFirst().health().isHealthy());
            return find("erdma_0").openAttempts.get() > attemptsBefore;
        });

        assertThat(judgements).doesNotContain(true);
        assertThat(offers).hasSize(1);
        find("erdma_0").openErrno = 0;
        awaitHealthy("erdma_0");
    }

    @Test
    void aSickDeviceIsJudgedByNetlinkOnceWeLackTheRightToOpenIt() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.openErrno = Errno.EIO;
        start(QUICK);
        awaitUnhealthy("erdma_0", "EIO (5)");

        device.openErrno = Errno.EPERM;

        awaitHealthy("erdma_0");
    }

    @Test
    void exclusiveNamespaceModeIsUnhealthyUntilItIsSwitchedBack() throws IOException {
        node.add("erdma_0", 0);
        node.netnsMode = NetnsMode.EXCLUSIVE;
        start(QUICK);
        await().atMost(LONG).until(() -> !offers.isEmpty());
        awaitUnhealthy("erdma_0", "exclusive");

        node.netnsMode = NetnsMode.SHARED;

        awaitHealthy("erdma_0");
    }

    @Test
    void aDriverThatHangsTakesOneThreadAndNoOtherDevice() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device hung = node.add("erdma_0", 0);
        ScriptedNode.Device other = node.add("erdma_1", 1);
        HealthMonitor monitor = start(SHORT_GRACE);
        awaitHealthy("erdma_0");
        awaitHealthy("erdma_1");
        try {
            hung.hang = Optional.of(latch);
            awaitUnhealthy("erdma_0", "has not answered for 600 ms");
            node.setPort(other, PortState.DOWN);
            awaitUnhealthy("erdma_1", "port 1 is DOWN");
            node.setPort(other, PortState.ACTIVE);
            awaitHealthy("erdma_1");
            assertThat(threads("erdma-probe-erdma_0")).isEqualTo(1);
            assertThat(threads("erdma-scan")).isLessThanOrEqualTo(2);
            assertThat(monitor.age()).isLessThan(Duration.ofSeconds(10));
        } finally {
            hung.hang = Optional.empty();
            latch.countDown();
        }
        awaitHealthy("erdma_0");
    }

    @Test
    void aDeviceThatAppearsIsFoundWhileAnotherDriverHangs() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        node.add("erdma_0", 0).hang = Optional.of(latch);
        start(new HealthSettings(QUICK.probe(), QUICK.scan(), QUICK.grace(), QUICK.firstAnswer(), Paces.HASTY));
        try {
            node.add("erdma_1", 1);
            awaitHealthy("erdma_1");
        } finally {
            find("erdma_0").hang = Optional.empty();
            latch.countDown();
        }
        awaitHealthy("erdma_0");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1_000})
    void aScanThatHangsInSysfsIsReplacedOnce(int hanging) throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        node.add("erdma_0", 0);
        node.sysfsHang = Optional.of(latch);
        node.sysfsHangs.set(hanging);
        HealthMonitor monitor = start(byEvents(Paces.HASTY));
        try {
            await().atMost(LONG).until(() -> node.scans.get() >= 2);
            if (hanging == 1) {
                awaitHealthy("erdma_0");
            } else {
                node.makeNode("rdma_cm");
                await().during(Paces.HASTY.scanPatience().multipliedBy(4))
                        .atMost(LONG)
                        .until(() -> threads("erdma-scan") <= 2);
                assertThat(monitor.status().lastScan()).isEmpty();
            }
        } finally {
            node.sysfsHangs.set(0);
            latch.countDown();
        }
        awaitHealthy("erdma_0");
    }

    @Test
    void theFirstOfferTakesAsLongAsAScanIsWaitedForAndADevicesFirstAnswer() {
        assertThat(create(HealthSettings.STANDARD).firstOfferWithin()).isEqualTo(Duration.ofMillis(3_500));
    }

    @Test
    void theFirstOfferWaitsForNoFurtherScanWhileADriverHangs() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device hung = node.add("erdma_0", 0);
        hung.hang = Optional.of(latch);
        node.add("erdma_1", 1);
        start(new HealthSettings(
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                Duration.ofMinutes(15),
                Duration.ofMillis(300),
                Paces.HASTY));
        try {
            await().atMost(LONG).until(() -> !offers.isEmpty());
            assertThat(healthy("erdma_0")).contains(false);
            assertThat(healthy("erdma_1")).contains(true);
        } finally {
            hung.hang = Optional.empty();
            latch.countDown();
        }
    }

    @Test
    void stopsWithinASecondWhileADriverHangs() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device hung = node.add("erdma_0", 0);
        HealthMonitor monitor = start(SHORT_GRACE);
        awaitHealthy("erdma_0");
        hung.hang = Optional.of(latch);
        try {
            awaitUnhealthy("erdma_0", "has not answered");
            long before = System.nanoTime();
            monitor.close();
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofMillis(1_200));
        } finally {
            hung.hang = Optional.empty();
            latch.countDown();
        }
    }

    @Test
    void aContextThatCannotBeClosedAtTheEndKeepsNoOtherOpen() throws IOException {
        ScriptedNode.Device broken = node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = start(BY_EVENTS);
        awaitHealthy("erdma_1");
        awaitHealthy("erdma_0");
        broken.fault = Optional.of("close broke");

        monitor.close();

        assertThat(node.closed).hasValue(1);
        assertThat(logged).anyMatch(line -> line.contains("cannot close") && line.contains("close broke"));
        broken.fault = Optional.empty();
        node.closeContexts(broken);
    }

    @Test
    void aVanishedDeviceIsTakenFromTheListAndComesBack() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        start(BY_EVENTS);
        awaitHealthy("erdma_1");

        node.remove("erdma_1");
        await().atMost(LONG).untilAsserted(() -> assertThat(healthy("erdma_1")).isEmpty());
        assertThat(healthy("erdma_0")).contains(true);

        node.add("erdma_1", 1);
        awaitHealthy("erdma_1");
    }

    @Test
    void aDeviceThatIsBackWaitsForNoOtherThatIsHeldBack() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        start(BY_EVENTS);
        awaitHealthy("erdma_1");
        node.remove("erdma_0");
        node.remove("erdma_1");
        await().atMost(LONG).untilAsserted(() -> assertThat(offers.getLast()).isEqualTo(AdvertisedDevices.NONE));

        node.add("erdma_1", 1);
        node.removeNode("uverbs1");
        node.add("erdma_0", 0);

        await().untilAsserted(() -> assertThat(healthy("erdma_0")).contains(true));
        assertThat(healthy("erdma_1")).isEmpty();
    }

    @Test
    void aDeviceThatIsNoLongerSelectedIsNotToldAsGone() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        start(QUICK);
        awaitHealthy("erdma_0");

        device.pciDevice = OptionalInt.of(0x1017);
        device.sysfsDriver = Optional.of("mlx5_core");
        device.driverId = 1;
        await().atMost(LONG).untilAsserted(() -> assertThat(healthy("erdma_0")).isEmpty());

        assertThat(logged).anyMatch(line -> line.startsWith("erdma_0 is not offered"));
        assertThat(logged).doesNotContain("erdma_0 has gone");
    }

    @Test
    void aRenamedDeviceIsFollowed() throws IOException {
        node.rdmaNotifies = true;
        node.add("erdma_0", 0);
        start(BY_EVENTS);
        awaitHealthy("erdma_0");

        node.rename("erdma_0", "rocep0s5");

        awaitHealthy("rocep0s5");
        assertThat(healthy("erdma_0")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EMFILE, Errno.ENOSPC})
    void withoutInotifyItPollsAndSaysSoOnce(int errno) throws IOException {
        node.inotifyErrno = errno;
        node.add("erdma_0", 0);
        start(QUICK);
        awaitHealthy("erdma_0");

        node.removeNode("uverbs0");
        awaitUnhealthy("erdma_0", "is missing");
        node.makeNode("uverbs0");
        awaitHealthy("erdma_0");

        assertThat(logged)
                .filteredOn(line -> line.contains("fs.inotify.max_user_"))
                .hasSize(1);
    }

    @Test
    void tellsNothingAndLogsNothingWhileNothingChanges() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        start(QUICK_AND_PATIENT);
        awaitHealthy("erdma_1");
        int scansBefore = node.scans.get();
        int linesBefore = logged.size();

        await().atMost(LONG).until(() -> node.scans.get() >= scansBefore + 10);

        assertThat(offers).hasSize(1);
        assertThat(logged).hasSize(linesBefore);
    }

    @Test
    void manyScansLeaveNeitherThreadsNorContextsBehind() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        start(new HealthSettings(
                Duration.ofMillis(2), Duration.ofMillis(2), Duration.ofSeconds(30), LONG, Paces.BRISK));
        awaitHealthy("erdma_1");

        await().atMost(LONG).until(() -> node.scans.get() >= 100);

        assertThat(node.opened).hasValue(2);
        assertThat(threads("erdma-")).isLessThanOrEqualTo(5);
    }

    @Test
    void aCheckThatDiesOfAFaultOfOursIsLoggedOnceUntilItWorksAgain() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.openFault = Optional.of(() -> new LinkageError("test"));
        start(QUICK);
        await().atMost(LONG).until(() -> device.openAttempts.get() >= 5);
        assertThat(logged).filteredOn(line -> line.contains("died of a fault")).hasSize(1);
        awaitUnhealthy("erdma_0", "has not answered yet");

        device.openFault = Optional.empty();
        awaitHealthy("erdma_0");
        assertThat(logged).filteredOn(line -> line.contains("works again")).hasSize(1);
    }

    @Test
    void r07_aPortThatAnswersDifferentlyEachTimeIsUnhealthyAndCostsAtMostOneMessageInAWhile() throws IOException {
        ScriptedNode.Device fickle = node.add("erdma_0", 0);
        fickle.states = List.of(PortState.ACTIVE, PortState.DOWN, PortState.INIT);
        node.add("erdma_1", 1);
        start(new HealthSettings(QUICK.probe(), QUICK.scan(), QUICK.grace(), LONG, Paces.DAMPED));
        await().atMost(LONG)
                .until(() -> fickle.asked.get() >= 60 && healthy("erdma_0").equals(Optional.of(false)));

        assertThat(offers)
                .allMatch(offer -> offer.find("erdma_1")
                        .filter(entry -> entry.health().isHealthy())
                        .isPresent());
        // The first one is the start's.
        for (int i = 2; i < offeredAt.size(); i++) {
            assertThat(offeredAt.get(i) - offeredAt.get(i - 1))
                    .isGreaterThanOrEqualTo(Paces.DAMPED.betweenMessages().toNanos());
        }
    }
}
