package io.erdma.libc;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * One {@code struct inotify_event}.
 *
 * @param watch the watch's number; -1 for an overflow
 * @param name empty when the event is about the directory itself
 */
record InotifyEvent(int watch, int mask, String name) {
    private static final int HEADER = 16;

    /**
     * The events in the first {@code length} bytes, as one read left them. The kernel writes whole events only; what
     * does not fit is refused.
     *
     * @throws IllegalArgumentException for bytes that no kernel writes
     */
    static List<InotifyEvent> parse(byte[] bytes, int length) {
        List<InotifyEvent> events = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, length).order(ByteOrder.nativeOrder());
        try {
            while (buffer.hasRemaining()) {
                int watch = buffer.getInt();
                int mask = buffer.getInt();
                buffer.getInt(); // the cookie, which pairs the two halves of a rename
                int nameLength = buffer.getInt();
                if (nameLength < 0 || nameLength > buffer.remaining()) {
                    throw new IllegalArgumentException("an inotify event names " + Integer.toUnsignedString(nameLength)
                            + " bytes, but only " + buffer.remaining() + " follow its header of " + HEADER);
                }
                byte[] name = new byte[nameLength];
                buffer.get(name);
                events.add(new InotifyEvent(watch, mask, untilNul(name)));
            }
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("an inotify event is cut short within its header of " + HEADER, e);
        }
        return List.copyOf(events);
    }

    /** The kernel pads a name with NULs to the next event's alignment. */
    private static String untilNul(byte[] name) {
        int end = 0;
        while (end < name.length && name[end] != 0) {
            end++;
        }
        return new String(name, 0, end, StandardCharsets.UTF_8);
    }
}
