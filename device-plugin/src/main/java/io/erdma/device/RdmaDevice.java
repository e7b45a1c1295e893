package io.erdma.device;

import static java.util.Objects.requireNonNull;

import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An RDMA device of this node.
 *
 * @param name for example {@code erdma_0}; the first part of its shares' ids
 * @param driver the kernel driver's name ("erdma", "rdma_rxe", "mlx5_core"); "unknown" when no source tells
 * @param netdev the bound network interface; absent when it is in another namespace or there is none
 * @param uverbs path of its character device on the host, {@code /dev/infiniband/uverbs0}; absent when the kernel made
 *     none
 * @param numaNode absent when unknown; never negative
 * @param rdmaCm whether containers need {@code /dev/infiniband/rdma_cm} beside the uverbs node
 */
public record RdmaDevice(
        String name,
        NodeGuid nodeGuid,
        NodeType nodeType,
        String driver,
        Optional<String> pciAddress,
        Optional<Netdev> netdev,
        Optional<Path> uverbs,
        OptionalInt numaNode,
        RdmaCmUse rdmaCm) {
    public RdmaDevice {
        requireNonNull(name, "name is null");
        requireNonNull(nodeGuid, "nodeGuid is null");
        requireNonNull(nodeType, "nodeType is null");
        requireNonNull(driver, "driver is null");
        requireNonNull(pciAddress, "pciAddress is null");
        requireNonNull(netdev, "netdev is null");
        requireNonNull(uverbs, "uverbs is null");
        requireNonNull(numaNode, "numaNode is null");
        requireNonNull(rdmaCm, "rdmaCm is null");
    }
}
