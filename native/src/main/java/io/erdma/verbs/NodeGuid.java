package io.erdma.verbs;

/**
 * The 64-bit GUID of an RDMA device, in host order.
 *
 * @param value 0 when the device has none or it could not be read
 */
public record NodeGuid(long value) {
    /** Four groups of four hex digits, as {@code ibv_devinfo} and sysfs write it: {@code 0216:3eff:fe00:0001}. */
    @Override
    public String toString() {
        return "%04x:%04x:%04x:%04x"
                .formatted(value >>> 48, (value >>> 32) & 0xffff, (value >>> 16) & 0xffff, value & 0xffff);
    }
}
