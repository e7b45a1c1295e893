package io.erdma.node.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.Logging;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Answers {@code /healthz}, {@code /readyz}, {@code /metrics} and {@code /loglevel}.
 *
 * <p>The agent runs in the host's network namespace, so whoever reaches the node reaches this port. Hence: connections,
 * threads and the time that a request may take are bounded, request bodies are never read, and the one path that
 * changes something answers the node itself only.
 */
public final class ProbeServer implements AutoCloseable {
    private static final Log LOG = Log.of(ProbeServer.class);

    static final int MAX_CONNECTIONS = 32;
    static final Duration MAX_REQUEST_TIME = Duration.ofSeconds(5);
    private static final Duration IDLE_THREAD = Duration.ofSeconds(15);

    private final HttpServer server;
    private final ThreadPoolExecutor threads;

    private ProbeServer(HttpServer server, ThreadPoolExecutor threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Serves at once.
     *
     * @param metrics the text of a scrape
     * @throws IOException in one line for the operator, when the address cannot be taken
     */
    public static ProbeServer open(
            InetSocketAddress address,
            Supplier<Verdict> health,
            Supplier<Verdict> readiness,
            Supplier<String> metrics,
            Logging logging)
            throws IOException {
        limits();
        HttpServer server;
        try {
            server = HttpServer.create(address, MAX_CONNECTIONS);
        } catch (BindException e) {
            throw new IOException(
                    "cannot listen on " + describe(address) + " for probes and metrics: " + e.getMessage()
                            + ". The agent shares the node's ports: give it a free one with --probe-address (and the"
                            + " pod's probes the same), or turn it off with --probe-address=",
                    e);
        }
        // No queue: a waiting request would wait behind slow ones. As many threads as connections, and idle ones end.
        var threads = new ThreadPoolExecutor(
                0,
                MAX_CONNECTIONS,
                IDLE_THREAD.toMillis(),
                TimeUnit.MILLISECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform().name("erdma-http").daemon().factory());
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            // The server gives each request to the longest path that fits; here only whole paths count.
            try (exchange) {
                String path = exchange.getRequestURI().getPath();
                switch (path) {
                    case "/healthz" -> get(exchange, () -> verdict(health.get()));
                    case "/readyz" -> get(exchange, () -> verdict(readiness.get()));
                    case "/metrics" -> get(exchange, () -> new Answer(200, metrics.get()));
                    case "/loglevel" -> logLevel(exchange, logging);
                    case null, default -> send(exchange, new Answer(404, "not found\n"));
                }
            } catch (RuntimeException e) {
                LOG.error(
                        "request failed",
                        e,
                        Field.of("path", exchange.getRequestURI().getPath()));
            }
        });
        server.start();
        return new ProbeServer(server, threads);
    }

    /** Read once, when the JDK's server class is first used; a value that the operator gave by -D stays. */
    private static void limits() {
        String seconds = Long.toString(MAX_REQUEST_TIME.toSeconds());
        setUnlessGiven("sun.net.httpserver.maxReqTime", seconds);
        setUnlessGiven("sun.net.httpserver.maxRspTime", seconds);
        setUnlessGiven("jdk.httpserver.maxConnections", Integer.toString(MAX_CONNECTIONS));
        setUnlessGiven("sun.net.httpserver.idleInterval", "10");
        setUnlessGiven("sun.net.httpserver.maxIdleConnections", "8");
        // Bodies are not wanted: what a client sends beyond this ends its connection.
        setUnlessGiven("sun.net.httpserver.drainAmount", "1024");
        setUnlessGiven("sun.net.httpserver.nodelay", "true");
    }

    private static void setUnlessGiven(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    private record Answer(int status, String body) {}

    private static void get(HttpExchange exchange, Supplier<Answer> answer) throws IOException {
        String method = exchange.getRequestMethod();
        if (method.equals("GET") || method.equals("HEAD")) {
            send(exchange, answer.get());
        } else {
            notAllowed(exchange, "GET, HEAD");
        }
    }

    private static void notAllowed(HttpExchange exchange, String allowed) throws IOException {
        exchange.getResponseHeaders().set("Allow", allowed);
        send(exchange, new Answer(405, "use " + allowed + "\n"));
    }

    private static Answer verdict(Verdict verdict) {
        return verdict.holds()
                ? new Answer(200, "ok\n")
                : new Answer(503, String.join("\n", verdict.failures()) + "\n");
    }

    /**
     * Only PUT changes the level: a web page opened on the node could send a POST to it, but no PUT without asking.
     */
    private static void logLevel(HttpExchange exchange, Logging logging) throws IOException {
        switch (exchange.getRequestMethod()) {
            case "GET", "HEAD" -> send(exchange, new Answer(200, logging.level().word() + "\n"));
            case "PUT" -> {
                if (!exchange.getRemoteAddress().getAddress().isLoopbackAddress()) {
                    send(exchange, new Answer(403, "the log level is changed from the node itself only\n"));
                    return;
                }
                String query =
                        Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
                Optional<LogLevel> level =
                        query.startsWith("level=") ? LogLevel.of(query.substring("level=".length())) : Optional.empty();
                if (level.isEmpty()) {
                    send(exchange, new Answer(400, "use /loglevel?level=debug, info, warn or error\n"));
                    return;
                }
                LogLevel before = logging.level();
                logging.level(level.get());
                LOG.warn(
                        "log level changed",
                        Field.of("from", before.word()),
                        Field.of("to", level.get().word()));
                send(exchange, new Answer(200, level.get().word() + "\n"));
            }
            default -> notAllowed(exchange, "GET, HEAD, PUT");
        }
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        byte[] body = answer.body().getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(answer.status(), -1);
            return;
        }
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /** Where it listens; the port is the real one also when 0 was asked for. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private static String describe(InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress()
                ? ":" + address.getPort()
                : address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** Answers under way are cut off. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
