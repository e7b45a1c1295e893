package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class QueuePairMetricsTest {
    private static UsageSnapshot use(DeviceUse... devices) {
        return new UsageSnapshot(Instant.EPOCH, Arrays.asList(devices), List.of(), List.of(), List.of(), List.of());
    }

    @Test
    void showsQueuePairsBesideTheBudgetAndNothingOfWhatIsUnknown() {
        try (var metrics = new AgentMetrics("1.2.3", 200)) {
            var budgets = new AtomicReference<Map<String, Integer>>(Map.of("erdma_0", 1024));
            Consumer<UsageSnapshot> shown = metrics.queuePairs(budgets::get);
            shown.accept(use(
                    new DeviceUse("erdma_0", 12, 2, OptionalInt.of(3)),
                    new DeviceUse("erdma_1", 7, 0, OptionalInt.empty())));
            assertThat(metrics.scrape())
                    .contains("erdma_queue_pairs{device=\"erdma_0\"} 12.0\n")
                    .contains("erdma_queue_pairs{device=\"erdma_1\"} 7.0\n")
                    .contains("erdma_queue_pair_budget{device=\"erdma_0\"} 1024.0\n")
                    .doesNotContain("erdma_queue_pair_budget{device=\"erdma_1\"}");

            budgets.set(Map.of());
            shown.accept(use());
            assertThat(metrics.scrape()).doesNotContain("erdma_queue_pair");
        }
    }
}
