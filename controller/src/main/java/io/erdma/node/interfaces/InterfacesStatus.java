package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.MacAddress;
import io.erdma.node.net.WantedInterfaces;
import java.util.List;
import java.util.Map;

/**
 * What is known of the node's interfaces at one moment.
 *
 * @param source where it comes from, in a few words
 * @param decided whether the source has told which devices to offer; until then nothing is offered
 * @param queuePairs how many each interface may have, where that is known
 * @param problems what could not be read or is left as it is, one line each
 */
public record InterfacesStatus(
        String source,
        boolean decided,
        OfferedDevices offered,
        WantedInterfaces wanted,
        Map<MacAddress, Integer> queuePairs,
        List<String> problems) {
    public InterfacesStatus {
        requireNonNull(source, "source is null");
        requireNonNull(offered, "offered is null");
        requireNonNull(wanted, "wanted is null");
        queuePairs = Map.copyOf(queuePairs);
        problems = List.copyOf(problems);
    }

    /** One that does not know how many queue pairs an interface may have. */
    public InterfacesStatus(
            String source, boolean decided, OfferedDevices offered, WantedInterfaces wanted, List<String> problems) {
        this(source, decided, offered, wanted, Map.of(), problems);
    }
}
