package io.erdma.netlink;

import java.io.IOException;

/** Bytes that are no netlink message: a length points outside of what was received, or a header is cut off. */
final class NetlinkFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    NetlinkFormatException(String message) {
        super(message);
    }
}
