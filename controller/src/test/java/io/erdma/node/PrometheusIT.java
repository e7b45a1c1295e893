package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.node.metrics.Exposition;
import io.erdma.node.metrics.Exposition.Family;
import io.erdma.node.metrics.MetricsTable;
import io.erdma.node.metrics.MetricsTable.Row;
import io.erdma.node.metrics.Shipped;
import io.erdma.node.metrics.Shipped.Dashboard;
import io.erdma.plugin.FakeKubelet;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A real Prometheus scrapes the real agent, each second, with the rules and queries that come with the chart. */
class PrometheusIT {
    private static final Duration SOON = Duration.ofSeconds(45);
    private static final String GUID = "0216:3eff:fe00:0001";
    private static final Pattern SHOWS_SOME_ONLY = Pattern.compile("ALERTS|[=>] \\d");
    private static final String COUNTERS = "class/infiniband/erdma_0/ports/1/hw_counters/";

    @TempDir
    private Path directory;

    private Path root;
    private NodeFixture node;
    private FakeVerbs verbs;
    private FakeVerbs.Device erdma0;
    private int agentPort;
    private int port;
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        // Short: a socket's path has at most 107 bytes.
        root = Files.createTempDirectory("erdma");
        node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));
        verbs = FakeVerbs.tree(directory.resolve("verbs"));
        erdma0 = verbs.device("erdma_0").uverbs("uverbs0").guid(GUID);
        FakeKubelet kubelet = FakeKubelet.start(root);
        open.add(kubelet);
        agentPort = freePort();
        port = freePort();
        agent();
        kubelet.awaitAllocatable("aliyun/erdma", 200, SOON);
        prometheus();
        await().atMost(SOON)
                .until(() -> !query("erdma_device_healthy{node=\"gpu-1\"} == 1").isEmpty()
                        && namesOfFiring().isEmpty());
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        client.close();
        try (var files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private AgentProcess agent() throws IOException {
        AgentProcess agent = AgentProcess.start(
                directory,
                verbs.environment(),
                List.of(
                        "--kubelet-root-dir=" + root,
                        "--sysfs-root=" + node.sysfs(),
                        "--dev-root=" + node.dev(),
                        "--verbs-library=" + FakeVerbs.library(),
                        "--probe-address=127.0.0.1:" + agentPort,
                        "--page-address="));
        open.add(agent);
        return agent;
    }

    /** The rules are those of the chart, but for the time that each alert waits. */
    private void prometheus() throws IOException {
        Path rules = directory.resolve("rules.yaml");
        Files.writeString(rules, Files.readString(Shipped.RULES).replaceAll("for: \\d+[mh]", "for: 2s"));
        Path config = directory.resolve("prometheus.yaml");
        Files.writeString(config, """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: ['%s']
                scrape_configs:
                  - job_name: erdma-agent
                    honor_labels: true
                    static_configs: [{targets: ['127.0.0.1:%d'], labels: {node: gpu-1}}]
                """.formatted(rules, agentPort));
        Path log = directory.resolve("prometheus.log");
        Process process = new ProcessBuilder(
                        "prometheus",
                        "--config.file=" + config,
                        "--storage.tsdb.path=" + directory.resolve("tsdb"),
                        "--web.listen-address=127.0.0.1:" + port,
                        "--log.level=warn")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        open.add(() -> {
            process.destroy();
            assertThat(process.waitFor(20, TimeUnit.SECONDS))
                    .as("prometheus ends; its log: %s", Files.readString(log))
                    .isTrue();
        });
        await().atMost(SOON)
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> get("/-/ready").statusCode() == 200);
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(Duration.ofSeconds(10))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** What Prometheus' API calls data. */
    private Map<?, ?> data(String path) throws IOException, InterruptedException {
        Map<?, ?> answer = (Map<?, ?>) new Load(LoadSettings.builder().build())
                .loadFromString(get(path).body());
        assertThat(answer.get("status")).as("%s: %s", path, answer).isEqualTo("success");
        return (Map<?, ?>) answer.get("data");
    }

    private List<?> query(String expression) throws IOException, InterruptedException {
        return (List<?>) data("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .get("result");
    }

    private List<Map<?, ?>> firing() throws IOException, InterruptedException {
        return ((List<?>) data("/api/v1/alerts").get("alerts"))
                .stream()
                        .<Map<?, ?>>map(alert -> (Map<?, ?>) alert)
                        .filter(alert -> alert.get("state").equals("firing"))
                        .toList();
    }

    private List<String> namesOfFiring() throws IOException, InterruptedException {
        return firing().stream()
                .map(alert -> (String) ((Map<?, ?>) alert.get("labels")).get("alertname"))
                .toList();
    }

    @Test
    void tellsOfASickDeviceAndThatItIsWellAgain() throws Exception {
        erdma0.portDown();
        await().atMost(SOON).until(() -> namesOfFiring().contains("ErdmaDeviceUnhealthy"));

        Map<?, ?> alert = firing().stream()
                .filter(one -> ((Map<?, ?>) one.get("labels")).get("alertname").equals("ErdmaDeviceUnhealthy"))
                .findFirst()
                .orElseThrow();
        assertThat((Map<?, ?>) alert.get("labels"))
                .isEqualTo(Map.of(
                        "alertname", "ErdmaDeviceUnhealthy",
                        "severity", "warning",
                        "device", "erdma_0",
                        "node", "gpu-1",
                        "job", "erdma-agent",
                        "instance", "127.0.0.1:" + agentPort));
        assertThat(((Map<?, ?>) alert.get("annotations")).get("summary"))
                .isEqualTo("eRDMA device erdma_0 of node gpu-1 is unhealthy");
        // The node's only device.
        await().atMost(SOON).until(() -> namesOfFiring().contains("ErdmaNoHealthyDevice"));

        erdma0.portUp();
        await().atMost(SOON).until(() -> namesOfFiring().isEmpty());
    }

    @Test
    void tellsOfAnAgentThatIsGoneAndForgetsItOnceItIsBack() throws Exception {
        AgentProcess agent = (AgentProcess) open.get(1);
        assertThat(agent.terminate(Duration.ofSeconds(5))).isZero();
        await().atMost(SOON).until(() -> namesOfFiring().containsAll(List.of("ErdmaAgentDown", "ErdmaAgentAbsent")));

        agent();
        await().atMost(SOON).until(() -> namesOfFiring().isEmpty());
    }

    @Test
    void seesTheDevicesTrafficAndWhatTheQuotaCosts() throws Exception {
        node.write(COUNTERS + "rx_bytes_cnt", "18446744073709551615\n");
        node.write(COUNTERS + "tx_packets_cnt", "1000\n");
        await().atMost(SOON)
                .until(() -> !query("erdma_device_sent_packets_total == 1000").isEmpty());
        assertThat(query("erdma_device_received_bytes_total > 1.8e19")).hasSize(1);

        node.write(COUNTERS + "tx_bps_limit_drop_cnt", "500\n");
        await().atMost(SOON).until(() -> namesOfFiring().contains("ErdmaDropsByQuota"));
    }

    @Test
    void understandsEveryQueryOfTheDashboardsAndHasAnAnswer() {
        SortedMap<String, Row> table = MetricsTable.read();
        List<String> mayBeAbsent = table.values().stream()
                .filter(row -> !row.absent().isEmpty())
                .map(Row::name)
                .toList();
        for (Dashboard dashboard : Shipped.dashboards()) {
            for (String expression : dashboard.queries()) {
                String filledIn = Dashboard.filledIn(expression);
                if (SHOWS_SOME_ONLY.matcher(filledIn).find()
                        || mayBeAbsent.stream().anyMatch(filledIn::contains)) {
                    assertThat(succeeds(filledIn)).isTrue();
                } else {
                    await(expression).atMost(SOON).until(() -> !query(filledIn).isEmpty());
                }
            }
        }
        // May be absent where a driver counts nothing; this one counts.
        await().atMost(SOON)
                .until(() ->
                        !query("rate(erdma_device_received_bytes_total[10s])").isEmpty());
    }

    private boolean succeeds(String expression) {
        try {
            return query(expression) != null;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(expression, e);
        }
    }

    /** MetricsTableTest knows the metrics that the code can make; this is what the program makes of them. */
    @Test
    void scrapesWhatTheTableTells() throws Exception {
        SortedMap<String, Row> table = MetricsTable.read();
        SortedMap<String, Family> exposed =
                Exposition.read(AgentProcess.get(agentPort, "/metrics").body());

        assertThat(table.keySet()).containsAll(exposed.keySet());
        assertThat(exposed.keySet())
                .containsAll(table.values().stream()
                        .filter(row -> row.absent().isEmpty())
                        .map(Row::name)
                        .toList());
        exposed.forEach((name, family) -> {
            assertThat(family.type()).as(name).isEqualTo(table.get(name).type());
            assertThat(family.labels()).as(name).isEqualTo(table.get(name).labels());
            assertThat(family.series()).as(name).isLessThanOrEqualTo(10);
        });
    }
}
