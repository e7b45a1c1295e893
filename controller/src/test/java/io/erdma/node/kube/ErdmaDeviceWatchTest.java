package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.cluster.crd.ErdmaDevice;
import io.erdma.cluster.crd.ErdmaDeviceSpec;
import io.erdma.node.kube.ErdmaDeviceWatch.Pace;
import io.erdma.node.kube.ErdmaDeviceWatch.Seen;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErdmaDeviceWatchTest {
    private static final Pace FAST = new Pace(Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMinutes(4));
    private static final String LIST =
            "GET /apis/network.alibabacloud.com/v1/erdmadevices?fieldSelector=metadata.name=node-a";

    @TempDir
    private Path directory;

    private final Semaphore woken = new Semaphore(0);
    private FakeApiServer server;
    private Optional<ClusterClient> client = Optional.empty();
    private ErdmaDeviceWatch watch;

    @BeforeEach
    void start() throws IOException, ClusterException {
        server = FakeApiServer.start();
        watch(server.access(directory));
    }

    private void watch(ClusterAccess access) throws ClusterException {
        client.ifPresent(ClusterClient::close);
        client = Optional.of(ClusterClient.open(access));
        watch = new ErdmaDeviceWatch(client.get(), "node-a", woken::release, FAST);
    }

    @AfterEach
    void stop() {
        watch.close();
        client.ifPresent(ClusterClient::close);
        server.close();
    }

    private static String device(String id) {
        return "\"spec\":{\"devices\":[{\"id\":\"" + id + "\"}]}";
    }

    private List<String> ids() {
        return watch.seen() instanceof Seen.Present present
                ? present.spec().orElseThrow().devices().stream()
                        .map(ErdmaDeviceSpec.Device::id)
                        .toList()
                : List.of();
    }

    /** Turns as its owner does: when woken, or when something is due. */
    private void turnUntil(Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> {
                    woken.tryAcquire(Math.min(watch.due().toMillis(), 20), TimeUnit.MILLISECONDS);
                    watch.turn();
                    return condition.call();
                });
    }

    @Test
    void knowsNothingBeforeItHasAsked() {
        assertThat(watch.seen()).isEqualTo(new Seen.NotYet());
        assertThat(watch.due()).isZero();
    }

    @Test
    void seesTheObjectComeChangeAndGo() {
        turnUntil(() -> watch.seen().equals(new Seen.Absent()) && server.watches() == 1);
        server.put(device("eni-1"));
        turnUntil(() -> ids().equals(List.of("eni-1")));
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
        server.delete();
        turnUntil(() -> watch.seen().equals(new Seen.Absent()));

        assertThat(server.requests().stream().filter(LIST::equals)).hasSize(1);
    }

    /** The client's own in-memory server: the same over a WebSocket, as a real API server has it. */
    @Test
    void seesTheSameThroughAWebSocket() throws Exception {
        var memory = new KubernetesMockServer(
                new Context(), new MockWebServer(), new HashMap<>(), new KubernetesCrudDispatcher(), false);
        memory.start();
        try (KubernetesClient writer = memory.createClient()) {
            Path kubeconfig = directory.resolve("in-memory");
            Files.writeString(
                    kubeconfig, FakeApiServer.kubeconfig("http://" + memory.getHostName() + ":" + memory.getPort()));
            watch(new ClusterAccess.Kubeconfig(kubeconfig));
            write(writer, "node-b", "eni-9");
            turnUntil(() -> watch.seen().equals(new Seen.Absent()));
            write(writer, "node-a", "eni-1");
            turnUntil(() -> ids().equals(List.of("eni-1")));
            write(writer, "node-b", "eni-8");
            write(writer, "node-a", "eni-2");
            turnUntil(() -> ids().equals(List.of("eni-2")));
            writer.resources(ErdmaDevice.class).withName("node-a").delete();
            turnUntil(() -> watch.seen().equals(new Seen.Absent()));
        } finally {
            watch.close();
            memory.destroy();
        }
    }

    private static void write(KubernetesClient writer, String name, String id) {
        ErdmaDevice object = new ErdmaDevice();
        object.getMetadata().setName(name);
        object.setSpec(new ErdmaDeviceSpec(
                List.of(new ErdmaDeviceSpec.Device("", "", false, id, 0, 0, Map.of())), false, Map.of()));
        writer.resource(object).createOr(NonDeletingOperation::update);
    }

    @Test
    void asksForTheObjectOfThisNodeOnly() {
        turnUntil(() -> server.watches() == 1);

        assertThat(server.requests()).allMatch(request -> request.contains("fieldSelector=metadata.name=node-a"));
    }

    @Test
    void readsAnewWhenTheWatchEnds() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.endWatches();
        await().until(() -> server.watches() == 0);
        server.put(device("eni-2"));

        turnUntil(() -> ids().equals(List.of("eni-2")) && server.watches() == 1);
        assertThat(watch.problem()).isEmpty();
    }

    @Test
    void readsAnewWhenTheServerHasForgottenWhereItWas() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.gone();

        turnUntil(() -> server.requests().stream().filter(LIST::equals).count() == 2);
        assertThat(ids()).containsExactly("eni-1");
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
    }

    @Test
    void keepsWhatItKnowsWhileTheServerFailsAndGoesOnAfterwards() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.fail(500);
        server.endWatches();

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem()).contains("cannot read the ERdmaDevice object node-a: the API server answered 500");
        assertThat(ids()).containsExactly("eni-1");
        server.put(device("eni-2"));
        server.fail(0);
        turnUntil(() -> ids().equals(List.of("eni-2")));
        assertThat(watch.problem()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "401, cannot read the ERdmaDevice object node-a: the API server refuses the agent's token (401)",
        "403, 'cannot read the ERdmaDevice object node-a: the API server forbids it (403); give the agent''s service"
                + " account get, list and watch on erdmadevices'",
        "404, 'cannot read the ERdmaDevice object node-a: the API server knows no such kind (404); install the"
                + " CustomResourceDefinition, or use --local-eri-discovery'"
    })
    void saysWhatToDoAboutARefusal(int status, String problem) {
        server.fail(status);

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem()).contains(problem);
        assertThat(watch.seen()).isEqualTo(new Seen.NotYet());
    }

    @Test
    void saysThatNobodyAnswers() throws Exception {
        ClusterAccess nobody = server.access(directory);
        server.close();
        watch(nobody);

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem())
                .contains(
                        "cannot read the ERdmaDevice object node-a: no connection to the API server: is it running, and"
                                + " is its address right?");
    }

    /** A proxy, a load balancer or a sign-in page that answers in the API server's place takes no device away. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "null",
                "[]",
                "\"ok\"",
                "{\"items\":null}",
                "{\"items\":[null],\"metadata\":{}}",
                "{\"kind\":\"Status\",\"status\":\"Success\"}",
                "{\"kind\":\"ERdmaDeviceList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":",
                "<html><body>Sign in</body></html>",
                "\u0000\u0001\u0002"
            })
    void keepsWhatItKnowsWhileSomebodyElseAnswers(String answer) {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.say(answer);
        server.endWatches();

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem().orElseThrow())
                .startsWith("cannot read the ERdmaDevice object node-a: ")
                .hasSizeLessThan(500);
        assertThat(ids()).containsExactly("eni-1");
        server.recover();
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
    }

    @Test
    void givesUpOnAnAnswerThatDrips() throws Exception {
        client.ifPresent(ClusterClient::close);
        client = Optional.of(ClusterClient.open(server.access(directory), Duration.ofMillis(400)));
        watch = new ErdmaDeviceWatch(client.get(), "node-a", woken::release, FAST);
        server.put(device("eni-1"));
        server.drip();
        turnUntil(() -> watch.problem().isPresent());

        assertThat(watch.problem())
                .contains("cannot read the ERdmaDevice object node-a: \"no complete answer in time\"");
        server.recover();
        turnUntil(() -> ids().equals(List.of("eni-1")));
    }

    @Test
    void refusesAnAnswerThatWouldFillTheHeap() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.say("{\"kind\":\"ERdmaDeviceList\",\"items\":[\"" + "x".repeat(4 << 20) + "\"]}");
        server.endWatches();

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem())
                .contains("cannot read the ERdmaDevice object node-a: \"an answer of more than 3 MB\"");
        assertThat(ids()).containsExactly("eni-1");
        server.recover();
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
    }

    @Test
    void endsAWatchThatWouldFillTheHeap() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.put("\"spec\":{\"devices\":[{\"id\":\"" + "x".repeat(4 << 20) + "\"}]}");
        turnUntil(() -> watch.problem().isPresent());

        assertThat(ids()).containsExactly("eni-1");
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
    }

    @Test
    void seesAnObjectThatWasDeletedAndWrittenAgain() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.delete();
        server.put(device("eni-2"));

        turnUntil(() -> ids().equals(List.of("eni-2")));
    }

    /** The field selector would not let them through, and not every proxy knows it. */
    @Test
    void ignoresObjectsOfOtherNodes() {
        String version = "\"metadata\":{\"resourceVersion\":\"1\"}";
        String other = "{\"metadata\":{\"name\":\"node-b\"}," + device("eni-9") + "}";
        server.say("{\"kind\":\"ERdmaDeviceList\"," + version + ",\"items\":[" + other + ",{},null]}");

        turnUntil(() -> watch.seen().equals(new Seen.Absent()));
    }

    @Test
    void takesAChangeThatIsNoObjectForAProblemAndKeepsWhatItKnows() {
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);
        server.put("\"spec\":{\"devices\":[{\"id\":\"eni-1\",\"queuePair\":\"many\"}]}");

        turnUntil(() -> watch.problem().isPresent());
        assertThat(ids()).containsExactly("eni-1");
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")) && watch.problem().isEmpty());
    }

    /** Each time anew, with growing pauses: the API server must not feel it. */
    @Test
    void doesNotHurryWhenTheServerForgetsAtOnceEachTime() throws Exception {
        client.ifPresent(ClusterClient::close);
        client = Optional.of(ClusterClient.open(server.access(directory)));
        watch = new ErdmaDeviceWatch(
                client.get(),
                "node-a",
                woken::release,
                new Pace(Duration.ofMillis(20), Duration.ofMillis(200), Duration.ofMinutes(4)));
        server.put(device("eni-1"));
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        turnUntil(() -> {
            server.gone();
            return System.nanoTime() - end > 0;
        });

        assertThat(server.requests().stream().filter(LIST::equals)).hasSizeLessThan(20);
        assertThat(ids()).containsExactly("eni-1");
    }

    @Test
    void takesAnObjectThatIsNoneForAProblem() {
        server.put("\"spec\":{\"devices\":\"all of them\"}");

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem().orElseThrow()).startsWith("cannot read the ERdmaDevice object node-a: ");
        server.put(device("eni-1"));
        turnUntil(() -> ids().equals(List.of("eni-1")));
    }

    /** R18: the kubelet replaces the token by swapping a link; the API server refuses the old one. */
    @Test
    void goesOnWithTheNewTokenWhenTheKubeletReplacesIt() throws Exception {
        Path account = serviceAccount("old");
        server.demand("old");
        watch(new ClusterAccess.InCluster(server.url(), account.resolve("token"), account.resolve("ca.crt")));
        server.put(device("eni-1"));
        turnUntil(() -> server.watches() == 1);

        server.demand("new");
        swap(account, "new");
        server.put(device("eni-2"));
        turnUntil(() -> ids().equals(List.of("eni-2")));
        server.endWatches();
        await().until(() -> server.watches() == 0);
        server.put(device("eni-3"));

        turnUntil(() -> ids().equals(List.of("eni-3")) && server.watches() == 1);
        assertThat(watch.problem()).isEmpty();
    }

    @Test
    void waitsForATokenThatIsNotThere() throws Exception {
        Path account = Files.createDirectory(directory.resolve("account"));
        Files.createFile(account.resolve("ca.crt"));
        server.demand("new");
        watch(new ClusterAccess.InCluster(server.url(), account.resolve("token"), account.resolve("ca.crt")));

        turnUntil(() -> watch.problem().isPresent());
        assertThat(watch.problem().orElseThrow()).contains("token");
        Files.writeString(account.resolve("token"), "new\n");
        turnUntil(() -> watch.seen().equals(new Seen.Absent()));
    }

    private Path serviceAccount(String token) throws IOException {
        Path account = Files.createDirectory(directory.resolve("account"));
        Files.createFile(account.resolve("ca.crt"));
        Files.createSymbolicLink(account.resolve("token"), Path.of("..data/token"));
        swap(account, token);
        return account;
    }

    private static void swap(Path account, String token) throws IOException {
        Path data = Files.createDirectory(account.resolve("..data_" + token));
        Files.writeString(data.resolve("token"), token);
        Path link = Files.createSymbolicLink(account.resolve("..data_tmp"), data.getFileName());
        Files.move(
                link, account.resolve("..data"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
