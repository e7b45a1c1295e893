package io.erdma.node.driver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** What a program writes, read to its end and kept in part: the beginning, and the end, which mostly says what failed. */
final class BoundedText {
    static final int HEAD_BYTES = 32 << 10;
    static final int TAIL_BYTES = 32 << 10;

    private final byte[] head = new byte[HEAD_BYTES];
    private final byte[] tail = new byte[TAIL_BYTES];
    private int headLength;
    private long tailWritten;

    /** Returns when the stream ends or breaks. */
    void readAll(InputStream stream) {
        byte[] chunk = new byte[8 << 10];
        try {
            for (int read = stream.read(chunk); read >= 0; read = stream.read(chunk)) {
                add(chunk, read);
            }
        } catch (IOException e) {
            // A program that was killed breaks its pipe; what it wrote before that is kept.
            return;
        }
    }

    void add(byte[] bytes, int length) {
        int toHead = Math.min(length, HEAD_BYTES - headLength);
        System.arraycopy(bytes, 0, head, headLength, toHead);
        headLength += toHead;
        for (int i = toHead; i < length; i++) {
            tail[(int) (tailWritten % TAIL_BYTES)] = bytes[i];
            tailWritten++;
        }
    }

    /** Where something was left out, a line says how much. */
    String text() {
        String text = new String(head, 0, headLength, StandardCharsets.UTF_8);
        if (tailWritten == 0) {
            return text;
        }
        int kept = (int) Math.min(tailWritten, TAIL_BYTES);
        byte[] last = new byte[kept];
        for (int i = 0; i < kept; i++) {
            last[i] = tail[(int) ((tailWritten - kept + i) % TAIL_BYTES)];
        }
        String left = tailWritten > kept ? "\n[" + (tailWritten - kept) + " bytes left out]\n" : "";
        return text + left + new String(last, StandardCharsets.UTF_8);
    }
}
