package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** Where a command's answer and its complaints go. Always UTF-8, whatever the locale: containers seldom set one. */
final class Console {
    private final OutputStream out;
    private final OutputStream err;

    Console(OutputStream out, OutputStream err) {
        this.out = requireNonNull(out, "out is null");
        this.err = requireNonNull(err, "err is null");
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
