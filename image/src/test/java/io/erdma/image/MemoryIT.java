package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.plugin.FakeKubelet;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.Container;

/** What the agent's memory limit has to cover: the agent, and the commands that {@code kubectl exec} starts beside it. */
class MemoryIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int CALLERS = 8;
    private static final int ALLOCATIONS = 20_000;

    /** The kernel's count of kills, in either version of control groups. */
    private static final String KILLS = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control"
            + " 2>/dev/null | sed -n 's/^oom_kill //p'";

    @TempDir
    private Path directory;

    private RunningContainer start(Node node) {
        ChartedAgent chart = ChartedAgent.render("agent: {verbsAccess: listing, manageDriver: false}", directory);
        return RunningContainer.start(
                node.mountedIn(chart.shape()), chart.words().toArray(String[]::new));
    }

    @Test
    void theLimitCoversTheAgentAndTwoCommandsWhilePodsStart() throws Exception {
        try (Node node = new Node();
                RunningContainer agent = start(node);
                ExecutorService commands = Executors.newFixedThreadPool(2)) {
            node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Node.SHARES, SOON);

            Future<Container.ExecResult> live =
                    commands.submit(() -> agent.exec("timeout", "--signal=INT", "20", "erdma", "stat", "-l"));
            Future<Container.ExecResult> doctor = commands.submit(() -> agent.exec("erdma", "doctor"));
            allocate(node.kubelet());

            assertThat(doctor.get().getStdout()).contains("pass  agent:");
            assertThat(live.get().getExitCode()).as(live.get().toString()).isNotEqualTo(137);
            assertThat(agent.shell(KILLS)).as("processes killed").isEqualTo("0");
            assertThat(agent.isReady()).isTrue();
        }
    }

    private static void allocate(FakeKubelet kubelet) throws InterruptedException, ExecutionException {
        try (ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                int first = caller;
                running.add(callers.submit(() -> {
                    for (int call = first; call < ALLOCATIONS; call += CALLERS) {
                        kubelet.allocate("erdma_" + call % 2 + "/" + call % 200);
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    @Test
    void aCommandThatTakesTooMuchIsKilledAndTheAgentServesOn() throws IOException {
        try (Node node = new Node();
                RunningContainer agent = start(node)) {
            node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Node.SHARES, SOON);

            Container.ExecResult greedy =
                    agent.exec("env", "ERDMA_JAVA_OPTS=-Xms400m -Xmx400m -XX:+AlwaysPreTouch", "erdma", "version");

            assertThat(greedy.getExitCode()).isEqualTo(137);
            assertThat(agent.isRunning()).isTrue();
            await().atMost(SOON).until(agent::isReady);
            assertThat(node.kubelet().allocate("erdma_0/1").getDevicesList()).isNotEmpty();
        }
    }
}
