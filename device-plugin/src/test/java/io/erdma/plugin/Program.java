package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running {@link SessionProgram}, started by a shell line that ends with it. */
final class Program implements AutoCloseable {
    private final Process process;
    private final Path output;

    private Program(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** Where its output goes, and which kubelet root it is told. */
    record Start(Path outputs, Path kubeletRoot) {
        /** The shell line has the program and its arguments as {@code "$@"}. */
        Program program(String shell, String... wrapper) throws IOException {
            Path output = Files.createTempFile(outputs, "program", ".log");
            List<String> command = new ArrayList<>(List.of(wrapper));
            command.addAll(List.of("sh", "-c", shell, "sh"));
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                    SessionProgram.class.getName(),
                    kubeletRoot.toString()));
            return new Program(
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start(),
                    output);
        }
    }

    String output() throws IOException {
        return Files.readString(output);
    }

    void endWithin(Duration time) throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("it did not end within " + time.toMillis() + " ms; it said " + output());
        }
        if (process.exitValue() != 0) {
            throw new AssertionError("exit code " + process.exitValue() + "; it said " + output());
        }
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
    }
}
