package io.erdma.node.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.node.log.LogFormat;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.Logging;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpServerTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final AtomicReference<Verdict> health = new AtomicReference<>(Verdict.YES);
    private final AtomicReference<Verdict> readiness = new AtomicReference<>(Verdict.YES);
    private final Logging logging = Logging.start(OutputStream.nullOutputStream(), LogFormat.TEXT, LogLevel.INFO);
    private HttpServer server;
    private InetSocketAddress address;

    @BeforeEach
    void open() throws IOException {
        server = HttpServer.create();
        address = server.listen(ANY_PORT, probes());
    }

    private ProbePaths probes() {
        return new ProbePaths(
                health::get, readiness::get, () -> "erdma_shares 200.0\n", () -> "pending driver: 3 users\n", logging);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Socket connect() throws IOException {
        return connect(address);
    }

    private static Socket connect(InetSocketAddress to) throws IOException {
        Socket socket = new Socket();
        socket.connect(to, 2_000);
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** The whole answer to one request. */
    private String ask(String method, String path) throws IOException {
        return ask(address, method, path);
    }

    private static String ask(InetSocketAddress to, String method, String path) throws IOException {
        try (Socket socket = connect(to)) {
            socket.getOutputStream()
                    .write((method + " " + path + " HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")
                            .getBytes(ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
        }
    }

    @Test
    void answersOkWhileTheConditionsHold() throws IOException {
        assertThat(ask("GET", "/healthz")).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nok\n");
        assertThat(ask("GET", "/readyz")).startsWith("HTTP/1.1 200 ");
        assertThat(ask("HEAD", "/readyz")).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\n");
    }

    @Test
    void saysWhichConditionFails() throws IOException {
        health.set(new Verdict(List.of("the last health check was 61 s ago")));
        readiness.set(new Verdict(List.of("not registered with the kubelet", "no ListAndWatch stream")));

        assertThat(ask("GET", "/healthz"))
                .startsWith("HTTP/1.1 503 ")
                .endsWith("\r\n\r\nthe last health check was 61 s ago\n");
        assertThat(ask("GET", "/readyz"))
                .startsWith("HTTP/1.1 503 ")
                .endsWith("\r\n\r\nnot registered with the kubelet\nno ListAndWatch stream\n");
    }

    @Test
    void servesTheMetrics() throws IOException {
        assertThat(ask("GET", "/metrics"))
                .containsIgnoringCase("Content-Type: text/plain; version=0.0.4")
                .endsWith("erdma_shares 200.0\n");
    }

    @Test
    void tellsThePlansToWhoeverReads() throws IOException {
        assertThat(ask("GET", "/plans")).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\npending driver: 3 users\n");
        assertThat(ask("PUT", "/plans")).startsWith("HTTP/1.1 405 ");
    }

    @Test
    void refusesOtherPathsAndMethods() throws IOException {
        assertThat(ask("GET", "/")).startsWith("HTTP/1.1 404 ");
        assertThat(ask("GET", "/healthz/x")).startsWith("HTTP/1.1 404 ");
        assertThat(ask("GET", "/metricsfoo")).startsWith("HTTP/1.1 404 ");
        assertThat(ask("POST", "/metrics")).startsWith("HTTP/1.1 405 ").containsIgnoringCase("Allow: GET, HEAD");
        assertThat(ask("DELETE", "/loglevel")).startsWith("HTTP/1.1 405 ");
        assertThat(ask("POST", "/loglevel?level=debug")).startsWith("HTTP/1.1 405 ");
    }

    @Test
    void changesTheLogLevelForTheNodeItself() throws IOException {
        assertThat(ask("PUT", "/loglevel?level=debug")).startsWith("HTTP/1.1 200 ");
        assertThat(logging.level()).isEqualTo(LogLevel.DEBUG);
        assertThat(ask("GET", "/loglevel")).endsWith("\r\n\r\ndebug\n");

        assertThat(ask("PUT", "/loglevel?level=loud")).startsWith("HTTP/1.1 400 ");
        assertThat(ask("PUT", "/loglevel")).startsWith("HTTP/1.1 400 ");
        assertThat(logging.level()).isEqualTo(LogLevel.DEBUG);
    }

    @Test
    void answersWithinASecondWhileSilentPeersHoldMoreConnectionsThanThereAre() throws IOException {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < HttpServer.MAX_CONNECTIONS * 3; i++) {
                silent.add(connect());
            }
            long start = System.nanoTime();
            assertThat(ask("GET", "/healthz")).startsWith("HTTP/1.1 200 ");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(1));
        } finally {
            closeAll(silent);
        }
    }

    @Test
    void takesConnectionsFromThePeerThatHasMostAndFromNoOther() throws IOException {
        List<Socket> greedy = new ArrayList<>();
        try (Socket other = new Socket()) {
            other.bind(new InetSocketAddress("127.0.0.2", 0));
            other.connect(address, 2_000);
            other.getOutputStream().write("GET /healthz HTT".getBytes(ISO_8859_1));
            for (int i = 0; i < HttpServer.MAX_CONNECTIONS * 2; i++) {
                Socket socket = connect();
                socket.getOutputStream().write("GET /metrics HTT".getBytes(ISO_8859_1));
                greedy.add(socket);
            }
            assertThat(greedy.getFirst().getInputStream().read()).isEqualTo(-1);

            other.getOutputStream().write("P/1.1\r\nHost: node\r\n\r\n".getBytes(ISO_8859_1));
            assertThat(new String(other.getInputStream().readAllBytes(), ISO_8859_1))
                    .startsWith("HTTP/1.1 200 ");
        } finally {
            closeAll(greedy);
        }
    }

    @Test
    void endsAConnectionThatTakesTooLong() throws IOException {
        try (HttpServer brief = HttpServer.create(Duration.ofMillis(50));
                Socket socket = connect(brief.listen(ANY_PORT, probes()))) {
            socket.getOutputStream().write("GET /metrics HTT".getBytes(ISO_8859_1));
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void endsEachConnectionAfterItsAnswer() throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write("GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: keep-alive\r\n\r\n"
                            .getBytes(ISO_8859_1));
            assertThat(new String(socket.getInputStream().readAllBytes(), ISO_8859_1))
                    .containsIgnoringCase("Connection: close")
                    .endsWith("\r\n\r\nok\n");
        }
    }

    @Test
    void doesNotTakeABody() throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write("PUT /loglevel?level=debug HTTP/1.1\r\nHost: node\r\nContent-Length: 1000000\r\n\r\n"
                            .getBytes(ISO_8859_1));
            assertThat(new String(socket.getInputStream().readAllBytes(), ISO_8859_1))
                    .startsWith("HTTP/1.1 413 ");
        }
        assertThat(logging.level()).isEqualTo(LogLevel.INFO);
    }

    private static void closeAll(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Test
    void survivesRubbish() throws IOException {
        for (String rubbish : List.of("\r\n\r\n", "GET\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n")) {
            try (Socket socket = connect()) {
                socket.getOutputStream().write(rubbish.getBytes(ISO_8859_1));
                socket.shutdownOutput();
                socket.getInputStream().readAllBytes();
            }
        }
        assertThat(ask("GET", "/healthz")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void answersAFaultOfOursWithoutLosingTheServer() throws IOException {
        readiness.set(null);

        assertThat(ask("GET", "/readyz")).startsWith("HTTP/1.1 500 ");
        assertThat(ask("GET", "/healthz")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void saysWhichPortIsTakenAndGoesOnServingTheOthers() throws IOException {
        assertThatThrownBy(() -> server.listen(address, probes()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot listen on 127.0.0.1:" + address.getPort());
        assertThat(ask("GET", "/healthz")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void answersProbesWhileTheOtherAddressHasMoreConnectionsThanItTakes() throws IOException {
        InetSocketAddress page =
                server.listen(ANY_PORT, new PagePaths(new PagePaths.Page(_ -> "", "default-src 'none'"), () -> ""));
        List<Socket> silent = new ArrayList<>();
        try (Socket probe = connect()) {
            probe.getOutputStream().write("GET /healthz HTT".getBytes(ISO_8859_1));
            for (int i = 0; i < HttpServer.MAX_CONNECTIONS * 3; i++) {
                silent.add(connect(page));
            }
            assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);

            probe.getOutputStream().write("P/1.1\r\nHost: node\r\n\r\n".getBytes(ISO_8859_1));
            assertThat(new String(probe.getInputStream().readAllBytes(), ISO_8859_1))
                    .startsWith("HTTP/1.1 200 ");
        } finally {
            closeAll(silent);
        }
    }

    @Test
    void servesThePageAndTheMetricsOfPodsAtAnAddressOfTheirOwn() throws IOException {
        InetSocketAddress page = server.listen(
                ANY_PORT,
                new PagePaths(
                        new PagePaths.Page(refreshing -> "<p>refreshing: " + refreshing, "default-src 'none'"),
                        () -> "erdma_pod_shares 1.0\n"));

        assertThat(ask(page, "GET", "/"))
                .startsWith("HTTP/1.1 200 ")
                .containsIgnoringCase("Content-Type: text/html; charset=utf-8")
                .containsIgnoringCase("Content-Security-Policy: default-src 'none'")
                .containsIgnoringCase("X-Content-Type-Options: nosniff")
                .containsIgnoringCase("Cache-Control: no-store")
                .endsWith("\r\n\r\n<p>refreshing: true");
        assertThat(ask(page, "GET", "/?refresh=off")).endsWith("<p>refreshing: false");
        assertThat(ask(page, "GET", "/metrics")).endsWith("erdma_pod_shares 1.0\n");
        assertThat(ask(page, "POST", "/")).startsWith("HTTP/1.1 405 ");
        assertThat(ask(page, "GET", "/loglevel")).startsWith("HTTP/1.1 404 ");
        assertThat(ask("GET", "/")).startsWith("HTTP/1.1 404 ");
    }

    @Test
    void makesThePageAtMostOnceASecondHoweverManyLookAtIt() {
        AtomicLong nanos = new AtomicLong();
        AtomicInteger made = new AtomicInteger();
        PagePaths paths = new PagePaths(
                new PagePaths.Page(_ -> "page " + made.incrementAndGet(), "default-src 'none'"), () -> "", nanos::get);
        Paths.Request request = new Paths.Request(HttpMethod.GET, "/", "", address.getAddress());

        assertThat(paths.answer(request).body()).isEqualTo("page 1");
        nanos.addAndGet(Duration.ofMillis(999).toNanos());
        assertThat(paths.answer(request).body()).isEqualTo("page 1");
        nanos.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(paths.answer(request).body()).isEqualTo("page 2");
    }
}
