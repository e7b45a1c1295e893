package io.erdma.netlink;

import io.erdma.verbs.PortState;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One port of an RDMA device.
 *
 * @param physState 5 = link up, 3 = disabled
 * @param netdevIndex ifindex of the bound interface; absent when it lives in another network namespace
 */
public record RdmaPort(
        int deviceIndex,
        int port,
        PortState state,
        int physState,
        OptionalInt netdevIndex,
        Optional<String> netdevName) {}
