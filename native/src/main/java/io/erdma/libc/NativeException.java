package io.erdma.libc;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Optional;

/** A call into libc, the kernel or libibverbs that failed: which function, with which errno, and on what. */
public final class NativeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;
    private final String subject;
    private final String explanation;

    /**
     * @param function the C function that failed, for example {@code ibv_open_device}
     * @param errno the positive errno value; 0 when the call gave none
     * @param subject what it was called on, for example a device name or a path
     */
    public NativeException(String function, int errno, String subject) {
        this(function, errno, subject, Optional.empty());
    }

    /** @param explanation the kernel's own words beside the errno, where it gave some */
    public NativeException(String function, int errno, String subject, Optional<String> explanation) {
        super(function + " on " + subject
                + explanation.map(text -> " (\"" + text + "\")").orElse("") + " failed: " + Errno.describe(errno));
        this.function = requireNonNull(function, "function is null");
        this.errno = errno;
        this.subject = requireNonNull(subject, "subject is null");
        this.explanation = explanation.orElse("");
    }

    private NativeException(String message, String function, String library) {
        super(message);
        this.function = function;
        this.errno = 0;
        this.subject = library;
        this.explanation = "";
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

    /** The kernel's own words beside the errno; netlink gives some for most refusals. */
    public Optional<String> explanation() {
        return explanation.isEmpty() ? Optional.empty() : Optional.of(explanation);
    }
}
