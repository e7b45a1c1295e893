package io.erdma.device;

/** Whether a container that gets a device also gets {@code /dev/infiniband/rdma_cm}. */
public enum RdmaCmUse {
    /** iWARP (driver mode default): connections are made through RDMA_CM, so without the node the device is useless. */
    REQUIRED,
    /** The driver doesn't tell its mode and the device is RoCE-like: given where it exists. */
    IF_PRESENT,
    /** compat and ofed: peers exchange queue-pair numbers themselves. */
    UNUSED
}
