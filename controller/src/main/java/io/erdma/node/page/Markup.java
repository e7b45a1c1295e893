package io.erdma.node.page;

import io.erdma.log.Printable;

/** HTML as it grows. What comes from outside goes through {@link #text} or {@link #name}, which leave no way to end it. */
final class Markup {
    /** No name that Kubernetes or the kernel gives is longer. */
    private static final int LONGEST_NAME = 256;

    private static final int LONGEST_TEXT = 1_000;

    private final StringBuilder out = new StringBuilder(16 << 10);

    /** Markup of our own, never of another origin. */
    Markup raw(String markup) {
        out.append(markup);
        return this;
    }

    Markup number(long number) {
        out.append(number);
        return this;
    }

    /** A sentence; cut where it is too long. */
    Markup text(String text) {
        out.append(escaped(text, LONGEST_TEXT));
        return this;
    }

    /** A name of unknown origin, whose direction of writing stays its own. */
    Markup name(String name) {
        out.append("<bdi>").append(escaped(name, LONGEST_NAME)).append("</bdi>");
        return this;
    }

    /** For a text or between the quotes of an attribute. */
    private static String escaped(String text, int longest) {
        boolean whole = text.length() <= longest;
        String shown = Printable.of(whole ? text : text.substring(0, longest));
        StringBuilder escaped = new StringBuilder(shown.length() + 16);
        for (int i = 0; i < shown.length(); i++) {
            char c = shown.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(c);
            }
        }
        return whole ? escaped.toString() : escaped.append('…').toString();
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
