package io.erdma.node.net;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import java.net.InetAddress;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a secondary eRDMA interface of this node is to have.
 *
 * @param mac the permanent address of its network card
 * @param cardIndex the network card of the instance that it belongs to, from 0; absent where nobody told
 * @param address its own address with the prefix length of its vSwitch; absent: the link is only brought up
 * @param gateway of the vSwitch; absent: no route beyond it
 * @param mtu in bytes; absent: as it is
 */
public record WantedInterface(
        MacAddress mac,
        OptionalInt cardIndex,
        Optional<IpPrefix> address,
        Optional<InetAddress> gateway,
        OptionalInt mtu) {
    public WantedInterface {
        requireNonNull(mac, "mac is null");
        requireNonNull(cardIndex, "cardIndex is null");
        requireNonNull(address, "address is null");
        requireNonNull(gateway, "gateway is null");
        requireNonNull(mtu, "mtu is null");
    }
}
