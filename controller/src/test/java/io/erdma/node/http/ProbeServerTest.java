package io.erdma.node.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.node.log.LogFormat;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.Logging;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProbeServerTest {
    private final AtomicReference<Verdict> health = new AtomicReference<>(Verdict.YES);
    private final AtomicReference<Verdict> readiness = new AtomicReference<>(Verdict.YES);
    private final Logging logging = Logging.start(OutputStream.nullOutputStream(), LogFormat.TEXT, LogLevel.INFO);
    private ProbeServer server;

    @BeforeEach
    void open() throws IOException {
        server = open(ProbeServer.MAX_CONNECTION_TIME);
    }

    private ProbeServer open(Duration longest) throws IOException {
        return ProbeServer.open(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                health::get,
                readiness::get,
                () -> "erdma_shares 200.0\n",
                () -> "pending driver: 3 users\n",
                logging,
                longest);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(server.address(), 2_000);
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** The whole answer to one request. */
    private String ask(String method, String path) throws IOException {
        try (Socket socket = connect()) {
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
            for (int i = 0; i < ProbeServer.MAX_CONNECTIONS * 3; i++) {
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
            other.connect(server.address(), 2_000);
            other.getOutputStream().write("GET /healthz HTT".getBytes(ISO_8859_1));
            for (int i = 0; i < ProbeServer.MAX_CONNECTIONS * 2; i++) {
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
        try (ProbeServer brief = open(Duration.ofMillis(50));
                Socket socket = new Socket()) {
            socket.connect(brief.address(), 2_000);
            socket.setSoTimeout(20_000);
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
    void saysWhatToDoWhenThePortIsTaken() {
        assertThatThrownBy(() ->
                        ProbeServer.open(server.address(), health::get, readiness::get, () -> "", () -> "", logging))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(
                        "cannot listen on 127.0.0.1:" + server.address().getPort())
                .hasMessageContaining("--probe-address");
    }
}
