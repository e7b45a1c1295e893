package io.erdma.pods;

import static java.util.Objects.requireNonNull;

/**
 * Why a container may not use the device it asked for.
 *
 * @param found what is so on this node, in one line
 * @param remedy what to do
 */
public record FallbackCause(Kind kind, String found, String remedy) {
    /** In the order in which they should be looked at. */
    public enum Kind {
        IWARP_MODE,
        PROVIDER_MISSING,
        NCCL_IB_DISABLE,
        NCCL_IB_HCA,
        LOCKED_MEMORY,
        PORT_DOWN
    }

    public FallbackCause {
        requireNonNull(kind, "kind is null");
        requireNonNull(found, "found is null");
        requireNonNull(remedy, "remedy is null");
    }
}
