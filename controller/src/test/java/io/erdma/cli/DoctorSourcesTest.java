package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.doctor.Fact;
import io.erdma.node.kube.FakeApiServer;
import io.erdma.node.kube.TerwayWhitelist;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the cluster's API is asked. */
class DoctorSourcesTest {
    @TempDir
    private Path directory;

    private FakeApiServer server;

    @BeforeEach
    void start() throws IOException {
        server = FakeApiServer.start();
        server.node("cn-x.i-1");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Fact<OptionalLong> nodeObject(String node) throws IOException {
        return DoctorSources.nodeObject(node, "aliyun/erdma", Optional.of(server.access(directory)));
    }

    @Test
    void readsWhatTheNodeObjectHas() throws IOException {
        server.allocatable("aliyun/erdma", "400");
        assertThat(nodeObject("node-a")).isEqualTo(Fact.known(OptionalLong.of(400)));
        server.allocatable("aliyun/erdma", "1k");
        assertThat(nodeObject("node-a")).isEqualTo(Fact.known(OptionalLong.of(1_000)));
    }

    @Test
    void tellsAResourceThatTheNodeDoesNotKnowFromNone() throws IOException {
        assertThat(nodeObject("node-a")).isEqualTo(Fact.known(OptionalLong.empty()));
        server.allocatable("aliyun/erdma", "0");
        assertThat(nodeObject("node-a")).isEqualTo(Fact.known(OptionalLong.of(0)));
    }

    @Test
    void saysWhyItCannotKnow() throws IOException {
        assertThat(nodeObject("node-b")).isInstanceOf(Fact.Unknown.class);
        server.fail(403);
        assertThat(nodeObject("node-a"))
                .isInstanceOfSatisfying(
                        Fact.Unknown.class, unknown -> assertThat(unknown.why()).contains("403", "get on nodes"));
        assertThat(DoctorSources.nodeObject("node-a", "aliyun/erdma", Optional.empty()))
                .isEqualTo(Fact.unknown("there are no credentials here for the cluster's API"));
    }

    // ---- Terway

    private Fact<TerwayWhitelist> terway(String eniConf) throws IOException {
        server.configMap("kube-system", "eni-config", "eni_conf", eniConf);
        return DoctorSources.terway(Optional.of(server.access(directory)));
    }

    @Test
    void readsWhichInterfacesTerwayTakes() throws IOException {
        assertThat(DoctorSources.terway(Optional.of(server.access(directory))))
                .isEqualTo(Fact.known(new TerwayWhitelist.NoTerway()));
        assertThat(terway("{\"version\": \"1\", \"eni_tags\": {\"a\": \"b\"}, \"max_pool_size\": 5}"))
                .isEqualTo(Fact.known(new TerwayWhitelist.TakesAll()));
        assertThat(terway("{\"eni_tag_filter\": {}}")).isEqualTo(Fact.known(new TerwayWhitelist.TakesAll()));
        assertThat(terway("{\"eni_tag_filter\": {\"creator\": \"terway\"}}"))
                .isEqualTo(Fact.known(new TerwayWhitelist.Takes(Map.of("creator", "terway"))));
    }

    /** Most agents may not read it, which is no fault; and what cannot be read may hold keys. */
    @Test
    void saysWhyItCannotTellWhatTerwayTakesWithoutAWordOfItsConfiguration() throws IOException {
        for (String broken : List.of("", "[]", "null", "{\"access_secret\": \"s3cret\" oops", "s3cret")) {
            assertThat(terway(broken))
                    .isInstanceOfSatisfying(
                            Fact.Unknown.class,
                            unknown -> assertThat(unknown.why())
                                    .contains("eni_conf")
                                    .doesNotContain("s3cret"));
        }
        server.fail(403);
        assertThat(terway("{}"))
                .isInstanceOfSatisfying(
                        Fact.Unknown.class, unknown -> assertThat(unknown.why()).contains("403", "get on configmaps"));
    }
}
