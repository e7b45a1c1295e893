package io.erdma.verbs;

/**
 * A 16-byte GID, network order.
 *
 * @param high the first eight bytes
 * @param low the last eight bytes
 */
public record Gid(long high, long low) {
    public boolean isZero() {
        return high == 0 && low == 0;
    }
}
