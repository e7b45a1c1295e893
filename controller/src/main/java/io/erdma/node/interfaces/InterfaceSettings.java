package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import java.net.InetSocketAddress;

/**
 * Which interfaces and devices of the node are the agent's, as configured.
 *
 * @param localDiscovery true: those found on the node; false: those that the node's ERdmaDevice object names
 * @param rules which devices local discovery offers; of no meaning without it
 * @param nodeName the Node object's name, which the ERdmaDevice object shares
 * @param metadata where the metadata service is
 * @param jumboFrameMtu in bytes, for interfaces of instances with jumbo frames
 * @param jumboFrameMtuGiven whether somebody chose that MTU, which local discovery takes as word that the instance has
 *     jumbo frames: nothing on the node tells it
 */
public record InterfaceSettings(
        boolean localDiscovery,
        ExposedRules rules,
        String nodeName,
        InetSocketAddress metadata,
        int jumboFrameMtu,
        boolean jumboFrameMtuGiven) {
    public InterfaceSettings {
        requireNonNull(rules, "rules is null");
        requireNonNull(nodeName, "nodeName is null");
        requireNonNull(metadata, "metadata is null");
    }
}
