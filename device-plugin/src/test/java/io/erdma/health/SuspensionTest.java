package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.inventory.ScriptedNode;
import io.erdma.libc.Errno;
import io.erdma.verbs.PortState;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class SuspensionTest extends MonitorScenario {
    private static final String REASON = "the driver is being changed to compat";

    private static final HealthSettings AT_ONCE_OR_NEVER = byEvents(Paces.STILL);

    /** Long before the monitor would look again by itself. */
    private static final Duration SOON = Duration.ofSeconds(10);

    private final List<Integer> closedWhenTold = new CopyOnWriteArrayList<>();

    private int openContexts() {
        return node.opened.get() - node.closed.get();
    }

    /** Unloads the driver: nothing of the devices is left. */
    private void unload(String... names) {
        for (String name : names) {
            node.remove(name);
        }
        node.removeNodeDirectory();
    }

    @Test
    void tellsEveryShareAsUnhealthyWithTheReasonAndClosesEachContext() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_1");
        awaitHealthy("erdma_0");

        monitor.suspend(REASON);

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(offers.getLast().devices())
                .hasSize(2)
                .allSatisfy(entry -> assertThat(entry.health())
                        .isInstanceOfSatisfying(
                                Unhealthy.class,
                                health -> assertThat(health.reason()).isEqualTo(REASON)));
        assertThat(openContexts()).isZero();
        assertThat(monitor.status().suspended()).contains(REASON);
    }

    @Test
    void tellsItBeforeItClosesTheFirstContext() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        onOffer = offer -> closedWhenTold.add(node.closed.get());

        monitor.suspend(REASON);

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(closedWhenTold).containsExactly(0);
        assertThat(node.closed).hasValue(1);
    }

    @Test
    void aDeviceThatHasJustChangedIsToldAtOnceToo() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        node.setPort(device, PortState.DOWN);
        awaitJudged(monitor, "erdma_0", false);
        // It flaps, so that would be told later.
        assertThat(healthy("erdma_0")).contains(true);

        monitor.suspend(REASON);

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        awaitUnhealthy("erdma_0", REASON);
    }

    @Test
    void opensAndAsksNothingUntilItIsResumed() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        HealthMonitor monitor = start(QUICK_AND_PATIENT);
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        int attempts = device.openAttempts.get();
        int asked = device.asked.get();

        // Each of these would lead to a scan and a probe otherwise.
        node.makeNode("rdma_cm");
        node.setLink(10, false);
        node.setLink(10, true);
        node.removeNode("uverbs0");
        await().atMost(LONG).until(() -> monitor.status().rdmaCm().isPresent());
        await().during(QUICK.scan().multipliedBy(3)).atMost(LONG).until(() -> openContexts() == 0);

        assertThat(device.openAttempts).hasValue(attempts);
        assertThat(device.asked).hasValue(asked);
        node.makeNode("uverbs0");
        monitor.resume();
        awaitHealthy("erdma_0");
    }

    @Test
    void isHealthyAgainAtOnceAfterTheEnd() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();

        monitor.resume();

        awaitHealthy("erdma_0");
        assertThat(offers).hasSize(3);
        assertThat(monitor.status().suspended()).isEmpty();
    }

    @Test
    void aDriverThatIsUnloadedAndLoadedMeanwhileKeepsItsDevicesInTheOffer() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_1");
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();

        unload("erdma_0", "erdma_1");
        node.add("erdma_0", 2);
        ScriptedNode.Device slow = node.add("erdma_1", 3);
        slow.state = PortState.INIT;
        monitor.resume();

        awaitHealthy("erdma_0");
        slow.state = PortState.ACTIVE;
        awaitHealthy("erdma_1");
        assertThat(offers).allMatch(offer -> offer.devices().size() == 2);
    }

    @Test
    void aDeviceThatDoesNotComeBackGoesOnlyAfterTheScanThatFollows() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = start(QUICK_AND_PATIENT);
        awaitHealthy("erdma_1");
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();

        node.remove("erdma_1");
        await().during(QUICK.scan().multipliedBy(3))
                .atMost(LONG)
                .until(() -> offers.getLast().find("erdma_1").isPresent());
        monitor.resume();

        await().atMost(LONG).untilAsserted(() -> assertThat(healthy("erdma_1")).isEmpty());
        awaitHealthy("erdma_0");
    }

    @Test
    void aScanThatBeganBeforeTakesNoDeviceFromTheOffer() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        node.sysfsHang = Optional.of(latch);
        node.sysfsHangs.set(1);
        node.makeNode("other");
        await().atMost(LONG).until(() -> node.sysfsHangs.get() == 0);

        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        node.remove("erdma_0");
        latch.countDown();
        await().atMost(LONG).until(() -> threads("erdma-scan") == 0);
        node.makeNode("rdma_cm");
        await().atMost(LONG).until(() -> monitor.status().rdmaCm().isPresent());

        assertThat(healthy("erdma_0")).contains(false);
        monitor.resume();
        await().atMost(LONG).untilAsserted(() -> assertThat(healthy("erdma_0")).isEmpty());
    }

    @Test
    void saysThatItIsNotDoneWhileADriverHoldsAContext() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device hung = node.add("erdma_0", 0);
        HealthMonitor monitor = start(QUICK_AND_PATIENT);
        awaitHealthy("erdma_0");
        hung.hang = Optional.of(latch);
        await().atMost(LONG).until(() -> threads("erdma-probe-erdma_0") == 1);
        try {
            monitor.suspend(REASON);

            assertThat(monitor.awaitSuspended(Duration.ofMillis(200))).isFalse();
            awaitUnhealthy("erdma_0", REASON);
        } finally {
            hung.hang = Optional.empty();
            latch.countDown();
        }
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(openContexts()).isZero();
    }

    @Test
    void aDeviceThatWasBeingOpenedIsClosedAgain() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.openHang = Optional.of(latch);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        await().atMost(LONG).until(() -> device.openAttempts.get() == 1);
        try {
            monitor.suspend(REASON);
            awaitUnhealthy("erdma_0", REASON);
        } finally {
            device.openHang = Optional.empty();
            latch.countDown();
        }

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(node.opened).hasValue(1);
        assertThat(openContexts()).isZero();
    }

    @Test
    void isDoneAtOnceWhereNoDeviceMayBeOpened() throws IOException {
        node.add("erdma_0", 0).openErrno = Errno.EPERM;
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");

        monitor.suspend(REASON);

        assertThat(monitor.awaitSuspended(SOON)).isTrue();
        awaitUnhealthy("erdma_0", REASON);
    }

    @Test
    void isDoneAtOnceWhenAnOpenUnderWayFails() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device device = node.add("erdma_0", 0);
        device.openErrno = Errno.EPERM;
        device.openHang = Optional.of(latch);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        await().atMost(LONG).until(() -> device.openAttempts.get() == 1);
        try {
            monitor.suspend(REASON);
            awaitUnhealthy("erdma_0", REASON);
            assertThat(monitor.awaitSuspended(Duration.ofMillis(1))).isFalse();
        } finally {
            latch.countDown();
        }

        assertThat(monitor.awaitSuspended(SOON)).isTrue();
    }

    @Test
    void askedForTwiceItChangesNothing() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");

        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(offers).hasSize(2);

        monitor.resume();
        monitor.resume();
        awaitHealthy("erdma_0");
        assertThat(offers).hasSize(3);
        assertThat(node.opened).hasValue(2);
    }

    @Test
    void anotherReasonReplacesTheFormer() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        monitor.suspend("first");
        assertThat(monitor.awaitSuspended(LONG)).isTrue();

        monitor.suspend("second");

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        awaitUnhealthy("erdma_0", "second");
    }

    @Test
    void isNotSuspendedUnlessAskedFor() throws IOException {
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        assertThat(monitor.awaitSuspended(LONG)).isFalse();

        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        monitor.resume();

        assertThat(monitor.awaitSuspended(LONG)).isFalse();
    }

    @Test
    void suspendedBeforeTheFirstScanItTellsNothingUntilItIsResumed() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = create(AT_ONCE_OR_NEVER);
        monitor.suspend(REASON);
        monitor.start();
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(offers).isEmpty();
        assertThat(node.opened).hasValue(0);

        monitor.resume();

        awaitHealthy("erdma_0");
        assertThat(offers).hasSize(1);
    }

    @Test
    void oneThatWasOverBeforeItWasSeenStillOpensEachDeviceAnew() throws IOException {
        ScriptedNode.Device device = node.add("erdma_0", 0);
        HealthMonitor monitor = start(BY_EVENTS);
        awaitHealthy("erdma_0");
        CountDownLatch latch = new CountDownLatch(1);
        // Holds the health thread until both are asked for.
        onOffer = offer -> ScriptedNode.await(latch);
        node.setPort(device, PortState.DOWN);
        await().atMost(LONG).until(() -> offers.size() == 2);

        monitor.suspend(REASON);
        monitor.resume();
        device.state = PortState.ACTIVE;
        latch.countDown();

        awaitHealthy("erdma_0");
        assertThat(node.opened).hasValue(2);
        await().atMost(LONG).until(() -> openContexts() == 1);
    }

    @Test
    void whatTheListenerFailedToTakeIsToldAgainBeforeItCounts() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        onOffer = offer -> {
            onOffer = later -> {};
            offers.removeLast();
            throw new IllegalStateException("test");
        };

        monitor.suspend(REASON);

        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        assertThat(healthy("erdma_0")).contains(false);
        assertThat(logged).anyMatch(line -> line.contains("met a fault"));
    }

    @Test
    void aDeviceThatIsSickAfterTheEndSaysWhy() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();
        node.find("erdma_0").openErrno = Errno.EIO;

        monitor.resume();

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(
                                monitor.status().devices().getFirst().health())
                        .isInstanceOfSatisfying(
                                Unhealthy.class,
                                health -> assertThat(health.reason()).contains("EIO (5)")));
        assertThat(healthy("erdma_0")).contains(false);
    }

    @Test
    void stopsWithinASecondWhileSuspended() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        monitor.suspend(REASON);
        assertThat(monitor.awaitSuspended(LONG)).isTrue();

        long before = System.nanoTime();
        monitor.close();

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
        assertThat(threads("erdma-health")).isZero();
    }
}
