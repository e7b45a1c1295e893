package io.erdma.nccl;

/**
 * The head of NCCL's lines, {@code host:pid:tid [gpu] NCCL INFO } or {@code host:pid:tid [gpu] file:line NCCL WARN }, newer
 * ones with {@code (function)} behind the line and also at the level ATTN; found from its end, since anything may stand before it: timestamps, the tags of launchers, text without a newline. One object
 * is used for all lines.
 */
final class Header {
    private static final byte[] INFO = Bytes.of("NCCL INFO ");
    private static final byte[] WARN = Bytes.of("NCCL WARN ");
    private static final byte[] ATTENTION = Bytes.of("NCCL ATTN ");

    /** HOST_NAME_MAX of Linux. */
    static final int LONGEST_HOST = 64;

    int hostFrom;
    int hostTo;
    int pid;
    boolean warning;
    int message;

    /**
     * @param nccl where the letters NCCL stand
     * @return whether they end a head that begins at from or later; if so, the fields tell its parts
     */
    boolean parse(byte[] bytes, int from, int to, int nccl) {
        warning = Bytes.startsWith(bytes, nccl, to, WARN) || Bytes.startsWith(bytes, nccl, to, ATTENTION);
        if (!warning && !Bytes.startsWith(bytes, nccl, to, INFO)) {
            return false;
        }
        message = nccl + INFO.length;
        int at = nccl - 1;
        if (gpu(bytes, from, at)) {
            return true;
        }
        int beforePlace = beforeWord(bytes, from, at);
        return gpu(bytes, from, beforePlace) || gpu(bytes, from, beforeWord(bytes, from, beforePlace));
    }

    /** Skips the file and line of a warning, or its function. */
    private static int beforeWord(byte[] bytes, int from, int blank) {
        int at = blank - 1;
        while (at > from && bytes[at] != ' ') {
            at--;
        }
        return at;
    }

    /** @param blank where the blank after {@code [gpu]} has to be */
    private boolean gpu(byte[] bytes, int from, int blank) {
        int at = blank;
        if (at - 3 < from || bytes[at] != ' ' || bytes[at - 1] != ']') {
            return false;
        }
        at = digitsStart(bytes, from, at - 1);
        if (at > from && bytes[at - 1] == '-') {
            at--;
        }
        if (at - 2 < from || bytes[at - 1] != '[' || bytes[at - 2] != ' ') {
            return false;
        }
        int tidTo = at - 2;
        int tidFrom = digitsStart(bytes, from, tidTo);
        if (tidFrom == tidTo || tidFrom - 1 < from || bytes[tidFrom - 1] != ':') {
            return false;
        }
        int pidTo = tidFrom - 1;
        int pidFrom = digitsStart(bytes, from, pidTo);
        pid = Bytes.number(bytes, pidFrom, pidTo);
        if (pid < 0 || pidFrom - 1 < from || bytes[pidFrom - 1] != ':') {
            return false;
        }
        hostTo = pidFrom - 1;
        hostFrom = hostTo;
        int earliest = Math.max(from, hostTo - LONGEST_HOST);
        while (hostFrom > earliest && isHostByte(bytes[hostFrom - 1])) {
            hostFrom--;
        }
        return hostFrom < hostTo;
    }

    private static int digitsStart(byte[] bytes, int from, int end) {
        int at = end;
        while (at > from && Bytes.isDigit(bytes[at - 1])) {
            at--;
        }
        return at;
    }

    /** NCCL cuts the host's name at its first dot. */
    private static boolean isHostByte(int b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || Bytes.isDigit(b) || b == '-' || b == '_';
    }
}
