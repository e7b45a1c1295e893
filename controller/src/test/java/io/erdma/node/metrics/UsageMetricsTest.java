package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.ContainerId;
import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.FallbackVerdict.Uses;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UsageMetricsTest {
    private static final ContainerName TRAIN = new ContainerName("training", "job-0", "pytorch");
    private static final ContainerName IDLE = new ContainerName("training", "job-1", "pytorch");
    private static final List<DeviceUse> DEVICES = List.of(new DeviceUse("erdma_0", 9, 0, OptionalInt.of(2)));

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @AfterEach
    void close() {
        registry.close();
    }

    private List<String> series() {
        return registry.scrape()
                .lines()
                .filter(line -> line.startsWith("erdma_pod"))
                .toList();
    }

    private static UsageSnapshot snapshot(
            List<DeviceUse> devices, List<ProcessUse> processes, List<ShareHold> shares, List<Finding> findings) {
        return new UsageSnapshot(Instant.EPOCH, devices, processes, shares, findings, List.of());
    }

    private static ProcessUse use(long pid, Owner owner, int queuePairs) {
        return new ProcessUse("erdma_0", pid, "python", owner, queuePairs, OptionalInt.of(1));
    }

    @Test
    void showsQueuePairsAndSharesOfEachContainerAndWhoFallsBack() {
        UsageMetrics.in(registry)
                .accept(snapshot(
                        DEVICES,
                        List.of(
                                use(1, new Owner.Host(), 1),
                                use(2, new Owner.Named(TRAIN), 3),
                                use(3, new Owner.Named(TRAIN), 4),
                                use(4, new Owner.Unnamed(new ContainerId("u", "c"), Optional.empty()), 1)),
                        List.of(new ShareHold(TRAIN, "erdma_0", 2), new ShareHold(IDLE, "erdma_0", 1)),
                        List.of(
                                new Finding(TRAIN, new Uses(7), List.of()),
                                new Finding(IDLE, new AsksOnly(Duration.ofMinutes(10)), List.of()))));
        assertThat(series())
                .containsExactlyInAnyOrder(
                        "erdma_pod_queue_pairs{container=\"pytorch\",device=\"erdma_0\",namespace=\"training\",pod=\"job-0\"} 7.0",
                        "erdma_pod_queue_pairs{container=\"pytorch\",device=\"erdma_0\",namespace=\"training\",pod=\"job-1\"} 0.0",
                        "erdma_pod_shares{container=\"pytorch\",device=\"erdma_0\",namespace=\"training\",pod=\"job-0\"} 2.0",
                        "erdma_pod_shares{container=\"pytorch\",device=\"erdma_0\",namespace=\"training\",pod=\"job-1\"} 1.0",
                        "erdma_pod_fallback{container=\"pytorch\",namespace=\"training\",pod=\"job-1\"} 1.0",
                        "erdma_pod_series_left_out 0.0");
    }

    @Test
    void endsTheSeriesOfPodsThatAreGone() {
        UsageMetrics metrics = UsageMetrics.in(registry);
        metrics.accept(snapshot(DEVICES, List.of(use(2, new Owner.Named(TRAIN), 3)), List.of(), List.of()));
        metrics.accept(snapshot(DEVICES, List.of(), List.of(), List.of()));
        assertThat(series()).containsExactly("erdma_pod_series_left_out 0.0");
    }

    @Test
    void showsNoZeroWhereQueuePairsAreNotKnown() {
        UsageMetrics.in(registry)
                .accept(snapshot(List.of(), List.of(), List.of(new ShareHold(TRAIN, "erdma_0", 2)), List.of()));
        assertThat(series()).noneMatch(line -> line.startsWith("erdma_pod_queue_pairs"));
    }

    @Test
    void neverShowsMoreSeriesThanItsBoundAndSaysHowManyAreMissing() {
        List<ShareHold> many = IntStream.range(0, 13)
                .mapToObj(i -> new ShareHold(new ContainerName("n", "pod-" + i, "c"), "erdma_0", 1))
                .toList();
        UsageMetrics.in(registry, 10).accept(snapshot(DEVICES, List.of(), many, List.of()));
        assertThat(series().stream().filter(line -> line.startsWith("erdma_pod_shares")))
                .hasSize(10);
        assertThat(series()).contains("erdma_pod_series_left_out 6.0");
    }
}
