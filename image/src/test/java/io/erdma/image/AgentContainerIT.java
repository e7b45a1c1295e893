package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.model.Capability;
import io.erdma.plugin.FakeKubelet;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The agent in its container, with as little as the chart gives it. */
class AgentContainerIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration STOP = Duration.ofSeconds(5);

    @Test
    void servesFromAReadOnlyRootAndStopsCleanly() throws Exception {
        try (Node node = new Node();
                RunningContainer agent = RunningContainer.start(
                        node.mountedIn(ContainerShape.ALONE)
                                .with(Capability.NET_ADMIN)
                                .with("ERDMA_MANAGE_DRIVER", "false")
                                .with("ERDMA_AOT", "on"),
                        "agent")) {
            node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Node.SHARES, SOON);
            await().atMost(SOON).until(agent::isReady);
            assertThat(agent.exec("erdma", "devinfo").getExitCode()).isZero();
            assertThat(agent.shell("ls -A /tmp")).isEmpty();
            RunningContainer.Exit exit = agent.stop();
            assertThat(exit.code()).as(agent.log()).isZero();
            assertThat(exit.took()).isLessThan(STOP);
            assertThat(node.pluginSockets()).isEmpty();
        }
    }
}
