package io.erdma.node.metrics;

import static java.util.Objects.requireNonNull;

import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Use of devices by pods, as numbers. Series end with what they tell of, and there are never more than a bound of each
 * kind, whatever runs on the node.
 */
public final class UsageMetrics implements Consumer<UsageSnapshot> {
    /** Beyond the shares of a node with eight devices, of which each is one series at most. */
    private static final int MOST_SERIES = 2000;

    private final int most;
    private final AtomicInteger leftOut = new AtomicInteger();
    private final MultiGauge queuePairs;
    private final MultiGauge shares;
    private final MultiGauge fallback;

    private UsageMetrics(MeterRegistry registry, int most) {
        this.most = most;
        queuePairs = MultiGauge.builder("erdma.pod.queue.pairs")
                .description("Queue pairs of a container that holds shares or has queue pairs")
                .register(registry);
        shares = MultiGauge.builder("erdma.pod.shares")
                .description("Shares of a device that the kubelet gave to a container")
                .register(registry);
        fallback = MultiGauge.builder("erdma.pod.fallback")
                .description("1 for a container that asked for eRDMA and does not use it")
                .register(registry);
        Gauge.builder("erdma.pod.series.left.out", leftOut, AtomicInteger::get)
                .description("Series of pods that are not shown, because there are too many")
                .register(registry);
    }

    public static UsageMetrics in(MeterRegistry registry) {
        return in(registry, MOST_SERIES);
    }

    static UsageMetrics in(MeterRegistry registry, int most) {
        return new UsageMetrics(requireNonNull(registry, "registry is null"), most);
    }

    private record Series(ContainerName container, String device) {
        static final Comparator<Series> ORDER = Comparator.comparing(
                        (Series series) -> series.container().toString())
                .thenComparing(Series::device);

        Tags tags() {
            return tags(container).and("device", device);
        }

        static Tags tags(ContainerName container) {
            return Tags.of(
                    "namespace", container.namespace(), "pod", container.pod(), "container", container.container());
        }
    }

    @Override
    public void accept(UsageSnapshot snapshot) {
        leftOut.set(0);
        Map<Series, Integer> held = new TreeMap<>(Series.ORDER);
        for (ShareHold hold : snapshot.shares()) {
            held.merge(new Series(hold.container(), hold.device()), hold.shares(), Integer::sum);
        }
        show(shares, held);

        Map<Series, Integer> pairs = new TreeMap<>(Series.ORDER);
        Set<String> known = new HashSet<>();
        snapshot.devices().forEach(device -> known.add(device.device()));
        // Zero is the number to watch for, so who holds shares has one, where queue pairs are known at all.
        held.keySet().stream()
                .filter(series -> known.contains(series.device()))
                .forEach(series -> pairs.put(series, 0));
        for (ProcessUse use : snapshot.processes()) {
            if (use.owner() instanceof Owner.Named(var name)) {
                pairs.merge(new Series(name, use.device()), use.queuePairs(), Integer::sum);
            }
        }
        show(queuePairs, pairs);

        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        snapshot.findings().stream()
                .filter(finding -> finding.verdict() instanceof AsksOnly)
                .forEach(finding -> rows.add(MultiGauge.Row.of(Series.tags(finding.container()), 1)));
        register(fallback, rows);
    }

    private void show(MultiGauge gauge, Map<Series, Integer> values) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        values.forEach((series, value) -> rows.add(MultiGauge.Row.of(series.tags(), value)));
        register(gauge, rows);
    }

    private void register(MultiGauge gauge, List<MultiGauge.Row<?>> rows) {
        leftOut.addAndGet(Math.max(0, rows.size() - most));
        gauge.register(rows.subList(0, Math.min(most, rows.size())), true);
    }
}
