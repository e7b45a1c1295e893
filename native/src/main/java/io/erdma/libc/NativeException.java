package io.erdma.libc;

import static java.util.Objects.requireNonNull;

import java.io.IOException;

/** A call into libc, the kernel or libibverbs that failed: which function, with which errno, and on what. */
public final class NativeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;
    private final String subject;

    /**
     * @param function the C function that failed, for example {@code ibv_open_device}
     * @param errno the positive errno value; 0 when the call gave none
     * @param subject what it was called on, for example a device name or a path
     */
    public NativeException(String function, int errno, String subject) {
        super(function + " on " + subject + " failed: " + Errno.describe(errno));
        this.function = requireNonNull(function, "function is null");
        this.errno = errno;
        this.subject = requireNonNull(subject, "subject is null");
    }

    private NativeException(String message, String function, String library) {
        super(message);
        this.function = function;
        this.errno = 0;
        this.subject = library;
    }

    /** A library that can't be loaded or lacks a symbol: the loader gives a reason instead of an errno. */
    static NativeException unusableLibrary(String function, String library, String reason) {
        return new NativeException(reason, function, requireNonNull(library, "library is null"));
    }

    public String function() {
        return function;
    }

    public int errno() {
        return errno;
    }

    public String subject() {
        return subject;
    }
}
