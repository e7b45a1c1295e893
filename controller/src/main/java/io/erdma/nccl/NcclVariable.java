package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

import java.util.BitSet;

/**
 * A variable that the log shows.
 *
 * @param processes which of {@link NcclLog#processes} said it; empty for a line of a shell
 */
public record NcclVariable(String name, String value, Evidence first, BitSet processes) {
    public NcclVariable {
        requireNonNull(name, "name is null");
        requireNonNull(value, "value is null");
        requireNonNull(first, "first is null");
        processes = (BitSet) processes.clone();
    }
}
