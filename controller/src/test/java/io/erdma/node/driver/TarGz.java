package io.erdma.node.driver;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

/** Writes .tar.gz archives by hand, since no honest tar would write those that the tests need. */
final class TarGz {
    private static final int BLOCK = 512;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    TarGz file(String name, byte[] content, int mode) {
        header(name, '0', content.length, "", mode);
        return data(content);
    }

    TarGz file(String name, String content) {
        return file(name, content.getBytes(UTF_8), 0644);
    }

    TarGz directory(String name) {
        header(name, '5', 0, "", 0755);
        return this;
    }

    TarGz link(String name, char type, String target) {
        header(name, type, 0, target, 0777);
        return this;
    }

    TarGz entry(String name, char type) {
        header(name, type, 0, "", 0666);
        return this;
    }

    /** A header that announces more than follows. */
    TarGz announce(String name, long size) {
        header(name, '0', size, "", 0644);
        return this;
    }

    TarGz pax(String record) {
        int length = record.length() + 3;
        while ((length + " " + record + "\n").length() != length) {
            length++;
        }
        byte[] content = (length + " " + record + "\n").getBytes(UTF_8);
        header("pax", 'x', content.length, "", 0644);
        return data(content);
    }

    TarGz longName(char type, String name) {
        byte[] content = (name + "\0").getBytes(UTF_8);
        header("././@LongLink", type, content.length, "", 0644);
        return data(content);
    }

    private TarGz data(byte[] content) {
        bytes.writeBytes(content);
        bytes.writeBytes(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
        return this;
    }

    private void header(String name, char type, long size, String link, int mode) {
        byte[] header = new byte[BLOCK];
        put(header, 0, name);
        put(header, 100, "%07o".formatted(mode));
        put(header, 124, "%011o".formatted(size));
        put(header, 136, "%011o".formatted(1_000_000_000));
        header[156] = (byte) type;
        put(header, 157, link);
        put(header, 257, "ustar");
        put(header, 263, "00");
        Arrays.fill(header, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte one : header) {
            sum += one & 0xff;
        }
        put(header, 148, "%06o".formatted(sum) + "\0 ");
        bytes.writeBytes(header);
    }

    private static void put(byte[] header, int offset, String text) {
        byte[] field = text.getBytes(UTF_8);
        System.arraycopy(field, 0, header, offset, field.length);
    }

    /** With the two empty blocks at its end. */
    byte[] archive() {
        bytes.writeBytes(new byte[2 * BLOCK]);
        return withoutEnd();
    }

    byte[] withoutEnd() {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            bytes.writeTo(gzip);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }
}
