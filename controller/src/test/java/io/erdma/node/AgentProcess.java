package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The built agent, started by its launcher as a process of its own. */
final class AgentProcess implements AutoCloseable {
    /** Where the build puts the runnable tree; tests of another tree name it. */
    static final Path DIST =
            Path.of(System.getProperty("erdma.dist", "target/erdma")).toAbsolutePath();

    /** Where nobody listens: an agent under test must ask no service about the machine that it runs on. */
    private static final String NO_METADATA = "http://127.0.0.1:1";

    private final Process process;
    private final Path log;

    private AgentProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    static AgentProcess start(Path directory, Map<String, String> environment, List<String> settings)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(DIST.resolve("bin/erdma").toString(), "agent"));
        command.addAll(settings);
        return startCommand(directory, environment, command);
    }

    /** @param directory where its output goes */
    static AgentProcess startCommand(Path directory, Map<String, String> environment, List<String> command)
            throws IOException {
        Path log = Files.createTempFile(directory, "agent", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("ERDMA_"));
        builder.environment().put("ERDMA_METADATA_ADDRESS", NO_METADATA);
        builder.environment().putAll(environment);
        return new AgentProcess(builder.start(), log);
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    /** As the kubelet stops a container. */
    int terminate(Duration atMost) throws IOException, InterruptedException {
        process.destroy();
        return exitCode(atMost);
    }

    int exitCode(Duration atMost) throws IOException, InterruptedException {
        assertThat(process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS))
                .as("ends within %s; its log: %s", atMost, log())
                .isTrue();
        return process.exitValue();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                            .timeout(Duration.ofSeconds(5))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
