package io.erdma.log;

/**
 * Text of unknown origin on its way to a terminal or into a log. Whoever may create an RDMA device chooses its name, so that
 * a name could begin a new line, move the cursor, recolour or hide what stands around it.
 */
public final class Printable {
    private Printable() {}

    /**
     * Whatever can't be seen (control, formatting, private and unassigned characters, separators of lines, halves of
     * surrogate pairs) as {@code \x1b} or {@code \\u202e}; everything else unchanged.
     */
    public static String of(String text) {
        if (isPlainAscii(text)) {
            return text;
        }
        StringBuilder printable = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isVisible(c)) {
                printable.appendCodePoint(c);
            } else if (c < 0x100) {
                appendHex(printable.append("\\x"), c, 2);
            } else {
                appendHex(printable.append("\\u"), c, 4);
            }
        });
        return printable.toString();
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
