package io.erdma.node.page;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A real Chromium without a screen, told what to do over its DevTools protocol. */
final class Browser implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> asked = new ConcurrentHashMap<>();
    private final List<JsonNode> events = new CopyOnWriteArrayList<>();
    private final WebSocket socket;
    private final String session;

    private Browser(Process process, URI endpoint) {
        this.process = process;
        this.socket = client.newWebSocketBuilder()
                .connectTimeout(SOON)
                .buildAsync(endpoint, new Listener())
                .orTimeout(SOON.toSeconds(), TimeUnit.SECONDS)
                .join();
        String target = send("", "Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .asText();
        this.session = send("", "Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .asText();
        for (String domain : List.of("Page", "Log", "Runtime", "Network", "Accessibility", "DOM")) {
            send(domain + ".enable", Map.of());
        }
    }

    /** @param directory for its profile and its output; without an installed Chromium this fails */
    static Browser start(Path directory) throws IOException {
        Path profile = Files.createDirectories(directory.resolve("profile"));
        Process process = new ProcessBuilder(
                        "chromium",
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--hide-scrollbars",
                        "--user-data-dir=" + profile,
                        "--remote-debugging-port=0",
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("chromium.log").toFile())
                .start();
        try {
            Path port = profile.resolve("DevToolsActivePort");
            await().atMost(SOON)
                    .failFast(
                            "Chromium ended; " + directory.resolve("chromium.log") + " says why",
                            () -> !process.isAlive())
                    .until(() -> Files.exists(port) && Files.readAllLines(port).size() == 2);
            List<String> lines = Files.readAllLines(port);
            return new Browser(process, URI.create("ws://127.0.0.1:" + lines.getFirst() + lines.getLast()));
        } catch (IOException | RuntimeException | Error e) {
            end(process);
            throw e;
        }
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder message = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            message.append(part);
            if (last) {
                String whole = message.toString();
                message.setLength(0);
                take(whole);
            }
            from.request(1);
            return null;
        }

        private void take(String text) {
            try {
                JsonNode answer = JSON.readTree(text);
                Optional.ofNullable(answer.get("id"))
                        .map(JsonNode::asInt)
                        .map(asked::remove)
                        .ifPresentOrElse(waiting -> waiting.complete(answer), () -> events.add(answer));
            } catch (IOException e) {
                asked.values().forEach(waiting -> waiting.completeExceptionally(e));
            }
        }
    }

    JsonNode send(String method, Map<String, ?> parameters) {
        return send(session, method, parameters);
    }

    private JsonNode send(String to, String method, Map<String, ?> parameters) {
        int id = ids.incrementAndGet();
        ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
        message.set("params", JSON.valueToTree(parameters));
        if (!to.isEmpty()) {
            message.put("sessionId", to);
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        asked.put(id, answer);
        socket.sendText(message.toString(), true).join();
        JsonNode told = answer.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
        if (told.has("error")) {
            throw new IllegalStateException(method + " failed: " + told.get("error"));
        }
        return told.get("result");
    }

    /** What the browser has told since this was last asked, such as {@code Log.entryAdded}. */
    List<JsonNode> takeEvents(String method) {
        List<JsonNode> taken = events.stream()
                .filter(event -> event.path("method").asText().equals(method))
                .toList();
        events.removeAll(taken);
        return taken;
    }

    void look(int width, int height, boolean dark, boolean scripts) {
        send(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
        send(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
        send("Emulation.setScriptExecutionDisabled", Map.of("value", !scripts));
    }

    /** Returns once the page with all that belongs to it is there. */
    void open(String url) {
        takeEvents("Page.loadEventFired");
        JsonNode answer = send("Page.navigate", Map.of("url", url));
        if (answer.has("errorText")) {
            throw new IllegalStateException(url + ": " + answer.get("errorText").asText());
        }
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> !takeEvents("Page.loadEventFired").isEmpty());
    }

    /** The value of a JavaScript expression. */
    JsonNode evaluate(String expression) {
        JsonNode answer = send("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
        if (answer.has("exceptionDetails")) {
            throw new IllegalStateException(expression + ": " + answer.get("exceptionDetails"));
        }
        return answer.get("result").path("value");
    }

    /** The document as the browser has it, also with scripts off. */
    String html() {
        int root = send("DOM.getDocument", Map.of()).get("root").get("nodeId").asInt();
        return send("DOM.getOuterHTML", Map.of("nodeId", root)).get("outerHTML").asText();
    }

    /** Of the whole page, not only of what is in view. */
    void screenshot(Path file) throws IOException {
        JsonNode answer = send("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true));
        Files.write(file, Base64.getDecoder().decode(answer.get("data").asText()));
    }

    @Override
    public void close() {
        client.shutdownNow();
        end(process);
    }

    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
