package io.erdma.verbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** One field of a C struct; its constants carry the C name in capitals. */
interface StructField {
    /** Where it begins, in bytes. */
    int offset();

    /** Its size in bytes. */
    int size();

    /** The field as an unsigned number in the host's order; 8 bytes as they are. */
    default long unsigned(byte[] struct) {
        ByteBuffer bytes = ByteBuffer.wrap(struct).order(ByteOrder.nativeOrder());
        return switch (size()) {
            case 1 -> Byte.toUnsignedLong(bytes.get(offset()));
            case 2 -> Short.toUnsignedLong(bytes.getShort(offset()));
            case 4 -> Integer.toUnsignedLong(bytes.getInt(offset()));
            case 8 -> bytes.getLong(offset());
            default -> throw new IllegalStateException(this + " is no number");
        };
    }

    default int signed(byte[] struct) {
        return (int) unsigned(struct);
    }

    /** A field that the struct holds in network order. */
    default long bigEndian(byte[] struct) {
        return ByteBuffer.wrap(struct).order(ByteOrder.BIG_ENDIAN).getLong(offset());
    }

    /** A char array up to its first NUL. */
    default String text(byte[] struct) {
        int end = offset();
        while (end < offset() + size() && struct[end] != 0) {
            end++;
        }
        return new String(struct, offset(), end - offset(), StandardCharsets.UTF_8);
    }
}
