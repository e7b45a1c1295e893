package io.erdma.netlink;

import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;

/**
 * A 48-bit hardware address.
 *
 * @param value in the low 48 bits, first byte highest
 */
public record MacAddress(long value) {
    public MacAddress {
        if (value >>> 48 != 0) {
            throw new IllegalArgumentException("a MAC address has 48 bits: " + Long.toHexString(value));
        }
    }

    /** @param bytes six bytes; anything else (tunnels, InfiniBand) is no MAC address: empty */
    public static Optional<MacAddress> of(byte[] bytes) {
        if (bytes.length != 6) {
            return Optional.empty();
        }
        long value = 0;
        for (byte b : bytes) {
            value = value << 8 | (b & 0xff);
        }
        return Optional.of(new MacAddress(value));
    }

    /** Upper or lower case, separated by colons or dashes. */
    public static MacAddress parse(String text) {
        String digits = text.strip().replaceAll("[:-]", "");
        if (!digits.matches("[0-9a-fA-F]{12}")) {
            throw new IllegalArgumentException("not a MAC address: " + text);
        }
        return new MacAddress(HexFormat.fromHexDigitsToLong(digits));
    }

    /** Upper-case digits without separators: the PNETID by which SMC-R joins an interface and an RDMA device. */
    public String compact() {
        return "%012X".formatted(value);
    }

    @Override
    public String toString() {
        return String.join(
                ":", "%012x".formatted(value).toLowerCase(Locale.ROOT).split("(?<=\\G..)", 0));
    }
}
