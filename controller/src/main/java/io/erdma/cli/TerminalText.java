package io.erdma.cli;

/**
 * Text of unknown origin on its way to a terminal. Whoever may create an RDMA device chooses its name, so that a name
 * could move the cursor, recolour or hide what stands around it.
 */
final class TerminalText {
    private TerminalText() {}

    /** Control, formatting and unassigned characters as {@code \x1b} or {@code \\u202e}; everything else unchanged. */
    static String escape(String text) {
        if (isPlainAscii(text)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isVisible(c)) {
                escaped.appendCodePoint(c);
            } else if (c < 0x100) {
                escaped.append("\\x");
                appendHex(escaped, c, 2);
            } else {
                escaped.append("\\u");
                appendHex(escaped, c, 4);
            }
        });
        return escaped.toString();
    }

    private static boolean isPlainAscii(String text) {
        return text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    }

    private static boolean isVisible(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    private static void appendHex(StringBuilder text, int value, int digits) {
        String hex = Integer.toHexString(value);
        text.repeat('0', Math.max(0, digits - hex.length())).append(hex);
    }
}
