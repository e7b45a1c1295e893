package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.erdma.node.kube.ClusterReporter.Pace;
import io.erdma.node.kube.ClusterReporter.Settings;
import io.erdma.node.kube.Occurrence.About;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against an API server that refuses what the real one refuses. */
class ClusterReporterTest {
    private static final EventRules.Limits EVENTS = new EventRules.Limits(
            Duration.ofMinutes(10),
            10,
            Duration.ofSeconds(30),
            200,
            Duration.ofMillis(5),
            Duration.ofMillis(20),
            Duration.ofMillis(30));
    private static final MarkRules.Pace MARKS = new MarkRules.Pace(
            Duration.ofMillis(1),
            Duration.ofMinutes(15),
            Duration.ofMillis(50),
            Duration.ofMillis(5),
            Duration.ofMillis(20));
    private static final Pace FAST =
            new Pace(Duration.ZERO, Duration.ofMillis(5), Duration.ofMinutes(1), EVENTS, MARKS);
    private static final About POD =
            new About.OnPod("training", "job-worker-0", "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab");
    private static final NodeCondition WELL = new NodeCondition(true, "DevicesHealthy", "erdma_0 is healthy");
    private static final NodeCondition SICK = new NodeCondition(false, "DeviceUnhealthy", "1 of 1 devices: erdma_0");

    @TempDir
    private Path directory;

    private final Told told = new Told();
    private final List<ClusterReporter> reporters = new ArrayList<>();
    private StrictApiServer api;

    /** What a test has to tell. */
    private static final class Told implements ClusterReporter.News {
        private final Queue<Occurrence> waiting = new ConcurrentLinkedQueue<>();
        private volatile Optional<NodeState> state = Optional.empty();

        @Override
        public List<Occurrence> occurrences() {
            List<Occurrence> all = new ArrayList<>();
            for (Occurrence one = waiting.poll(); one != null; one = waiting.poll()) {
                all.add(one);
            }
            return all;
        }

        @Override
        public Optional<NodeState> state() {
            return state;
        }
    }

    @BeforeEach
    void start() throws IOException {
        api = StrictApiServer.start();
    }

    @AfterEach
    void stop() {
        reporters.forEach(ClusterReporter::close);
        api.close();
    }

    private ClusterReporter reporter(Settings settings, Pace pace) throws IOException {
        return reporter(settings, pace, api.access(directory));
    }

    private ClusterReporter reporter(Settings settings, Pace pace, ClusterAccess access) {
        var reporter = new ClusterReporter(settings, Optional.of(access), pace, Clock.systemUTC());
        reporters.add(reporter);
        reporter.start(told);
        return reporter;
    }

    private static Settings events() {
        return new Settings(true, false, false, "node-a");
    }

    private static Settings marks() {
        return new Settings(false, true, true, "node-a");
    }

