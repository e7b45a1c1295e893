package io.erdma.netlink;

/**
 * A device's uverbs node.
 *
 * @param name "uverbs0"
 * @param driverId {@code enum rdma_driver_id}: 19 erdma, 14 rxe; −1 when not given
 */
public record RdmaCharacterDevice(String name, int driverId, int major, int minor, int abi) {
    public static final int DRIVER_ERDMA = 19;
}
