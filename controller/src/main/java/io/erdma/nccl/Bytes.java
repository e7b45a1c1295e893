package io.erdma.nccl;

import java.nio.charset.StandardCharsets;

/** Searches in a part of an array; the launcher's JVM compiles simple loops well and little else. */
final class Bytes {
    private Bytes() {}

    static byte[] of(String ascii) {
        return ascii.getBytes(StandardCharsets.US_ASCII);
    }

    static boolean startsWith(byte[] bytes, int from, int to, byte[] word) {
        if (to - from < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (bytes[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    /** @return where the word begins, or -1 */
    static int indexOf(byte[] bytes, int from, int to, byte[] word) {
        byte first = word[0];
        for (int i = from; i <= to - word.length; i++) {
            if (bytes[i] == first && startsWith(bytes, i, to, word)) {
                return i;
            }
        }
        return -1;
    }

    static boolean contains(byte[] bytes, int from, int to, byte[] word) {
        return indexOf(bytes, from, to, word) >= 0;
    }

    static boolean isDigit(int b) {
        return b >= '0' && b <= '9';
    }

    /** Where the digits that begin at an index end. */
    static int digitsEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isDigit(bytes[i])) {
            i++;
        }
        return i;
    }

    /** The decimal number from here to there, or -1 where that isn't one of at most nine digits. */
    static int number(byte[] bytes, int from, int to) {
        if (from >= to || to - from > 9) {
            return -1;
        }
        int value = 0;
        for (int i = from; i < to; i++) {
            if (!isDigit(bytes[i])) {
                return -1;
            }
            value = value * 10 + (bytes[i] - '0');
        }
        return value;
    }

    /** Without the blanks at the end. */
    static int trimEnd(byte[] bytes, int from, int to) {
        int end = to;
        while (end > from && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
            end--;
        }
        return end;
    }

    /** Malformed UTF-8 becomes U+FFFD. */
    static String text(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
}