    private static ConditionFactory soon() {
        return await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5));
    }

    private void unhealthy(String device) {
        told.waiting.add(new Occurrence(
                new About.OnNode("node-a"),
                EventReason.DEVICE_UNHEALTHY,
                device,
                device + " is unhealthy: port 1 is DOWN"));
    }

    private void notUsed() {
        told.waiting.add(new Occurrence(POD, EventReason.NOT_USED, "", "asked for eRDMA and does not use it"));
    }

    @Test
    void writesAnEventThatDescribeShowsAtTheNode() throws Exception {
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);

        soon().until(() -> reporter.status().counts().written() == 1);
        JsonNode event = api.events().getFirst();
        assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
        assertThat(event.at("/involvedObject/name").asText()).isEqualTo("node-a");
        assertThat(event.at("/involvedObject/uid").asText()).isEqualTo("node-a");
        assertThat(event.at("/metadata/namespace").asText()).isEqualTo("default");
        assertThat(event.at("/reason").asText()).isEqualTo("ErdmaDeviceUnhealthy");
        assertThat(event.at("/type").asText()).isEqualTo("Warning");
        assertThat(event.at("/message").asText()).isEqualTo("erdma_0 is unhealthy: port 1 is DOWN");
        assertThat(event.at("/source/component").asText()).isEqualTo("erdma-agent");
        assertThat(event.at("/source/host").asText()).isEqualTo("node-a");
    }

    @Test
    void writesAnEventThatDescribeShowsAtThePod() throws Exception {
        notUsed();
        ClusterReporter reporter = reporter(events(), FAST);

        soon().until(() -> reporter.status().counts().written() == 1);
        JsonNode event = api.events().getFirst();
        assertThat(event.at("/involvedObject").toString())
                .isEqualTo(
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"job-worker-0\",\"namespace\":\"training\","
                                + "\"uid\":\"5f3c2a10-9b7e-4c1d-8a2f-0123456789ab\"}");
        assertThat(event.at("/metadata/namespace").asText()).isEqualTo("training");
    }

    /** Rights are those to create and patch Events and no other, so nothing is read. */
    @Test
    void countsInTheSameEventWithoutReadingIt() throws Exception {
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> reporter.status().counts().written() == 1);
        unhealthy("erdma_0");
        reporter.wakeUp();

        soon().until(() -> reporter.status().counts().written() == 2);
        assertThat(api.events()).hasSize(1);
        assertThat(api.events().getFirst().path("count").asInt()).isEqualTo(2);
        assertThat(api.requests()).allMatch(request -> request.matches("(POST|PATCH) .*/events.*"));
    }

    @Test
    void anAgentThatWasStartedAgainGoesOnWithItsEvents() throws Exception {
        notUsed();
        unhealthy("erdma_0");
        ClusterReporter before = reporter(events(), FAST);
        soon().until(() -> before.status().counts().written() == 2);
        before.close();
        notUsed();
        unhealthy("erdma_0");
        ClusterReporter after = reporter(events(), FAST);

        // The time of the first is part of the name, in steps of the window; where that steps on, it is another Event.
        soon().until(() -> after.status().counts().written() >= 1 && told.waiting.isEmpty());
        soon().until(() -> api.events().stream()
                        .filter(event -> event.path("reason").asText().equals("ErdmaDeviceUnhealthy"))
                        .mapToInt(event -> event.path("count").asInt())
                        .sum()
                == 2);
        assertThat(api.events())
                .filteredOn(event -> event.path("reason").asText().equals("ErdmaNotUsed"))
                .hasSize(1);
        assertThat(after.status().problem()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 408, 429, 500, 502, 503, 504})
    void triesAgainWhatTheServerCouldNotDoNow(int status) throws Exception {
        api.fail(status);
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> api.requests().size() >= 3);
        assertThat(reporter.status().problem().orElseThrow()).startsWith("cannot write an Event: the API server");

        api.recover();
        soon().until(() -> reporter.status().counts().written() == 1);
        soon().until(() -> reporter.status().problem().isEmpty());
    }

    @Test
    void takesGarbageForAFailure() throws Exception {
        api.fail(200, Map.of(), "<html>a proxy's login page</html>");
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> reporter.status().problem().isPresent());

        api.recover();
        soon().until(() -> reporter.status().counts().written() == 1);
    }

    @Test
    void waitsAsLongAsTheServerAsksInItsHeader() throws Exception {
        var patient = new EventRules.Limits(
                Duration.ofMinutes(10),
                10,
                Duration.ofSeconds(30),
                200,
                Duration.ofMillis(5),
                Duration.ofMinutes(2),
                Duration.ofMinutes(5));
        api.fail(429, Map.of("Retry-After", "60"), "Too many requests, please try again later.");
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(
                events(), new Pace(Duration.ZERO, Duration.ofMillis(5), Duration.ofMinutes(1), patient, MARKS));
        soon().until(() -> reporter.status().problem().isPresent());
        int asked = api.requests().size();
        unhealthy("erdma_1");
        reporter.wakeUp();

        soon().until(told.waiting::isEmpty);
        await().during(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(5))
                .until(() -> api.requests().size() == asked);
    }

    @Test
    void saysWhichRightIsMissingAndGoesOnOnceItIsThere() throws Exception {
        api.revoke("create events");
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> reporter.status().problem().isPresent());
        assertThat(reporter.status().problem())
                .contains("cannot write an Event: the API server forbids it (403); give the agent's service account"
                        + " create and patch on events");

        api.grant("create events");
        soon().until(() -> reporter.status().counts().written() == 1);
    }

    @Test
    void forgetsThePodWhoseNamespaceIsDeletedAndTellsOfOthers() throws Exception {
        api.terminate("training");
        notUsed();
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);

        soon().until(() -> reporter.status().counts().equals(new EventCounts(1, 0, 1)));
        assertThat(reporter.status().problem()).isEmpty();
    }

    @Test
    void writesAnewWhatTheServerHasForgotten() throws Exception {
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> reporter.status().counts().written() == 1);
        String name = api.events().getFirst().at("/metadata/name").asText();
        api.expire(name);
        unhealthy("erdma_0");
        reporter.wakeUp();

        soon().until(() -> api.events().size() == 1);
        assertThat(api.events().getFirst().at("/metadata/name").asText()).isEqualTo(name);
        assertThat(api.events().getFirst().path("count").asInt()).isEqualTo(2);
    }

    @Test
    void usesTheTokenThatTheKubeletHasPutThere() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "old");
        Path authority = Files.createFile(directory.resolve("ca.crt"));
        api.demand("old");
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST, new ClusterAccess.InCluster(api.url(), token, authority));
        soon().until(() -> reporter.status().counts().written() == 1);

        api.demand("new");
        unhealthy("erdma_1");
        soon().until(() -> reporter.status().problem().isPresent());
        Files.writeString(token, "new");
        soon().until(() -> reporter.status().counts().written() == 2);
    }

    @Test
    void closesSoonAlsoWhileTheServerHangs() throws Exception {
        api.hang();
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> api.requests().size() == 1);

        long before = System.nanoTime();
        reporter.close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(2));
        assertThat(reporter.status().counts()).isEqualTo(new EventCounts(0, 0, 0));
    }

    @Test
    void takesNewsWithoutWaitingWhileTheServerHangs() throws Exception {
        api.hang();
        unhealthy("erdma_0");
        ClusterReporter reporter = reporter(events(), FAST);
        soon().until(() -> api.requests().size() == 1);

        long before = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            reporter.wakeUp();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    void startsNothingWithoutAccessOrWhereAllIsSwitchedOff() throws Exception {
        var without = new ClusterReporter(events(), Optional.empty());
        without.start(told);
        assertThat(without.status().off().orElseThrow()).startsWith("there are no credentials for the cluster's API");
        without.close();

        ClusterReporter off = reporter(new Settings(false, false, false, "node-a"), FAST);
        assertThat(off.status().off()).contains("it is switched off");
        unhealthy("erdma_0");
        off.wakeUp();
        assertThat(told.waiting).hasSize(1);
        assertThat(api.requests()).isEmpty();
    }

    @Test
    void opensItsClientAgainAfterItWasIdle() throws Exception {
        unhealthy("erdma_0");
        ClusterReporter reporter =
                reporter(events(), new Pace(Duration.ZERO, Duration.ofMillis(5), Duration.ofMillis(1), EVENTS, MARKS));
        soon().until(() -> reporter.status().counts().written() == 1);
        unhealthy("erdma_1");

        soon().until(() -> reporter.status().counts().written() == 2);
    }

    @Test
    void marksTheNodeAndKeepsTheConditionsOfOthers() throws Exception {
        told.state = Optional.of(new NodeState(WELL, true));
        ClusterReporter reporter = reporter(marks(), FAST);
        soon().until(() -> api.label(NodeMarks.LABEL).equals(Optional.of("true")));

        JsonNode condition = api.condition(NodeMarks.CONDITION).orElseThrow();
        assertThat(condition.path("status").asText()).isEqualTo("True");
        assertThat(condition.path("reason").asText()).isEqualTo("DevicesHealthy");
        assertThat(condition.path("lastTransitionTime")).isEqualTo(condition.path("lastHeartbeatTime"));
        assertThat(api.condition("Ready")).isPresent();
        assertThat(api.label("kubernetes.io/hostname")).contains("node-a");

        told.state = Optional.of(new NodeState(SICK, true));
        reporter.wakeUp();
        soon().until(() -> api.condition(NodeMarks.CONDITION)
                .orElseThrow()
                .path("status")
                .asText()
                .equals("False"));
        assertThat(api.label(NodeMarks.LABEL)).contains("true");
    }

    @Test
    void saysWhichRightForMarksIsMissing() throws Exception {
        api.revoke("patch nodes/status");
        told.state = Optional.of(new NodeState(WELL, true));
        ClusterReporter reporter = reporter(marks(), FAST);

        soon().until(() -> reporter.status().problem().isPresent());
        assertThat(reporter.status().problem())
                .contains("cannot set a condition of the Node node-a: the API server forbids it (403); give the agent's"
                        + " service account patch on nodes/status");
        soon().until(() -> api.label(NodeMarks.LABEL).isPresent());
    }

    @Test
    void saysThatThereIsNoNodeOfThatName() throws Exception {
        told.state = Optional.of(new NodeState(WELL, true));
        ClusterReporter reporter = reporter(new Settings(false, true, false, "node-b"), FAST);

        soon().until(() -> reporter.status().problem().isPresent());
        assertThat(reporter.status().problem())
                .contains("there is no Node object node-b; name the right one with --node-name");
    }
}
