package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.interfaces.FakeMetadata;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.FakeApiServer;
import io.erdma.plugin.FakeKubelet;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole agent, with a cluster and a cloud that tell it which devices are its own. */
class InterfacesIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    private Path root;
    private NodeFixture node;
    private FakeVerbs verbs;
    private FakeApiServer api;
    private FakeMetadata metadata;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void prepare() throws IOException {
        // Short: a socket's path has at most 107 bytes.
        root = Files.createTempDirectory("erdma");
        node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));
        verbs = FakeVerbs.tree(directory.resolve("verbs"));
        verbs.device("erdma_0").uverbs("uverbs0").guid("0216:3eff:fe00:0001");
        api = closing(FakeApiServer.start());
        metadata = closing(FakeMetadata.start().value("instance-id", "i-a").value("mac", "00:16:3e:00:00:01"));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        try (var files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private AgentProcess agent(Map<String, String> more, String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "--kubelet-root-dir=" + root,
                "--sysfs-root=" + node.sysfs(),
                "--dev-root=" + node.dev(),
                "--verbs-library=" + FakeVerbs.library(),
                "--shares-per-device=2",
                "--probe-address=",
                "--page-address=",
                "--node-name=node-a",
                "--metadata-address=http://127.0.0.1:" + metadata.address().getPort()));
        all.addAll(List.of(settings));
        Map<String, String> environment = new HashMap<>(verbs.environment());
        environment.putAll(more);
        return closing(AgentProcess.start(directory, environment, all));
    }

    private Map<String, String> kubeconfig() throws IOException {
        return Map.of(
                "KUBECONFIG",
                ((ClusterAccess.Kubeconfig) api.access(directory)).file().toString());
    }

    private static String device(String mac) {
        return "\"spec\":{\"devices\":[{\"id\":\"eni-1\",\"mac\":\"" + mac + "\"}]}";
    }

    @Test
    void offersWhatTheNodesObjectNamesForAsLongAsItDoes() throws Exception {
        api.put(device("00:16:3e:00:00:09"));
        FakeKubelet kubelet = closing(FakeKubelet.start(root));
        AgentProcess agent = agent(kubeconfig(), "--local-eri-discovery=false");
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 0, SOON);

        api.put(device("00:16:3E:00:00:01"));
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);
        api.delete();
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 0, SOON);

        assertThat(agent.terminate(Duration.ofSeconds(5))).as(agent.log()).isZero();
        assertThat(agent.log())
                .contains("the ERdmaDevice object of this node was deleted")
                .doesNotContain("\tat ");
    }

    @Test
    void offersByTheRuleOfThisInstance() throws Exception {
        api.node("cn-hangzhou.i-b");
        FakeKubelet kubelet = closing(FakeKubelet.start(root));
        AgentProcess agent = agent(kubeconfig(), "--exposed-local-eris=i-b erdma_0,i-* erdma_9");

        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);
        assertThat(agent.terminate(Duration.ofSeconds(5))).as(agent.log()).isZero();
    }

    @Test
    void loadsNoKubernetesClientWithoutNeed() throws Exception {
        Path classes = directory.resolve("classes");
        FakeKubelet kubelet = closing(FakeKubelet.start(root));
        Map<String, String> environment = new HashMap<>(kubeconfig());
        environment.put("ERDMA_JAVA_OPTS", "-Xlog:class+load:file=" + classes);
        AgentProcess agent = agent(environment);
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);

        assertThat(agent.terminate(Duration.ofSeconds(5))).as(agent.log()).isZero();
        assertThat(Files.readAllLines(classes))
                .anyMatch(line -> line.contains("io.erdma.node.interfaces.LocalSource"))
                .noneMatch(line -> line.contains(" io.fabric8."));
        assertThat(api.requests()).isEmpty();
    }
}
