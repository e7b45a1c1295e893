package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import java.net.InetAddress;
import java.util.Optional;

/**
 * What the metadata service knows of one interface.
 *
 * @param address its primary IPv4 address with the prefix length of its vSwitch; absent: it has none (IPv6 only)
 * @param gateway of its vSwitch, IPv4
 */
record InterfaceFacts(MacAddress mac, Optional<IpPrefix> address, Optional<InetAddress> gateway) {
    InterfaceFacts {
        requireNonNull(mac, "mac is null");
        requireNonNull(address, "address is null");
        requireNonNull(gateway, "gateway is null");
    }
}
