package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.MacAddress;
import java.util.OptionalInt;

/**
 * An interface that the agent may look after.
 *
 * @param name for messages: the RDMA device's, or the interface's id in the cloud
 * @param cardIndex the network card of the instance that it is on, where that was told
 */
record Candidate(MacAddress mac, String name, OptionalInt cardIndex) {
    Candidate {
        requireNonNull(mac, "mac is null");
        requireNonNull(name, "name is null");
        requireNonNull(cardIndex, "cardIndex is null");
    }
}
