package io.erdma.node.interfaces;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * The answer to one HTTP/1.1 request over a connection of its own, read whole.
 *
 * <p>Bounded in size and, whatever the pace at which it arrives, in time: that is what the JDK's clients do not promise,
 * beside being far larger than what a few lines of plain text need.
 */
record HttpAnswer(int status, String body) {
    /** Far above any list of addresses. */
    static final int MAX_BYTES = 64 * 1024;

    /**
     * Reads up to the end of the body, or of the stream where the answer does not tell its length.
     *
     * @throws SocketTimeoutException when it is not complete in time
     * @throws IOException when it is too large, cut off or no HTTP
     */
    static HttpAnswer read(Socket socket, Deadline deadline) throws IOException {
        var in = new Bounded(socket, deadline);
        String[] status = line(in).split(" ", 3);
        if (status.length < 2 || !status[0].startsWith("HTTP/1.") || !status[1].matches("[1-5][0-9]{2}")) {
            throw new IOException("the answer is no HTTP");
        }
        OptionalInt length = OptionalInt.empty();
        boolean chunked = false;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            int colon = header.indexOf(':');
            String name = header.substring(0, Math.max(colon, 0)).strip().toLowerCase(Locale.ROOT);
            String value = header.substring(colon + 1).strip();
            if (name.equals("content-length")) {
                length = OptionalInt.of(size(value, 10));
            } else if (name.equals("transfer-encoding")) {
                chunked = value.toLowerCase(Locale.ROOT).endsWith("chunked");
            }
        }
        byte[] body = chunked ? chunks(in) : length.isPresent() ? exactly(in, length.getAsInt()) : in.readAllBytes();
        return new HttpAnswer(Integer.parseInt(status[1]), new String(body, ISO_8859_1));
    }

    private static byte[] chunks(InputStream in) throws IOException {
        var body = new ByteArrayOutputStream();
        for (int size = chunkSize(in); size > 0; size = chunkSize(in)) {
            body.writeBytes(exactly(in, size));
            line(in);
        }
        // What may follow the last chunk, trailers, ends with the connection.
        return body.toByteArray();
    }

    private static int chunkSize(InputStream in) throws IOException {
        return size(line(in).split(";", 2)[0].strip(), 16);
    }

    private static int size(String text, int radix) throws IOException {
        try {
            int size = Integer.parseInt(text, radix);
            if (size >= 0) {
                return size;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IOException("the answer tells no valid length");
    }

    private static byte[] exactly(InputStream in, int size) throws IOException {
        if (size > MAX_BYTES) {
            throw tooLarge();
        }
        byte[] bytes = in.readNBytes(size);
        if (bytes.length < size) {
            throw cutOff();
        }
        return bytes;
    }

    private static String line(InputStream in) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw cutOff();
            }
            line.write(b);
        }
        return line.toString(ISO_8859_1).stripTrailing();
    }

    private static IOException cutOff() {
        return new EOFException("the answer is cut off");
    }

    private static IOException tooLarge() {
        return new IOException("the answer is larger than " + MAX_BYTES / 1024 + " KiB");
    }

    /** A socket's stream up to a size and a moment. */
    private static final class Bounded extends InputStream {
        private final Socket socket;
        private final InputStream in;
        private final Deadline deadline;
        private final byte[] buffer = new byte[1024];
        private int position;
        private int filled;
        private int total;

        Bounded(Socket socket, Deadline deadline) throws IOException {
            this.socket = socket;
            this.in = socket.getInputStream();
            this.deadline = deadline;
        }

        @Override
        public int read() throws IOException {
            return fill() ? buffer[position++] & 0xff : -1;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int count = Math.min(length, filled - position);
            System.arraycopy(buffer, position, bytes, offset, count);
            position += count;
            return count;
        }

        private boolean fill() throws IOException {
            if (position < filled) {
                return true;
            }
            // Rounded up: a time-out of 0 would be none at all.
            long left = deadline.left().toMillis() + 1;
            if (deadline.isOver()) {
                throw new SocketTimeoutException("the answer does not end");
            }
            socket.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
            position = 0;
            filled = in.read(buffer);
            if (filled < 0) {
                filled = 0;
                return false;
            }
            total += filled;
            if (total > MAX_BYTES) {
                throw tooLarge();
            }
            return true;
        }
    }
}
