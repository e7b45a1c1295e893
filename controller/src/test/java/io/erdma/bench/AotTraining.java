package io.erdma.bench;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.plugin.FakeKubelet;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Leads an agent that records its start-up cache through a working day, so that the cache holds all that a node's agent
 * does and not its start alone: {@code AotTraining <runnable tree> <work directory>}. The cache and the agent's log are
 * left in the work directory as {@code agent.aot} and {@code log}.
 */
public final class AotTraining {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** After its last word the JVM still writes the cache. */
    private static final Duration WRITING = Duration.ofMinutes(3);

    private static final int DEVICES = 2;
    private static final int CALLERS = 8;
    private static final long SHARES = 200L * DEVICES;

    private AotTraining() {}

    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        Path tree = Path.of(args[0]).toAbsolutePath();
        Path work = Path.of(args[1]).toAbsolutePath();
        Path directory = Files.createTempDirectory("erdma-aot");
        try {
            train(tree, work, directory);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).forEach(AotTraining::delete);
            }
        }
    }

    private static void train(Path tree, Path work, Path directory)
            throws IOException, InterruptedException, ExecutionException {
        BenchNode node = new BenchNode(directory, DEVICES);
        int port = freePort();
        int pagePort = freePort();
        List<String> command = new ArrayList<>(List.of(
                tree.resolve("bin/erdma").toString(),
                "agent",
                "--kubelet-root-dir=" + directory.resolve("kubelet"),
                "--probe-address=127.0.0.1:" + port,
                "--page-address=127.0.0.1:" + pagePort));
        command.addAll(node.agentOptions());
        Map<String, String> environment = new HashMap<>(node.verbs().environment());
        environment.put("ERDMA_AOT", work.resolve("agent.aot").toString());
        try (FakeKubelet kubelet = FakeKubelet.start(directory.resolve("kubelet"));
                AgentProcess agent = AgentProcess.start(command, work.resolve("log"), environment)) {
            kubelet.dialDeadline(Duration.ofSeconds(10));
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, SHARES, PATIENCE);
            call(kubelet);
            scrape(port, "/healthz", "/readyz", "/metrics");
            scrape(pagePort, "/", "/metrics");
            node.setPort(0, false);
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, SHARES / DEVICES, PATIENCE);
            node.setPort(0, true);
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, SHARES, PATIENCE);
            kubelet.restart(FakeKubelet.Wipe.SOCKETS, Duration.ZERO);
            kubelet.awaitRegistration(2, PATIENCE);
            kubelet.awaitAllocatable(FakeKubelet.RESOURCE, SHARES, PATIENCE);
            call(kubelet);
            scrape(port, "/healthz", "/readyz", "/metrics");
            scrape(pagePort, "/", "/metrics");
            AgentProcess.Exit exit = agent.terminate(WRITING);
            if (exit.code() != 0) {
                throw new IllegalStateException("the agent ended with " + exit.code());
            }
        }
    }

    /** Every method, alone and from several callers at once, and a share that is refused. */
    private static void call(FakeKubelet kubelet) throws InterruptedException, ExecutionException {
        callEach(kubelet);
        try (ExecutorService executor = Executors.newFixedThreadPool(CALLERS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                running.add(executor.submit(() -> callEach(kubelet)));
            }
            for (Future<?> future : running) {
                future.get();
            }
        }
        try {
            kubelet.allocate("erdma_9/0");
            throw new IllegalStateException("a device that does not exist was granted");
        } catch (StatusRuntimeException refused) {
            if (refused.getStatus().getCode() != Status.Code.NOT_FOUND) {
                throw refused;
            }
        }
    }

    private static void callEach(FakeKubelet kubelet) {
        for (int i = 0; i < 20; i++) {
            kubelet.preferredAllocation(
                    FakeKubelet.RESOURCE, List.of("erdma_0/" + i, "erdma_1/" + i, "erdma_1/100"), List.of(), 2);
            kubelet.allocate("erdma_0/" + i, "erdma_1/" + i);
            kubelet.preStart("erdma_0/" + i);
        }
    }

    private static void scrape(int port, String... paths) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (String path : paths) {
                URI address = URI.create("http://127.0.0.1:" + port + path);
                HttpRequest request =
                        HttpRequest.newBuilder(address).timeout(PATIENCE).build();
                Await.until(path + " answers well", PATIENCE, () -> status(client, request) == 200);
            }
        }
    }

    private static int status(HttpClient client, HttpRequest request) {
        try {
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            return socket.getLocalPort();
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
