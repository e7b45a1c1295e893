package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.kube.CleanupRollout;
import io.erdma.node.kube.CleanupRollout.Open;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AwaitCleanupCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @Test
    void endsAsSoonAsAllNodesAreClean() throws IOException {
        int code = await(
                new CleanupRollout(OptionalInt.empty(), 0, List.of()),
                new CleanupRollout(OptionalInt.of(2), 1, List.of(new Open("node-b", "its pod is starting"))),
                new CleanupRollout(OptionalInt.of(2), 2, List.of()),
                new CleanupRollout(OptionalInt.of(2), 0, List.of()));

        assertThat(code).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("all 2 nodes are clean\n");
    }

    @Test
    void namesTheOthersWhenTheTimeIsUp() throws IOException {
        int code = await(new CleanupRollout(
                OptionalInt.of(3), 2, List.of(new Open("node-c", "its pod has not started; is the node up?"))));

        assertThat(code).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("""
                2 of 3 nodes are clean
                not clean: node-c: its pod has not started; is the node up?
                """);
    }

    @Test
    void saysThatNobodyCouldTell() throws IOException {
        assertThat(await()).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("whether the nodes are clean is not known: ");
    }

    @Test
    void needsTheClustersApi() {
        Run run = Run.erdma("await-cleanup", "ack-erdma-controller", "erdma-cleanup");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).isEqualTo("there are no credentials here for the cluster's API\n");
    }

    @Test
    void isNoneOfThePeoplesCommands() {
        assertThat(Run.erdma("--help").out()).doesNotContain("await-cleanup");
    }

    private int await(CleanupRollout... looks) throws IOException {
        Deque<CleanupRollout> left = new ArrayDeque<>(List.of(looks));
        return AwaitCleanupCommand.await(left::pop, () -> !left.isEmpty(), new Console(out, err));
    }
}
