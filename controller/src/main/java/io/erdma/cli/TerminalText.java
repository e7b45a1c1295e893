package io.erdma.cli;

import io.erdma.log.Printable;

/** Text of unknown origin on its way to a terminal. */
final class TerminalText {
    private TerminalText() {}

    static String escape(String text) {
        return Printable.of(text);
    }
}
