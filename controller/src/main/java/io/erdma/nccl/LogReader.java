package io.erdma.nccl;

import io.erdma.nccl.ProcessTable.Merged;

/**
 * Reads a log as it comes, in pieces of any size, and keeps what matters of it: of at most 65,536 processes, and within
 * bounds that do not depend on the log. A log may be gigabytes long, of any bytes. One thread uses it.
 *
 * <p>Lines end with a newline. A carriage return separates, too, as progress bars write it, but is not counted.
 */
public final class LogReader {
    /** In bytes; of a longer line the rest is skipped. */
    public static final int LONGEST_LINE = 16 * 1024;

    private static final byte[] NCCL = Bytes.of("NCCL");
    private static final byte[] VERSION = Bytes.of("NCCL version ");
    private static final byte[] JSON_END = Bytes.of("\\n\"");
    private static final byte ESCAPE = 0x1b;
    private static final byte BELL = 0x07;

    /** Bytes at which the loop over all bytes has to look twice. */
    private static final boolean[] WATCHED = new boolean[256];

    static {
        for (byte b : Bytes.of("\r\nNSWlL")) {
            WATCHED[b] = true;
        }
        WATCHED[ESCAPE] = true;
    }

    private final EvidenceKeeper keeper = new EvidenceKeeper();
    private final Messages messages = new Messages(keeper);
    private final ProcessTable table = new ProcessTable();
    private final LossLines losses = new LossLines();
    private final Header header = new Header();

    private final byte[] carried = new byte[LONGEST_LINE + 1];
    private final byte[] plain = new byte[LONGEST_LINE + 1];
    private int carriedLength;

    /** Whether the line that is being carried is longer than that. */
    private boolean carriedIsCut;

    private long bytesRead;
    private long newlines;
    private boolean endsInLine;
    private long longLines;
    private long infoLines;
    private long otherProcesses;

    // Of the segment that is being looked at; -1 where it has none.
    private int firstNccl;
    private int lastNccl;
    private int loss;
    private boolean escaped;
    private boolean suspicious;

    /** The next bytes of the log, from one index to before another. */
    public void read(byte[] bytes, int from, int to) {
        bytesRead += to - from;
        if (to > from) {
            endsInLine = bytes[to - 1] != '\n';
        }
        int start = from;
        if (carriedLength > 0) {
            int end = from;
            while (end < to && bytes[end] != '\n' && bytes[end] != '\r') {
                end++;
            }
            carry(bytes, from, end);
            if (end == to) {
                return;
            }
            flush(true);
            if (bytes[end] == '\n') {
                newlines++;
            }
            start = end + 1;
        }
        carry(bytes, segments(bytes, start, to), to);
    }

    /** Everything read is one log; the reader must not be used any more. */
    public NcclLog finish() {
        flush(false);
        Merged merged = table.merged();
        return new NcclLog(
                bytesRead,
                newlines + (endsInLine ? 1 : 0),
                longLines,
                infoLines,
                merged.take(),
                otherProcesses,
                messages.variables().toVariables(merged.place()),
                messages.signs(),
                messages.versions(),
                losses.toTraining());
    }

    private void carry(byte[] bytes, int from, int to) {
        int room = LONGEST_LINE - carriedLength;
        int length = Math.min(to - from, room);
        System.arraycopy(bytes, from, carried, carriedLength, length);
        carriedLength += length;
        carriedIsCut |= to - from > room;
    }

    private void flush(boolean ended) {
        if (carriedLength > 0) {
            if (carriedIsCut) {
                longLines++;
            }
            lookAt(carried, 0, carriedLength, ended && !carriedIsCut);
        }
        carriedLength = 0;
        carriedIsCut = false;
    }

