package io.erdma.node.interfaces;

import io.erdma.device.RdmaDevice;
import io.erdma.health.DeviceChoice;
import io.erdma.netlink.MacAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Which interfaces are ours when nobody assigns any: those of the eRDMA devices that the node has and offers. */
final class LocalDiscovery {
    private LocalDiscovery() {}

    /** @param found as they are now; devices that a driver brings later make another list */
    static List<Candidate> candidates(List<RdmaDevice> found, DeviceChoice offered) {
        List<Candidate> candidates = new ArrayList<>();
        for (RdmaDevice device : found) {
            Optional<MacAddress> permanent = DeviceMacs.of(device).stream().findFirst();
            if (permanent.isPresent() && offered.whyNot(device).isEmpty()) {
                candidates.add(new Candidate(permanent.get(), device.name(), OptionalInt.empty()));
            }
        }
        return List.copyOf(candidates);
    }

    /** Devices whose interface cannot be told, each with why. */
    static List<String> problems(List<RdmaDevice> found, DeviceChoice offered) {
        return found.stream()
                .filter(device -> offered.whyNot(device).isEmpty())
                .filter(device -> DeviceMacs.of(device).equals(Set.of()))
                .map(device -> device.name() + ": its MAC address is not known, so its interface is left as it is")
                .toList();
    }
}
