package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.doctor.Fact;
import io.erdma.node.kube.FakeApiServer;
import java.io.IOException;
import java.nio.file.Path;
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
}
