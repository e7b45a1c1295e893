package io.erdma.image;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.testcontainers.containers.Container;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A container of the image, removed at the end of the test. */
final class RunningContainer implements AutoCloseable {
    /** Marks what these tests start, so that they can tell what was left. */
    static final String LABEL = "io.erdma.test";

    /** How it ended after it was asked to, and how long it took. */
    record Exit(long code, Duration took) {}

    private final GenericContainer<?> container;

    private RunningContainer(GenericContainer<?> container) {
        this.container = container;
    }

    /** @param words what follows the image's name, such as {@code agent --log-level=debug} */
    static RunningContainer start(ContainerShape shape, String... words) {
        return start(shape, List.of(), words);
    }

    /** @param program what is run in place of the image's entry point */
    static RunningContainer startInsteadOfTheLauncher(ContainerShape shape, String... program) {
        return start(shape, List.of(program), new String[0]);
    }

    private static RunningContainer start(ContainerShape shape, List<String> entryPoint, String... words) {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(Image.NAME))
                .withImagePullPolicy(name -> false)
                .withCommand(words)
                .withEnv(shape.environment())
                .withLabels(Map.of(LABEL, "true"))
                .withCreateContainerCmdModifier(command -> {
                    shape.applyTo(command.getHostConfig());
                    if (!entryPoint.isEmpty()) {
                        command.withEntrypoint(entryPoint);
                    }
                });
        // As Testcontainers would wait for ports, of which such a container has none.
        container.waitingFor(new NoWait());
        container.start();
        return new RunningContainer(container);
    }

    private DockerClient docker() {
        return container.getDockerClient();
    }

    private InspectContainerResponse inspect() {
        return docker().inspectContainerCmd(container.getContainerId()).exec();
    }

    boolean isRunning() {
        return Boolean.TRUE.equals(inspect().getState().getRunning());
    }

    /** The number of its first process, as this machine counts. */
    long pid() {
        return inspect().getState().getPidLong();
    }

    String log() {
        return container.getLogs();
    }

    /** A command in it, as by {@code kubectl exec}. */
    Container.ExecResult exec(String... command) {
        try {
            return container.execInContainer(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + List.of(command) + " ran", e);
        }
    }

    /** What its shell prints. */
    String shell(String line) {
        Container.ExecResult result = exec("sh", "-c", line);
        if (result.getExitCode() != 0) {
            throw new IllegalStateException(line + " ended with " + result.getExitCode() + ": " + result.getStderr());
        }
        return result.getStdout().strip();
    }

    /**
     * What its probe address answers, asked from inside of its network.
     *
     * @return head and body; empty while nobody answers
     */
    String probe(String path) {
        String request =
                "exec 3<>/dev/tcp/127.0.0.1/9470 && printf 'GET %s HTTP/1.0\\r\\n\\r\\n' \"$0\" >&3 && cat <&3";
        try {
            Process process = new ProcessBuilder(
                            "nsenter", "--net=/proc/" + pid() + "/ns/net", "timeout", "10", "bash", "-c", request, path)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + path + " was asked", e);
        }
    }

    /** Whether it is registered and all that readiness asks for holds. */
    boolean isReady() {
        return probe("/readyz").startsWith("HTTP/1.1 200 ");
    }

    /** Asks it to end as the kubelet does, with 30 s before it is killed. */
    Exit stop() {
        long asked = System.nanoTime();
        docker().stopContainerCmd(container.getContainerId()).withTimeout(30).exec();
        Duration took = Duration.ofNanos(System.nanoTime() - asked);
        return new Exit(inspect().getState().getExitCodeLong(), took);
    }

    /** How it ended by itself. */
    long exitCode(Duration limit) {
        try (var callback =
                docker().waitContainerCmd(container.getContainerId()).start()) {
            return callback.awaitStatusCode(limit.toSeconds(), TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        container.close();
    }
}
