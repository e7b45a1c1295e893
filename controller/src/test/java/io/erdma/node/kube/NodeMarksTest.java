package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.kube.NodeMarks.Removal;
import io.erdma.node.kube.WriteAnswer.Later;
import io.erdma.node.kube.WriteAnswer.Written;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeMarksTest {
    private static final NodeCondition WELL = new NodeCondition(true, "DevicesHealthy", "erdma_0 is healthy");
    private static final NodeCondition WELL_STILL = new NodeCondition(true, "DevicesHealthy", "both are healthy");
    private static final NodeCondition SICK = new NodeCondition(false, "DeviceUnhealthy", "1 of 1 devices: erdma_0");
    private static final Instant NOON = Instant.parse("2026-12-01T12:00:00Z");

    @TempDir
    private Path directory;

    private StrictApiServer api;
    private ClusterClient client;
    private NodeMarks marks;

    @BeforeEach
    void start() throws Exception {
        api = StrictApiServer.start();
        client = ClusterClient.open(api.access(directory));
        marks = new NodeMarks(client, "node-a");
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private String field(String name) {
        return api.condition(NodeMarks.CONDITION).orElseThrow().path(name).asText();
    }

    @Test
    void keepsSinceWhenTheConditionIsSo() throws Exception {
        assertThat(marks.condition(WELL, NOON)).isEqualTo(new Written(0));
        marks.condition(WELL_STILL, NOON.plusSeconds(60));
        assertThat(field("lastTransitionTime")).isEqualTo("2026-12-01T12:00:00Z");
        assertThat(field("lastHeartbeatTime")).isEqualTo("2026-12-01T12:01:00Z");
        assertThat(field("message")).isEqualTo("both are healthy");

        marks.condition(SICK, NOON.plusSeconds(120));
        assertThat(field("lastTransitionTime")).isEqualTo("2026-12-01T12:02:00Z");
    }

    @Test
    void removesBothAndFindsNothingToRemoveTheSecondTime() throws Exception {
        marks.condition(WELL, NOON);
        marks.label(true);

        assertThat(marks.remove())
                .isEqualTo(new Removal(
                        List.of(
                                "condition ErdmaReady of the Node node-a",
                                "label aliyun.accelerator/erdma of the Node node-a"),
                        List.of()));
        assertThat(api.condition(NodeMarks.CONDITION)).isEmpty();
        assertThat(api.label(NodeMarks.LABEL)).isEmpty();
        assertThat(api.condition("Ready")).isPresent();
        assertThat(marks.remove()).isEqualTo(new Removal(List.of(), List.of()));
    }

    @Test
    void leavesALabelAloneThatOnlySomebodyElseHasSet() throws Exception {
        api.labelByOther(NodeMarks.LABEL, "true");

        assertThat(marks.remove()).isEqualTo(new Removal(List.of(), List.of()));
        assertThat(api.label(NodeMarks.LABEL)).contains("true");
    }

    @Test
    void saysThatALabelStaysWhichSomebodyElseHasSetToo() throws Exception {
        api.labelByOther(NodeMarks.LABEL, "true");
        marks.label(true);

        assertThat(marks.remove())
                .isEqualTo(new Removal(
                        List.of(),
                        List.of("label aliyun.accelerator/erdma of the Node node-a: somebody else has set it, too")));
        assertThat(api.label(NodeMarks.LABEL)).contains("true");
    }

    @Test
    void doesNotOverwriteAnotherValueOfSomebodyElse() throws Exception {
        api.labelByOther(NodeMarks.LABEL, "false");

        assertThat(marks.label(true)).isInstanceOf(Later.class);
        assertThat(api.label(NodeMarks.LABEL)).contains("false");
    }

    @Test
    void saysWhatStaysForWantOfARight() throws Exception {
        marks.condition(WELL, NOON);
        marks.label(true);
        api.revoke("patch nodes/status");
        api.revoke("patch nodes");

        assertThat(marks.remove().left())
                .containsExactly(
                        "condition ErdmaReady of the Node node-a: cannot set a condition of the Node node-a: the API"
                                + " server forbids it (403); give the agent's service account patch on nodes/status",
                        "label aliyun.accelerator/erdma of the Node node-a: cannot set a label of the Node node-a: the API"
                                + " server forbids it (403); give the agent's service account patch on nodes");
    }
}
