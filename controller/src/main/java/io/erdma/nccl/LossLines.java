package io.erdma.nccl;

import io.erdma.nccl.NcclLog.Training;
import java.util.BitSet;
import java.util.Optional;

/**
 * Finds the lines that show training go on: a loss with its number, as PyTorch examples ({@code loss=2.36},
 * {@code Loss 6.9}), trainers ({@code 'loss': 2.3}) and Megatron ({@code lm loss: 1.03E+01}) print it.
 */
final class LossLines {
    private static final int MOST_RANKS = 65_536;
    private static final byte[] RANK = Bytes.of("[rank");
    private static final byte[] MPI_JOB = Bytes.of("[1,");
    private static final byte[] OSS = Bytes.of("oss");
    private static final byte[] TENSOR = Bytes.of("tensor(");
    private static final byte[] NAN = Bytes.of("nan");
    private static final byte[] INF = Bytes.of("inf");
    private static final int WORD = 4;

    private long steps;
    private Evidence first;
    private long last;
    private final BitSet ranks = new BitSet();

    /** @param at where the first word loss stands */
    void read(byte[] bytes, int from, int to, int at, long line, EvidenceKeeper keeper) {
        int word = at;
        while (!hasNumber(bytes, word + WORD, to)) {
            do {
                word = Bytes.indexOf(bytes, word + 2, to, OSS) - 1;
            } while (word > at && bytes[word] != 'l' && bytes[word] != 'L');
            if (word <= at) {
                return;
            }
        }
        steps++;
        last = line;
        if (first == null) {
            first = keeper.keep(line, bytes, from, to);
        }
        int rank = rank(bytes, from, to);
        if (rank >= 0 && rank < MOST_RANKS) {
            ranks.set(rank);
        }
    }

    private static boolean hasNumber(byte[] bytes, int from, int to) {
        int at = from;
        if (at < to && (bytes[at] == '\'' || bytes[at] == '"')) {
            at++;
        }
        int word = at;
        at = skipBlanks(bytes, at, to);
        if (at < to && (bytes[at] == ':' || bytes[at] == '=')) {
            at = skipBlanks(bytes, at + 1, to);
        } else if (at == word) {
            return false;
        }
        if (Bytes.startsWith(bytes, at, to, TENSOR)) {
            at += TENSOR.length;
        }
        if (at < to && (bytes[at] == '-' || bytes[at] == '+' || bytes[at] == '.')) {
            at++;
        }
        return at < to
                && (Bytes.isDigit(bytes[at])
                        || Bytes.startsWith(bytes, at, to, NAN)
                        || Bytes.startsWith(bytes, at, to, INF));
    }

    private static int skipBlanks(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && (bytes[at] == ' ' || bytes[at] == '\t')) {
            at++;
        }
        return at;
    }

    /** By the tags of PyTorch, {@code mpirun --tag-output} and {@code srun --label}; -1 without any. */
    private static int rank(byte[] bytes, int from, int to) {
        if (Bytes.startsWith(bytes, from, to, RANK)) {
            return tagged(bytes, from + RANK.length, to, ']');
        }
        if (Bytes.startsWith(bytes, from, to, MPI_JOB)) {
            return tagged(bytes, from + MPI_JOB.length, to, ']');
        }
        return tagged(bytes, from, to, ':');
    }

    private static int tagged(byte[] bytes, int from, int to, char end) {
        int digits = Bytes.digitsEnd(bytes, from, to);
        return digits < to && bytes[digits] == end ? Bytes.number(bytes, from, digits) : -1;
    }

    Training toTraining() {
        return new Training(steps, Optional.ofNullable(first), last, ranks);
    }
}
