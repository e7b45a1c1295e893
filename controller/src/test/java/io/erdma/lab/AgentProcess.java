package io.erdma.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The real agent, started by its launcher as on a node; its log goes to a file. */
public final class AgentProcess implements AutoCloseable {
    /** How a process ended after it was asked to. */
    public record Exit(int code, Duration took) {}

    /** Where nobody listens: an agent under test must ask no service about the machine that it runs on. */
    private static final String NO_METADATA = "http://127.0.0.1:1";

    private final Process process;
    private final Path log;
    private final long startedNanos;

    private AgentProcess(Process process, Path log, long startedNanos) {
        this.process = process;
        this.log = log;
        this.startedNanos = startedNanos;
    }

    /** @param command launcher and arguments, possibly behind a program that changes the process first */
    public static AgentProcess start(List<String> command, Path log, Map<String, String> environment) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile());
            // What configures the machine's own agent, if there is one, must not reach this one.
            builder.environment().keySet().removeIf(name -> name.startsWith("ERDMA_"));
            builder.environment().put("ERDMA_METADATA_ADDRESS", NO_METADATA);
            builder.environment().putAll(environment);
            long started = System.nanoTime();
            return new AgentProcess(builder.start(), log, started);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    public long startedNanos() {
        return startedNanos;
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public List<String> log() {
        try {
            return Files.readString(log, StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last line of the log with all of these words. */
    public Optional<String> logLine(String... words) {
        return log().reversed().stream()
                .filter(line -> List.of(words).stream().allMatch(line::contains))
                .findFirst();
    }

    /** Asks it to end, as the kubelet does with a pod. */
    public Exit terminate(Duration limit) {
        long asked = System.nanoTime();
        process.destroy();
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("the agent still runs " + limit + " after SIGTERM; its log: " + log);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the agent ended", e);
        }
        return new Exit(process.exitValue(), Duration.ofNanos(System.nanoTime() - asked));
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
            all.add(process.toHandle());
            all.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
