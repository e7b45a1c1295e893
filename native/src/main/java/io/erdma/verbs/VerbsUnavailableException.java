package io.erdma.verbs;

/** libibverbs could not be loaded or lacks a symbol; the message is one line that says what to install. */
public final class VerbsUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    public VerbsUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