    /** @return where the last segment, which has no end yet, begins */
    private int segments(byte[] bytes, int from, int to) {
        boolean[] watched = WATCHED;
        int start = from;
        forget();
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if (!watched[b & 0xff]) {
                continue;
            }
            if (b == '\n' || b == '\r') {
                if (i - start > LONGEST_LINE) {
                    longLines++;
                    lookAt(bytes, start, start + LONGEST_LINE, false);
                } else {
                    segment(bytes, start, i, true);
                }
                if (b == '\n') {
                    newlines++;
                }
                start = i + 1;
                forget();
            } else {
                watch(bytes, i, to);
            }
        }
        return start;
    }

    private void lookAt(byte[] bytes, int from, int to, boolean whole) {
        forget();
        for (int i = from; i < to; i++) {
            if (WATCHED[bytes[i] & 0xff]) {
                watch(bytes, i, to);
            }
        }
        segment(bytes, from, to, whole);
    }

    private void forget() {
        firstNccl = -1;
        lastNccl = -1;
        loss = -1;
        escaped = false;
        suspicious = false;
    }

    private void watch(byte[] bytes, int at, int to) {
        int next = at + 1 < to ? bytes[at + 1] : 0;
        switch (bytes[at]) {
            case 'l', 'L' -> {
                if (next == 'o' && loss < 0 && at + 3 < to && bytes[at + 2] == 's' && bytes[at + 3] == 's') {
                    loss = at;
                }
            }
            case 'N' -> {
                if (next == 'C' && Bytes.startsWith(bytes, at, to, NCCL)) {
                    lastNccl = at;
                    if (firstNccl < 0) {
                        firstNccl = at;
                    }
                }
            }
            // Segmentation, SIGSEGV, Warning, Watchdog.
            case 'S' -> suspicious |= next == 'e' || next == 'I';
            case 'W' -> suspicious |= next == 'a';
            case ESCAPE -> escaped = true;
            default -> {}
        }
    }

    /** @param whole whether a line's end comes next; if not, the last word may be cut */
    private void segment(byte[] bytes, int from, int to, boolean whole) {
        if (firstNccl < 0 && loss < 0 && !suspicious && !escaped) {
            return;
        }
        if (escaped) {
            lookAt(plain, 0, withoutEscapes(bytes, from, to), whole);
            return;
        }
        long line = newlines + 1;
        if (suspicious) {
            SignWords.findPlain(bytes, from, to).ifPresent(sign -> messages.sign(null, sign, bytes, from, to, line));
        }
        if (loss >= 0) {
            losses.read(bytes, from, to, loss, line, keeper);
        }
        if (firstNccl >= 0) {
            nccl(bytes, from, to, whole, line);
        }
    }

    /** A segment may hold several lines of NCCL's, where something swallowed the newlines. */
    private void nccl(byte[] bytes, int from, int end, boolean whole, long line) {
        int to = end;
        if (bytes[from] == '{') {
            // {"log":"… NCCL INFO …\n","stream":"stdout",…}, as Docker writes it.
            int json = Bytes.indexOf(bytes, from, end, JSON_END);
            to = json < 0 ? end : json;
        }
        int earliest = from;
        boolean pending = false;
        ProcessNotes process = null;
        boolean warning = false;
        int message = 0;
        int at = firstNccl;
        while (at >= 0) {
            if (header.parse(bytes, earliest, to, at)) {
                if (pending) {
                    messageOf(process, warning, bytes, message, header.hostFrom, true, line);
                }
                pending = true;
                process = table.find(bytes, header);
                warning = header.warning;
                message = header.message;
                earliest = message;
                infoLines += warning ? 0 : 1;
            } else if (!pending) {
                plainNccl(bytes, from, to, at, whole, line);
            }
            at = at < lastNccl ? Bytes.indexOf(bytes, at + 1, Math.min(to, lastNccl + NCCL.length), NCCL) : -1;
        }
        if (pending) {
            messageOf(process, warning, bytes, message, to, whole, line);
        }
    }

    private void messageOf(
            ProcessNotes process, boolean warning, byte[] bytes, int from, int to, boolean whole, long line) {
        if (process == null) {
            otherProcesses++;
            return;
        }
        if (process.lines++ == 0) {
            process.firstLine = line;
        }
        messages.read(process, warning, bytes, from, to, whole, line);
    }

    private void plainNccl(byte[] bytes, int from, int to, int at, boolean whole, long line) {
        if (Bytes.startsWith(bytes, at, to, VERSION)) {
            messages.version(bytes, at, to, whole);
        } else if (at + NCCL.length < to && bytes[at + NCCL.length] == '_' && whole) {
            messages.variables().readShell(bytes, from, to, at, line, keeper);
        }
    }

    /** Copies a segment without the escape sequences of terminals; returns its new length. */
    private int withoutEscapes(byte[] bytes, int from, int to) {
        int length = 0;
        int at = from;
        while (at < to) {
            if (bytes[at] == ESCAPE) {
                at = escapeEnd(bytes, at + 1, to);
            } else {
                plain[length++] = bytes[at++];
            }
        }
        return length;
    }

    /** {@code ESC [ … letter}, {@code ESC ] … BEL} or {@code ESC ] … ESC \}, or an escape and one byte. */
    private static int escapeEnd(byte[] bytes, int from, int to) {
        if (from >= to) {
            return to;
        }
        int at = from + 1;
        if (bytes[from] == '[') {
            while (at < to && bytes[at] >= 0x20 && bytes[at] < 0x40) {
                at++;
            }
            return Math.min(at + 1, to);
        }
        if (bytes[from] == ']') {
            while (at < to && bytes[at] != BELL && bytes[at] != ESCAPE) {
                at++;
            }
            return Math.min(at < to && bytes[at] == ESCAPE ? at + 2 : at + 1, to);
        }
        return at;
    }
}
