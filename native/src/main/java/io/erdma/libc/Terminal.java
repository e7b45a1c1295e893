package io.erdma.libc;

/** What a descriptor of this process leads to. */
public final class Terminal {
    public static final int STANDARD_OUTPUT = 1;

    private Terminal() {}

    /** Whether somebody reads along at a terminal; false for a file or a pipe, and where libc can't be called. */
    public static boolean isTerminal(int fd) {
        try {
            return LibC.load().isatty(fd) == 1;
        } catch (NativeException e) {
            return false;
        }
    }
}
