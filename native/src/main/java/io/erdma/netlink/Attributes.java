package io.erdma.netlink;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The attributes of one message or of one nested attribute, in order. An attribute that is too short for what is asked
 * of it counts as absent; where a length is wrong, that attribute and all behind it do.
 */
final class Attributes {
    private static final int HEADER = 4;
    private static final int TYPE_MASK = 0x3fff;
    private static final int NESTED = 0x8000;

    private record Attribute(int type, ByteBuffer payload) {}

    private final List<Attribute> attributes;

    private Attributes(List<Attribute> attributes) {
        this.attributes = attributes;
    }

    /** @param bytes from its position to its limit; neither is moved */
    static Attributes read(ByteBuffer bytes) {
        ByteBuffer rest = bytes.slice().order(ByteOrder.nativeOrder());
        var attributes = new ArrayList<Attribute>();
        while (rest.remaining() >= HEADER) {
            int start = rest.position();
            int length = Short.toUnsignedInt(rest.getShort(start));
            if (length < HEADER || length > rest.remaining()) {
                break;
            }
            int type = rest.getShort(start + 2) & TYPE_MASK;
            ByteBuffer payload = rest.slice(start + HEADER, length - HEADER).order(ByteOrder.nativeOrder());
            attributes.add(new Attribute(type, payload));
            rest.position(Math.min(start + NetlinkMessage.align(length), rest.limit()));
        }
        return new Attributes(attributes);
    }

    OptionalInt unsignedByte(int type) {
        Optional<ByteBuffer> payload = payload(type, Byte.BYTES);
        return payload.isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of(Byte.toUnsignedInt(payload.get().get(0)));
    }

    /** Numbers above {@link Integer#MAX_VALUE} come out negative. */
    OptionalInt number(int type) {
        Optional<ByteBuffer> payload = payload(type, Integer.BYTES);
        return payload.isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of(payload.get().getInt(0));
    }

    OptionalLong longNumber(int type) {
        Optional<ByteBuffer> payload = payload(type, Long.BYTES);
        return payload.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(payload.get().getLong(0));
    }

    /** The text up to its NUL, or all of it where the NUL is missing. */
    Optional<String> text(int type) {
        return bytes(type).map(bytes -> {
            int length = 0;
            while (length < bytes.length && bytes[length] != 0) {
                length++;
            }
            return new String(bytes, 0, length, StandardCharsets.UTF_8);
        });
    }

    Optional<byte[]> bytes(int type) {
        return payload(type, 0).map(payload -> {
            byte[] bytes = new byte[payload.remaining()];
            payload.get(0, bytes);
            return bytes;
        });
    }

    Optional<Attributes> nested(int type) {
        return payload(type, 0).map(Attributes::read);
    }

    /** Every attribute of this type: lists repeat it. */
    List<Attributes> everyNested(int type) {
        return attributes.stream()
                .filter(attribute -> attribute.type() == type)
                .map(attribute -> read(attribute.payload()))
                .toList();
    }

    private Optional<ByteBuffer> payload(int type, int atLeast) {
        for (Attribute attribute : attributes) {
            if (attribute.type() == type) {
                return attribute.payload().remaining() >= atLeast ? Optional.of(attribute.payload()) : Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Writes attributes one after the other, each padded as the kernel wants it. */
    static final class Writer {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Writer number(int type, int value) {
            return add(
                    type,
                    ByteBuffer.allocate(Integer.BYTES)
                            .order(ByteOrder.nativeOrder())
                            .putInt(value)
                            .array());
        }

        Writer text(int type, String value) {
            return add(type, (value + "\0").getBytes(StandardCharsets.UTF_8));
        }

        Writer nested(int type, byte[] attributes) {
            return add(type | NESTED, attributes);
        }

        Writer add(int type, byte[] payload) {
            int length = HEADER + payload.length;
            if (length > 0xffff) {
                throw new IllegalArgumentException("an attribute has a 16-bit length: " + length + " bytes");
            }
            bytes.writeBytes(ByteBuffer.allocate(NetlinkMessage.align(length))
                    .order(ByteOrder.nativeOrder())
                    .putShort((short) length)
                    .putShort((short) type)
                    .put(payload)
                    .array());
            return this;
        }

        byte[] toBytes() {
            return bytes.toByteArray();
        }
    }
}
