package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.Offer;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentReaderTest {
    @Test
    void saysThatNobodyListens() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThat(new AgentReader(":" + port).readiness()).isInstanceOfSatisfying(AgentAnswer.Silent.class, silent -> {
            assertThat(silent.url()).isEqualTo("http://127.0.0.1:" + port + "/readyz");
            assertThat(silent.why()).contains("refused");
        });
    }

    @Test
    void readsTheBudgetOfEachDeviceAndNothingThatOnlyLooksLikeOne() {
        assertThat(AgentReader.budgetsIn("""
                        # TYPE erdma_queue_pair_budget gauge
                        erdma_queue_pair_budget{device="erdma_0"} 1024.0
                        erdma_queue_pair_budget{device="erdma_1"} 131072
                        erdma_queue_pair_budget{device="erdma_2"} NaN
                        erdma_queue_pair_budget{device="a\\"b"} 7
                        erdma_queue_pairs{device="erdma_0"} 3.0
                        """)).isEqualTo(Map.of("erdma_0", 1024, "erdma_1", 131072));
    }

    @Test
    void doesNotWaitForAnAnswerThatComesByteByByte() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/readyz", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            CountDownLatch never = new CountDownLatch(1);
            try (OutputStream body = exchange.getResponseBody()) {
                for (int sent = 0; sent < 1000 && !never.await(20, TimeUnit.MILLISECONDS); sent++) {
                    body.write('x');
                    body.flush();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.setExecutor(command -> Thread.ofPlatform().daemon().start(command));
        server.start();
        try {
            assertThat(new AgentReader(":" + server.getAddress().getPort(), Duration.ofMillis(200)).readiness())
                    .isInstanceOfSatisfying(
                            AgentAnswer.Silent.class,
                            silent -> assertThat(silent.why()).isEqualTo("did not answer within 200 ms"));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void doesNotAskAnAgentWithoutAddress() {
        assertThat(new AgentReader("").readiness()).isInstanceOf(AgentAnswer.NotAsked.class);
    }

    @Test
    void countsTheSharesOfHealthyDevicesInTheAgentsMetrics() {
        String metrics = """
                # TYPE erdma_devices gauge
                erdma_devices{health="healthy"} 1.0
                erdma_devices{health="unhealthy"} 3.0
                erdma_shares 800.0
                erdma_shares_other 7.0
                """;
        assertThat(AgentReader.offerIn(metrics)).contains(new Offer(200));
        assertThat(AgentReader.offerIn(
                        metrics.replace("1.0", "0.0").replace("3.0", "0.0").replace("800", "0")))
                .contains(new Offer(0));
        assertThat(AgentReader.offerIn("erdma_shares 800.0\n")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"9470", "http://x:1", ":port", "host:", "a b:1", ":123456"})
    void refusesWhatIsNoAddress(String text) {
        assertThatThrownBy(() -> new AgentReader(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HOST:PORT");
    }

    @Test
    void passesOverLinesOfPlansThatItDoesNotKnow() {
        assertThat(AgentReader.plansIn("later driver: news\npending driver: 1 user\n\nproblem\n"))
                .containsExactly(new Plan(PlanState.PENDING, "driver: 1 user"));
    }
}
