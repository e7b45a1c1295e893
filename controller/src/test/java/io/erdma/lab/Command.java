package io.erdma.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end. */
public final class Command {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** What a program left: its exit code and its two outputs. */
    public record Result(int code, String out, String err) {
        public List<String> lines() {
            return out.lines().toList();
        }
    }

    private Command() {}

    public static Result run(List<String> command) {
        return run(command, LIMIT);
    }

    /** The outputs go through files, so a program that writes much on both cannot stall. */
    public static Result run(List<String> command, Duration limit) {
        try {
            Path out = Files.createTempFile("command", ".out");
            Path err = Files.createTempFile("command", ".err");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectInput(ProcessBuilder.Redirect.from(
                                Path.of("/dev/null").toFile()))
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
                if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly().waitFor();
                    throw new IllegalStateException(command + " did not end within " + limit);
                }
                return new Result(
                        process.exitValue(),
                        Files.readString(out, StandardCharsets.UTF_8),
                        Files.readString(err, StandardCharsets.UTF_8));
            } finally {
                Files.deleteIfExists(out);
                Files.deleteIfExists(err);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while running " + command, e);
        }
    }

    /** Runs it and insists on exit code 0. */
    public static Result check(String... command) {
        Result result = run(List.of(command));
        if (result.code() != 0) {
            throw new IllegalStateException(
                    String.join(" ", command) + " failed with exit code " + result.code() + ": " + result.err());
        }
        return result;
    }
}
