package io.erdma.verbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another JVM with this one's class path. */
final class ChildJvm {
    /** @param lines what it printed, on both streams */
    record Result(int status, List<String> lines) {}

    private ChildJvm() {}

    static Result run(
            Class<?> main, List<String> options, Map<String, String> environment, Path directory, String... arguments)
            throws IOException, InterruptedException {
        return run(List.of(), main, options, environment, directory, arguments);
    }

    /** @param starter a command that starts the one after its own arguments, for example with less rights */
    static Result run(
            List<String> starter,
            Class<?> main,
            List<String> options,
            Map<String, String> environment,
            Path directory,
            String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(starter);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).directory(directory.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException(main.getName() + " did not end; it printed:\n" + printed);
        }
        return new Result(process.exitValue(), printed.lines().toList());
    }
}
