package io.erdma.cli;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a command did, run in this process. */
record Run(int exitCode, String out, String err) {
    static Run erdma(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = ErdmaMain.run(List.of(arguments), new Console(out, err));
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** The error stream, line by line. */
    List<String> complaints() {
        return err.lines().toList();
    }
}
