package io.erdma.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compiles the C sources of this module's tests, which lie beside its test classes. */
final class CCompiler {
    private CCompiler() {}

    /**
     * @param source a file name of src/test/c
     * @param arguments further arguments for gcc, for example {@code -shared}
     * @return the file made, in {@code directory}
     */
    static Path compile(String source, Path directory, String output, String... arguments) {
        try {
            Path file = directory.resolve(source);
            try (InputStream in = CCompiler.class.getResourceAsStream("/" + source)) {
                if (in == null) {
                    throw new IllegalStateException(source + " is not among the test resources");
                }
                Files.write(file, in.readAllBytes());
            }
            Path made = directory.resolve(output);
            List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1"));
            command.addAll(List.of("-o", made.toString(), file.toString()));
            // A library among them must follow the source that needs it.
            command.addAll(List.of(arguments));
            run(command);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot compile " + source + ": is gcc there? Install the packages gcc and libibverbs-dev", e);
        }
    }

    /** What the command prints; a failure carries it. */
    static String run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IllegalStateException(String.join(" ", command) + " ended with " + status + ":\n" + printed);
            }
            return printed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + command.getFirst() + " ran", e);
        }
    }
}
