package io.erdma.cli;

/** What the process ends with; the two high ones are those of sysexits(3). */
final class ExitCode {
    static final int OK = 0;

    /** The command did its work, and the answer is that something is wrong with the node or the job. */
    static final int NOT_USABLE = 1;

    /** What was asked can't be answered from what there is. */
    static final int CANNOT_TELL = 2;

    static final int USAGE = 64;

    /** Our own fault, or one of what we stand on: a Java exception, an output that can't be written. */
    static final int INTERNAL = 70;

    private ExitCode() {}
}
