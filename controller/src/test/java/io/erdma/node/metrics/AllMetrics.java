package io.erdma.node.metrics;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.net.KeeperStatus;
import io.erdma.node.net.Note;
import io.erdma.node.net.Plan;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.erdma.sysfs.NodeFixture;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.PromptTraffic;
import io.erdma.traffic.TrafficDevice;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** The agent's metrics, all of them with a series: a node with a device whose driver counts, in use by one pod. */
final class AllMetrics implements AutoCloseable {
    /** Methods of AgentMetrics that make metrics; each is called below. */
    static final Set<String> GROUPS = Set.of(
            "watchHealthLoop",
            "watchDriver",
            "watchInterfaces",
            "watchSession",
            "watchTraffic",
            "watchProcess",
            "shareUse",
            "podUsage");

    static final Set<String> WITHOUT_METRICS_OF_THEIR_OWN = Set.of(
            "scrape",
            "scrapeWithPods",
            "close",
            "advertise",
            "allocated",
            "streams",
            "messageSent",
            "registered",
            "registrationFailed");

    private final AgentMetrics metrics = new AgentMetrics("1.2.3", 200);
    private final PromptTraffic traffic;

    AllMetrics(Path directory) {
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, directory);
        traffic = new PromptTraffic(
                new CounterReader(new SysfsCounters(node.sysfs()), System::nanoTime), Duration.ofSeconds(20));
        metrics.watchHealthLoop(() -> Duration.ofMillis(1500));
        metrics.watchDriver(() -> Optional.of(new DriverStatus(
                DriverMode.DEFAULT,
                false,
                ModeInForce.DEFAULT,
                "nothing to do",
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Instant.EPOCH)));
        metrics.watchInterfaces(() -> new KeeperStatus(
                Plan.NONE,
                List.of(new Note("eth1", Note.Severity.WARNING, "has no address")),
                Optional.empty(),
                0,
                true,
                Optional.of(Instant.EPOCH)));
        metrics.watchSession(() -> new SessionStatus(true, 1, 1, Optional.empty()));
        metrics.watchTraffic(() -> traffic.of(List.of(new TrafficDevice("erdma_0", "erdma", Optional.empty()))));
        metrics.watchProcess();
        metrics.advertise(
                new AdvertisedDevices(
                        List.of(new AdvertisedDevices.Entry(device(), new DeviceHealth.Healthy(Instant.EPOCH))),
                        Optional.empty()),
                0);
        metrics.podUsage().andThen(metrics.shareUse()).accept(usage());
    }

    private static RdmaDevice device() {
        return new RdmaDevice(
                "erdma_0",
                new NodeGuid(1),
                NodeType.RNIC,
                "erdma",
                Optional.empty(),
                Optional.empty(),
                Optional.of(Path.of("/dev/infiniband/uverbs0")),
                OptionalInt.empty(),
                RdmaCmUse.REQUIRED);
    }

    private static UsageSnapshot usage() {
        var train = new ContainerName("training", "job-0", "pytorch");
        return new UsageSnapshot(
                Instant.EPOCH,
                List.of(new DeviceUse("erdma_0", 9, 0, OptionalInt.of(2))),
                List.of(),
                List.of(new ShareHold(train, "erdma_0", 1)),
                List.of(new Finding(train, new AsksOnly(Duration.ofMinutes(10)), List.of())),
                List.of());
    }

    String scrape() {
        return metrics.scrapeWithPods();
    }

    @Override
    public void close() {
        traffic.close();
        metrics.close();
    }
}
