package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

/**
 * Where the log says something.
 *
 * @param line counted from 1, by newlines
 * @param text what stands there, without the prefix of an NCCL line and cut where it is long; of unknown origin, so to be
 *     escaped where it is shown; empty once the reader has kept as much text as it may
 */
public record Evidence(long line, String text) {
    public Evidence {
        if (line < 1) {
            throw new IllegalArgumentException("line " + line + ": lines are counted from 1");
        }
        requireNonNull(text, "text is null");
    }
}
