package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

/** Where a command's answer and its complaints go. Always UTF-8, whatever the locale: containers seldom set one. */
final class Console {
    private final OutputStream out;
    private final OutputStream err;

    private final BooleanSupplier terminal;

    /** For answers that no person reads as they come. */
    Console(OutputStream out, OutputStream err) {
        this(out, err, () -> false);
    }

    /** @param terminal whether answers go to a terminal; asked only by who cares */
    Console(OutputStream out, OutputStream err, BooleanSupplier terminal) {
        this.out = requireNonNull(out, "out is null");
        this.err = requireNonNull(err, "err is null");
        this.terminal = requireNonNull(terminal, "terminal is null");
    }

    boolean isTerminal() {
        return terminal.getAsBoolean();
    }

    /** @throws IOException when the answer doesn't arrive: a full disk, a closed pipe */
    void print(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** One line on the error stream, whatever the text holds. */
    void complain(String line) {
        try {
            err.write((TerminalText.escape(line) + "\n").getBytes(StandardCharsets.UTF_8));
            err.flush();
        } catch (IOException closed) {
            // There is no third stream to tell it on; the exit code still does.
            return;
        }
    }

    /** For help texts, which picocli writes. */
    PrintWriter outWriter() {
        return new PrintWriter(out, true, StandardCharsets.UTF_8);
    }

    PrintWriter errWriter() {
        return new PrintWriter(err, true, StandardCharsets.UTF_8);
    }
}
