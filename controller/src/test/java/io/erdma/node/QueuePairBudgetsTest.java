package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.InterfacesStatus;
import io.erdma.node.interfaces.OfferedDevices;
import io.erdma.node.net.WantedInterfaces;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class QueuePairBudgetsTest {
    private static final MacAddress FIRST = MacAddress.parse("00:16:3e:00:00:01");
    private static final MacAddress SECOND = MacAddress.parse("00:16:3e:00:00:02");

    private static AdvertisedDevices.Entry device(String name, long guid, Optional<MacAddress> mac) {
        return new AdvertisedDevices.Entry(
                new RdmaDevice(
                        name,
                        new NodeGuid(guid),
                        NodeType.CA,
                        "erdma",
                        Optional.empty(),
                        mac.map(address -> new Netdev(3, "eth1", Optional.of(address))),
                        Optional.empty(),
                        OptionalInt.empty(),
                        RdmaCmUse.UNUSED),
                new DeviceHealth.Healthy(Instant.EPOCH));
    }

    private static InterfacesStatus known(Map<MacAddress, Integer> queuePairs) {
        return new InterfacesStatus(
                "the object", true, new OfferedDevices.Everything(), WantedInterfaces.NONE, queuePairs, List.of());
    }

    /** The GUID holds the address also while the interface is in another namespace. */
    @Test
    void findsADeviceByItsGuidElseByItsInterface() {
        var offered = new AdvertisedDevices(
                List.of(
                        device("erdma_0", 0x02163efffe000001L, Optional.empty()),
                        device("erdma_1", 0, Optional.of(SECOND))),
                Optional.empty());

        assertThat(QueuePairBudgets.of(offered, known(Map.of(FIRST, 1024, SECOND, 512))))
                .isEqualTo(Map.of("erdma_0", 1024, "erdma_1", 512));
        assertThat(QueuePairBudgets.total(offered, known(Map.of(FIRST, 1024, SECOND, 512))))
                .hasValue(1536);
    }

    @Test
    void knowsNoSumWhileOneIsUnknown() {
        var offered = new AdvertisedDevices(
                List.of(
                        device("erdma_0", 0x02163efffe000001L, Optional.empty()),
                        device("erdma_1", 0, Optional.of(SECOND))),
                Optional.empty());

        assertThat(QueuePairBudgets.of(offered, known(Map.of(FIRST, 1024)))).isEqualTo(Map.of("erdma_0", 1024));
        assertThat(QueuePairBudgets.total(offered, known(Map.of(FIRST, 1024)))).isEmpty();
        assertThat(QueuePairBudgets.total(AdvertisedDevices.NONE, known(Map.of(FIRST, 1024))))
                .isEmpty();
    }
}
