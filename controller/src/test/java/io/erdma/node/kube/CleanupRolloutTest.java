package io.erdma.node.kube;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.erdma.node.kube.CleanupRollout.Open;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CleanupRolloutTest {
    private static final String SET = "/apis/apps/v1/namespaces/ack-erdma-controller/daemonsets/cleanup";
    private static final String PODS = "/api/v1/namespaces/ack-erdma-controller/pods";

    @TempDir
    private Path directory;

    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final List<URI> asked = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI());
            Optional<String> answer =
                    Optional.ofNullable(answers.get(exchange.getRequestURI().getPath()));
            byte[] body = answer.orElse("{\"kind\":\"Status\",\"code\":404}").getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.isPresent() ? 200 : 404, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void isDoneWhenThePodOfEachNodeIsReady() throws Exception {
        set("{\"observedGeneration\":1,\"desiredNumberScheduled\":2}");
        pods(ready("node-a"), ready("node-b"));

        CleanupRollout rollout = read();

        assertThat(rollout.isDone()).isTrue();
        assertThat(rollout.clean()).isEqualTo(2);
        assertThat(asked.getLast().getQuery())
                .isEqualTo("labelSelector=app.kubernetes.io/component=cleanup,app.kubernetes.io/instance=erdma");
    }

    @Test
    void isNotDoneBeforeTheClusterHasCountedTheNodes() throws Exception {
        set("{\"desiredNumberScheduled\":0}");
        pods();

        assertThat(read().isDone()).isFalse();
        assertThat(read().nodes()).isEmpty();
    }

    @Test
    void isDoneWhereNoNodeHadAnAgent() throws Exception {
        set("{\"observedGeneration\":1,\"desiredNumberScheduled\":0}");
        pods();

        assertThat(read().isDone()).isTrue();
    }

    @Test
    void namesTheNodesThatAreNotCleanWithWhatCleanupSaid() throws Exception {
        set("{\"observedGeneration\":1,\"desiredNumberScheduled\":4}");
        pods(ready("node-a"), pod("node-b", """
                        {"initContainerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":\
                        {"terminated":{"exitCode":1,"message":"left: routes stay: pod a/b\\nleft: more\\n"}}}]}"""), pod("node-c", """
                        {"initContainerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}},"lastState":{}}]}"""), """
                {"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":\
                {"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-d"]}]}]}}}},\
                "status":{"phase":"Pending"}}""");

        CleanupRollout rollout = read();

        assertThat(rollout.isDone()).isFalse();
        assertThat(rollout.clean()).isEqualTo(1);
        assertThat(rollout.open())
                .containsExactly(
                        new Open("node-b", "left: routes stay: pod a/b; left: more"),
                        new Open("node-c", "its pod waits: ErrImagePull"),
                        new Open("node-d", "its pod has not started; is the node up?"));
    }

    @Test
    void countsNoPodThatIsOnItsWayOut() throws Exception {
        set("{\"observedGeneration\":1,\"desiredNumberScheduled\":1}");
        pods(ready("node-a")
                .replace("{\"metadata\":{", "{\"metadata\":{\"deletionTimestamp\":\"2026-12-01T00:00:00Z\","));

        assertThat(read().isDone()).isFalse();
    }

    @Test
    void saysWhatIsNotThere() {
        assertThatThrownBy(this::read)
                .isInstanceOf(ClusterException.class)
                .hasMessageStartingWith("cannot read the DaemonSet ack-erdma-controller/cleanup: ");
    }

    private CleanupRollout read() throws Exception {
        Path kubeconfig = Files.writeString(
                directory.resolve("kubeconfig"),
                FakeApiServer.kubeconfig(
                        "http://127.0.0.1:" + server.getAddress().getPort()));
        try (ClusterClient client = ClusterClient.open(new ClusterAccess.Kubeconfig(kubeconfig))) {
            return CleanupRollout.read(client, "ack-erdma-controller", "cleanup");
        }
    }

    private void set(String status) {
        answers.put(
                SET,
                "{\"metadata\":{\"generation\":1},\"spec\":{\"selector\":{\"matchLabels\":"
                        + "{\"app.kubernetes.io/component\":\"cleanup\",\"app.kubernetes.io/instance\":\"erdma\"}}},"
                        + "\"status\":" + status + "}");
    }

    private void pods(String... pods) {
        answers.put(PODS, "{\"items\":[" + String.join(",", pods) + "]}");
    }

    private static String ready(String node) {
        return pod(node, """
                {"conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"True"}]}""");
    }

    private static String pod(String node, String status) {
        return "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"" + node + "\"},\"status\":" + status + "}";
    }
}
