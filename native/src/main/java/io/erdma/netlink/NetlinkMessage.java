package io.erdma.netlink;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One message: its header's fields, and what follows the header. Headers are in host byte order.
 *
 * @param sequence of the request that it answers; 0 in notifications
 * @param payload from position 0; its owner must not move its position
 */
record NetlinkMessage(int type, int flags, int sequence, ByteBuffer payload) {
    static final int HEADER = 16;

    static final int NOOP = 1;
    static final int ERROR = 2;
    static final int DONE = 3;
    static final int OVERRUN = 4;

    static final int FLAG_REQUEST = 1;
    static final int FLAG_ACK = 4;
    /** The table changed while it was dumped. */
    static final int FLAG_DUMP_INTERRUPTED = 0x10;

    static final int FLAG_DUMP = 0x300;
    /** In a request that adds: refuse where there is one already. */
    static final int FLAG_EXCLUSIVE = 0x200;
    /** In a request that adds: without it, only what exists may be changed. */
    static final int FLAG_CREATE = 0x400;
    /** In an acknowledgement: it repeats only the header of the request. */
    static final int FLAG_CAPPED = 0x100;
    /** In an acknowledgement: attributes follow. */
    static final int FLAG_ACK_ATTRIBUTES = 0x200;

    private static final int ERROR_TEXT = 1;

    /**
     * The kernel's verdict on a request.
     *
     * @param errno 0 when all went well
     * @param text the kernel's own explanation, where it gives one
     */
    record Verdict(int errno, Optional<String> text) {}

    static int align(int length) {
        return (length + 3) & ~3;
    }

    /** All messages of one datagram. */
    static List<NetlinkMessage> split(byte[] datagram) throws NetlinkFormatException {
        ByteBuffer bytes = ByteBuffer.wrap(datagram).order(ByteOrder.nativeOrder());
        var messages = new ArrayList<NetlinkMessage>();
        int at = 0;
        while (at < datagram.length) {
            int rest = datagram.length - at;
            if (rest < HEADER) {
                throw new NetlinkFormatException("a datagram of " + datagram.length + " bytes ends within the header of"
                        + " its message at byte " + at);
            }
            int length = bytes.getInt(at);
            if (length < HEADER || length > rest) {
                throw new NetlinkFormatException("the message at byte " + at + " of a datagram of " + datagram.length
                        + " bytes claims " + Integer.toUnsignedString(length) + " bytes");
            }
            messages.add(new NetlinkMessage(
                    Short.toUnsignedInt(bytes.getShort(at + 4)),
                    Short.toUnsignedInt(bytes.getShort(at + 6)),
                    bytes.getInt(at + 8),
                    bytes.slice(at + HEADER, length - HEADER).order(ByteOrder.nativeOrder())));
            // length ≤ rest, so this can't overflow; the last message may come without its padding.
            at += Math.min(align(length), rest);
        }
        return messages;
    }

    /** A request to the kernel, with the flag REQUEST added. */
    static byte[] request(int type, int flags, int sequence, byte[] body) {
        return ByteBuffer.allocate(HEADER + align(body.length))
                .order(ByteOrder.nativeOrder())
                .putInt(HEADER + body.length)
                .putShort((short) type)
                .putShort((short) (flags | FLAG_REQUEST))
                .putInt(sequence)
                .putInt(0)
                .put(body)
                .array();
    }

    /** The attributes behind a fixed header; none where even that is cut off. */
    Attributes attributes(int fixedHeader) {
        int from = Math.min(align(fixedHeader), payload.limit());
        return Attributes.read(payload.slice(from, payload.limit() - from));
    }

    /** What an ERROR (which is also how the kernel says "done") or the DONE at the end of a dump says. */
    Verdict verdict() throws NetlinkFormatException {
        if (payload.limit() < Integer.BYTES) {
            if (type == DONE) {
                return new Verdict(0, Optional.empty());
            }
            throw new NetlinkFormatException("an acknowledgement of " + payload.limit() + " bytes has no error number");
        }
        int error = payload.getInt(0);
        // −error overflows for the smallest int, which no kernel sends; a positive number isn't an error number either.
        if (error > 0 || error == Integer.MIN_VALUE) {
            throw new NetlinkFormatException("an acknowledgement has the error number " + error);
        }
        return new Verdict(-error, errorText());
    }

    private Optional<String> errorText() {
        if ((flags & FLAG_ACK_ATTRIBUTES) == 0) {
            return Optional.empty();
        }
        int from = Integer.BYTES;
        if (type == ERROR) {
            from += HEADER;
            if ((flags & FLAG_CAPPED) == 0 && payload.limit() >= from) {
                int repeated = payload.getInt(Integer.BYTES);
                if (repeated < HEADER || repeated > payload.limit() - Integer.BYTES) {
                    return Optional.empty();
                }
                from = Integer.BYTES + align(repeated);
            }
        }
        return attributes(from).text(ERROR_TEXT).filter(text -> !text.isBlank());
    }
}
