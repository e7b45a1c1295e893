package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.model.Capability;
import io.erdma.plugin.FakeKubelet;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent in its container, with what the chart gives it and no more. Privileged containers, which the chart makes by
 * default, are the lab's: not every machine that builds can start one.
 */
class AgentContainerIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration STOP = Duration.ofSeconds(5);

    @TempDir
    private Path directory;

    @Test
    void servesFromAReadOnlyRootWithOneCapabilityAndStopsCleanly() throws Exception {
        ChartedAgent chart = ChartedAgent.render("agent: {verbsAccess: listing, manageDriver: false}", directory);
        assertThat(chart.shape().capabilities()).containsExactly(Capability.NET_ADMIN);

        serves(chart);
    }

    @Test
    void servesWithTheCapabilitiesOfDriverManagement() throws Exception {
        ChartedAgent chart = ChartedAgent.render("agent: {verbsAccess: listing}", directory);
        assertThat(chart.shape().capabilities()).contains(Capability.SYS_MODULE, Capability.SYS_ADMIN);

        serves(chart);
    }

    private static void serves(ChartedAgent chart) throws Exception {
        try (Node node = new Node();
                RunningContainer agent = RunningContainer.start(
                        node.mountedIn(chart.shape()).with("ERDMA_AOT", "on"),
                        chart.words().toArray(String[]::new))) {
            node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Node.SHARES, SOON);
            await().atMost(SOON).until(agent::isReady);
            assertThat(node.kubelet().allocate("erdma_1/7").getDevicesList()).isNotEmpty();
            assertThat(agent.probe("/metrics")).contains("erdma_device_healthy{device=\"erdma_1\"} 1.0");
            assertThat(agent.exec("erdma", "devinfo").getExitCode()).isZero();
            assertThat(agent.shell("ls -A /tmp")).isEmpty();

            RunningContainer.Exit exit = agent.stop();
            assertThat(exit.code()).as(agent.log()).isZero();
            assertThat(exit.took()).isLessThan(STOP);
            assertThat(node.pluginSockets()).isEmpty();
        }
    }
}
