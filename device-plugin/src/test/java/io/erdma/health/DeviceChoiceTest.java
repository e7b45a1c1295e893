package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.health.MonitorStatus.Withheld;
import io.erdma.inventory.ScriptedNode;
import io.erdma.verbs.PortState;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class DeviceChoiceTest extends MonitorScenario {
    private static final HealthSettings AT_ONCE_OR_NEVER = byEvents(Paces.STILL);

    private static DeviceChoice without(String name, String reason) {
        return device -> device.name().equals(name) ? Optional.of(reason) : Optional.empty();
    }

    private void awaitOffered(String... names) {
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(offers.getLast().devices())
                        .extracting(entry -> entry.device().name())
                        .containsExactly(names));
    }

    @Test
    void aWithheldDeviceLeavesTheOfferAtOnceAndIsWatchedOn() throws IOException {
        ScriptedNode.Device withheld = node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_1");

        monitor.choose(without("erdma_0", "its interface is not prepared"));
        awaitOffered("erdma_1");

        assertThat(monitor.status().withheld())
                .containsExactly(new Withheld("erdma_0", "its interface is not prepared"));
        node.setPort(withheld, PortState.DOWN);
        awaitJudged(monitor, "erdma_0", false);
        assertThat(offers).hasSize(2);
    }

    @Test
    void aDeviceThatIsChosenAgainReturnsAtOnceHoweverSoon() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(AT_ONCE_OR_NEVER);
        awaitHealthy("erdma_0");
        monitor.choose(without("erdma_0", "not prepared"));
        awaitOffered();

        monitor.choose(DeviceChoice.ALL);

        awaitHealthy("erdma_0");
        assertThat(offers).hasSize(3);
        assertThat(monitor.status().withheld()).isEmpty();
    }

    @Test
    void theFirstOfferWaitsForNoWithheldDevice() throws IOException {
        CountDownLatch latch = new CountDownLatch(1);
        ScriptedNode.Device hung = node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = create(BY_EVENTS);
        monitor.choose(without("erdma_0", "not prepared"));
        hung.openHang = Optional.of(latch);
        try {
            monitor.start();

            awaitHealthy("erdma_1");
            assertThat(offers).hasSize(1);
            assertThat(healthy("erdma_0")).isEmpty();
        } finally {
            hung.openHang = Optional.empty();
            latch.countDown();
        }
    }

    @Test
    void aChoiceThatWithholdsAllGivesAnEmptyListAtOnce() throws IOException {
        node.add("erdma_0", 0);
        node.add("erdma_1", 1);
        HealthMonitor monitor = create(BY_EVENTS);
        monitor.choose(device -> Optional.of("the node is not prepared"));
        monitor.start();

        await().atMost(LONG).until(() -> !offers.isEmpty());

        assertThat(offers).containsExactly(AdvertisedDevices.NONE);
        assertThat(monitor.status().withheld()).extracting(Withheld::device).containsExactly("erdma_0", "erdma_1");
    }

    @Test
    void saysEachChangeOnceInTheLog() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = start(QUICK_AND_PATIENT);
        awaitHealthy("erdma_0");
        int before = logged.size();

        monitor.choose(without("erdma_0", "its interface is not prepared"));
        awaitOffered();
        int scans = node.scans.get();
        await().atMost(LONG).until(() -> node.scans.get() > scans + 2);
        monitor.choose(without("erdma_0", "its interface has no address"));
        await().atMost(LONG)
                .until(() -> monitor.status().withheld().getFirst().reason().contains("no address"));
        monitor.choose(DeviceChoice.ALL);
        awaitHealthy("erdma_0");

        List<String> lines = logged.subList(before, logged.size());
        assertThat(lines)
                .containsExactly(
                        "erdma_0 is withheld: its interface is not prepared",
                        "erdma_0 is withheld: its interface has no address",
                        "erdma_0 healthy");
    }

    @Test
    void aWithheldDeviceThatVanishesIsWithheldNoMore() throws IOException {
        node.add("erdma_0", 0);
        HealthMonitor monitor = create(BY_EVENTS);
        monitor.choose(without("erdma_0", "not prepared"));
        monitor.start();
        await().atMost(LONG).until(() -> !monitor.status().withheld().isEmpty());

        node.remove("erdma_0");

        await().atMost(LONG).until(() -> monitor.status().devices().isEmpty());
        assertThat(monitor.status().withheld()).isEmpty();
    }
}
