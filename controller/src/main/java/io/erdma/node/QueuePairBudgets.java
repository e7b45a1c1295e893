package io.erdma.node;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisedDevices.Entry;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.DeviceInventory;
import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.InterfacesStatus;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * How many queue pairs each device may have. The cloud gives an instance a quota and a controller divides it among the
 * interfaces; only the node's ERdmaDevice object tells of it, so that it is unknown with local discovery.
 */
final class QueuePairBudgets {
    private QueuePairBudgets() {}

    /** By the device's name; without those whose budget is unknown. */
    static Map<String, Integer> of(AdvertisedDevices offered, InterfacesStatus interfaces) {
        Map<String, Integer> budgets = new TreeMap<>();
        for (Entry entry : offered.devices()) {
            macOf(entry.device())
                    .map(interfaces.queuePairs()::get)
                    .ifPresent(budget -> budgets.put(entry.device().name(), budget));
        }
        return budgets;
    }

    private static Optional<MacAddress> macOf(RdmaDevice device) {
        return DeviceInventory.macOf(device.nodeGuid()).or(() -> device.netdev().flatMap(Netdev::mac));
    }

    /** Of all devices together; unknown unless that of each is known. */
    static OptionalLong total(AdvertisedDevices offered, InterfacesStatus interfaces) {
        Map<String, Integer> budgets = of(offered, interfaces);
        return budgets.isEmpty() || budgets.size() < offered.devices().size()
                ? OptionalLong.empty()
                : OptionalLong.of(
                        budgets.values().stream().mapToLong(Integer::longValue).sum());
    }
}
