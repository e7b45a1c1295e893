package io.erdma.device;

import io.erdma.netlink.MacAddress;
import java.util.Optional;

/** The network interface that an RDMA device is bound to. */
public record Netdev(int index, String name, Optional<MacAddress> mac) {}
