package io.erdma.node.interfaces;

import java.io.IOException;

/** A value that the metadata service did not give; the message says which one, from where, and why. */
final class MetadataException extends IOException {
    private static final long serialVersionUID = 1L;

    MetadataException(String message) {
        super(message);
    }

    MetadataException(String message, Throwable cause) {
        super(message, cause);
    }
}
