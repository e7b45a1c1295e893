package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.node.net.WantedInterfaces;
import java.util.List;

/**
 * What is known of the node's interfaces at one moment.
 *
 * @param source where it comes from, in a few words
 * @param decided whether the source has told which devices to offer; until then nothing is offered
 * @param problems what could not be read or is left as it is, one line each
 */
public record InterfacesStatus(
        String source, boolean decided, OfferedDevices offered, WantedInterfaces wanted, List<String> problems) {
    public InterfacesStatus {
        requireNonNull(source, "source is null");
        requireNonNull(offered, "offered is null");
        requireNonNull(wanted, "wanted is null");
        problems = List.copyOf(problems);
    }
}
