package io.erdma.node.kube;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An API server that knows one Node and one ERdmaDevice object, and can be made to fail: what the in-memory server of the
 * Kubernetes client never does. It answers watches as a plain stream, as the real one does for whoever cannot upgrade.
 */
public final class FakeApiServer implements AutoCloseable {
    private static final String OBJECTS = "/apis/network.alibabacloud.com/v1/erdmadevices";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("fake-api-", 0).factory());
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
    /** Each with the version that is its place, from 1. Guarded by this. */
    private final List<String> changes = new ArrayList<>();

    private final CountDownLatch closed = new CountDownLatch(1);

    private volatile Optional<String> token = Optional.empty();
    /** Guarded by this. */
    private Optional<String> object = Optional.empty();
    /** What it says, or said last. Guarded by this. */
    private String body = "";

    private volatile Optional<String> providerId = Optional.empty();
    private volatile String status = "";
    private volatile int failure;
    private volatile Optional<byte[]> instead = Optional.empty();
    private volatile boolean dripping;
    private volatile boolean hanging;

    /** One open watch. */
    private record Stream(LinkedBlockingQueue<String> lines) {
        private static final String END = "";
    }

    private FakeApiServer(HttpServer server) {
        this.server = server;
    }

    public static FakeApiServer start() throws IOException {
        return start(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    }

    /** @param server not started yet; may speak TLS */
    public static FakeApiServer start(HttpServer server) {
        var fake = new FakeApiServer(server);
        server.setExecutor(fake.threads);
        server.createContext("/", fake::answer);
        server.start();
        return fake;
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** As a person reaches it. */
    public ClusterAccess access(Path directory) throws IOException {
        Path file = directory.resolve("kubeconfig-" + server.getAddress().getPort());
        return new ClusterAccess.Kubeconfig(Files.writeString(file, kubeconfig(url())));
    }

    static String kubeconfig(String url) {
        return """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s"}}]
                users: [{name: u, user: {}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(url);
    }

    /** Refuses every request without it from now on; open watches stay, as they do. */
    public void demand(String bearer) {
        token = Optional.of(bearer);
    }

    /** Answers every request so from now on; 0: as usual. */
    public void fail(int status) {
        failure = status;
    }

    /** Answers every request with 200 and this from now on, as something that stands in the API server's place. */
    public void say(String body) {
        instead = Optional.of(body.getBytes(UTF_8));
    }

    /** Is itself again, after {@link #say} or {@link #drip}. */
    public void recover() {
        instead = Optional.empty();
        dripping = false;
    }

    /** Begins every answer from now on, and goes on with a byte now and then for ever. */
    public void drip() {
        dripping = true;
    }

    /** Takes requests from now on and answers none. */
    public void hang() {
        hanging = true;
    }

    public void node(String id) {
        providerId = Optional.of(id);
    }

    /** @param quantity as the API writes it, for example 400 or 1k */
    public void allocatable(String resource, String quantity) {
        status = ",\"status\":{\"allocatable\":{\"" + resource + "\":\"" + quantity + "\"}}";
    }

    /** Writes the object: what stands behind its metadata, as JSON. */
    public synchronized void put(String specAndStatus) {
        String type = object.isEmpty() ? "ADDED" : "MODIFIED";
        body = specAndStatus;
        object = Optional.of(json());
        tell(type, object.get());
    }

    public synchronized void delete() {
        object = Optional.empty();
        tell("DELETED", json());
    }

    /** Ends all watches, as the server does when their time is up. */
    public void endWatches() {
        streams.forEach(stream -> stream.lines().add(Stream.END));
    }

    /** Ends all watches because what they have seen last is forgotten. */
    public void gone() {
        streams.forEach(stream -> stream.lines()
                .add("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                        + "\"reason\":\"Expired\",\"code\":410,\"message\":\"too old\"}}"));
        endWatches();
    }

    public int watches() {
        return streams.size();
    }

    /** Method, path and query of all requests so far. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    /** The object as of a new version. */
    private String json() {
        return "{\"apiVersion\":\"network.alibabacloud.com/v1\",\"kind\":\"ERdmaDevice\",\"metadata\":{\"name\":\"node-a\","
                + "\"resourceVersion\":\"" + (changes.size() + 1) + "\"}," + body + "}";
    }

    private void tell(String type, String json) {
        String line = "{\"type\":\"" + type + "\",\"object\":" + json + "}";
        changes.add(line);
        streams.forEach(stream -> stream.lines().add(line));
    }

    private synchronized String list() {
        return "{\"kind\":\"ERdmaDeviceList\",\"apiVersion\":\"network.alibabacloud.com/v1\",\"metadata\":"
                + "{\"resourceVersion\":\"" + changes.size() + "\"},\"items\":[" + object.orElse("") + "]}";
    }

    /** Begins with all that has changed since that version. */
    private synchronized Stream stream(String query) {
        int seen = Integer.parseInt(query.replaceFirst("^.*resourceVersion=([0-9]+).*$", "$1"));
        var stream = new Stream(new LinkedBlockingQueue<>(changes.subList(seen, changes.size())));
        streams.add(stream);
        return stream;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String query =
                    Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
            String path = exchange.getRequestURI().getPath();
            requests.add(exchange.getRequestMethod() + " " + path + (query.isEmpty() ? "" : "?" + query));
            if (hanging) {
                closed.await();
            }
            Optional<String> demanded = token.map(text -> "Bearer " + text);
            if (demanded.isPresent()
                    && !demanded.get().equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                send(exchange, 401, "{\"kind\":\"Status\",\"code\":401,\"reason\":\"Unauthorized\"}");
            } else if (dripping) {
                exchange.sendResponseHeaders(200, 0);
                do {
                    exchange.getResponseBody().write(' ');
                    exchange.getResponseBody().flush();
                } while (!closed.await(10, TimeUnit.MILLISECONDS));
            } else if (instead.isPresent()) {
                exchange.sendResponseHeaders(200, instead.get().length);
                exchange.getResponseBody().write(instead.get());
            } else if (failure != 0) {
                send(exchange, failure, "{\"kind\":\"Status\",\"code\":" + failure + "}");
            } else if (path.equals("/api/v1/nodes/node-a") && providerId.isPresent()) {
                send(
                        exchange,
                        200,
                        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"node-a\"},\"spec\":{\"providerID\":\""
                                + providerId.get() + "\"}" + status + "}");
            } else if (path.equals(OBJECTS) && !query.contains("fieldSelector=metadata.name=node-a")) {
                send(exchange, 400, "{\"kind\":\"Status\",\"code\":400,\"message\":\"only of one node\"}");
            } else if (path.equals(OBJECTS) && query.contains("watch=true")) {
                watch(exchange, query);
            } else if (path.equals(OBJECTS)) {
                send(exchange, 200, list());
            } else {
                send(exchange, 404, "{\"kind\":\"Status\",\"code\":404}");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch(HttpExchange exchange, String query) throws IOException, InterruptedException {
        if ("websocket".equals(exchange.getRequestHeaders().getFirst("Upgrade"))) {
            send(exchange, 200, "{}");
            return;
        }
        Stream stream = stream(query);
        try {
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            out.flush();
            for (String line = stream.lines().take();
                    !line.equals(Stream.END);
                    line = stream.lines().take()) {
                out.write((line + "\n").getBytes(UTF_8));
                out.flush();
            }
        } finally {
            streams.remove(stream);
        }
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        byte[] body = json.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        closed.countDown();
        endWatches();
        server.stop(0);
        threads.shutdownNow();
    }
}
