package io.erdma.node.metrics;

import io.erdma.pods.UsageSnapshot;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Queue pairs of each device, and how many it may have; a device whose budget is unknown has no series of the latter. */
final class QueuePairMetrics implements Consumer<UsageSnapshot> {
    private final Supplier<Map<String, Integer>> budgets;
    private final MultiGauge used;
    private final MultiGauge budget;

    /** @param budgets by device, where known */
    QueuePairMetrics(MeterRegistry registry, Supplier<Map<String, Integer>> budgets) {
        this.budgets = budgets;
        used = MultiGauge.builder("erdma.queue.pairs")
                .description("Queue pairs of all processes on a device, the kernel's own left out")
                .register(registry);
        budget = MultiGauge.builder("erdma.queue.pair.budget")
                .description("Queue pairs that a device may have, as the node's ERdmaDevice object says")
                .register(registry);
    }

    @Override
    public void accept(UsageSnapshot snapshot) {
        Map<String, Integer> pairs = new TreeMap<>();
        snapshot.devices().forEach(device -> pairs.put(device.device(), device.queuePairs()));
        show(used, pairs);
        show(budget, budgets.get());
    }

    private static void show(MultiGauge gauge, Map<String, Integer> values) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        values.forEach((device, value) -> rows.add(MultiGauge.Row.of(Tags.of("device", device), value)));
        gauge.register(rows, true);
    }
}
