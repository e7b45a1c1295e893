package io.erdma.log;

/** Text that came from outside, made fit for a log line and a gRPC status. */
public final class Quote {
    private static final int MAX_LENGTH = 80;

    private Quote() {}

    /** In double quotes, printable ASCII with the rest escaped, cut after 80 characters. */
    public static String of(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        int end = Math.min(text.length(), MAX_LENGTH);
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= ' ' && c <= '~') {
                quoted.append(c);
            } else {
                quoted.append("\\u%04x".formatted((int) c));
            }
        }
        quoted.append('"');
        if (end < text.length()) {
            quoted.append("... (").append(text.length()).append(" characters)");
        }
        return quoted.toString();
    }
}
