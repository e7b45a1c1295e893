package io.erdma.netlink;

import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;

/**
 * An RDMA device as RDMA netlink lists it.
 *
 * @param index the kernel's device number
 * @param ports number of ports
 * @param protocol "roce", "iw", "ib", …; empty on kernels that do not give it
 */
public record RdmaLink(
        int index, String name, int ports, NodeGuid nodeGuid, NodeType nodeType, String firmware, String protocol) {}
