package io.erdma.nccl;

import java.util.HashMap;
import java.util.Map;

/** Makes the evidence, with equal texts once and all texts together within bounds. */
final class EvidenceKeeper {
    /** In bytes of the log; a line of NCCL's is seldom longer, and the first of it says what it is about. */
    static final int LONGEST_TEXT = 240;

    /** Bytes of memory for all texts; beyond it the number of the line has to do. */
    private static final int ALL_TEXT = 4 << 20;

    /** What a string takes besides its characters. */
    private static final int OVERHEAD = 56;

    private static final int SHARED_TEXTS = 2_048;

    private final Map<String, String> shared = new HashMap<>();
    private int left = ALL_TEXT;

    Evidence keep(long line, byte[] bytes, int from, int to) {
        int end = Math.min(Bytes.trimEnd(bytes, from, to), from + LONGEST_TEXT);
        if (left < OVERHEAD + end - from) {
            return new Evidence(line, "");
        }
        String text = Bytes.text(bytes, from, end) + (end < to && end == from + LONGEST_TEXT ? "…" : "");
        String known = shared.get(text);
        if (known != null) {
            return new Evidence(line, known);
        }
        left -= OVERHEAD + end - from;
        if (shared.size() < SHARED_TEXTS) {
            shared.put(text, text);
        }
        return new Evidence(line, text);
    }
}
