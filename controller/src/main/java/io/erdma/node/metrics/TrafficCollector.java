package io.erdma.node.metrics;

import io.erdma.traffic.TrafficTotals;
import io.erdma.traffic.TrafficTotals.Direction;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The devices' counters, asked for anew by each scrape. They are counters to Prometheus as well, which micrometer has no
 * means to say of series that come and go with a device. What a driver doesn't count has no series.
 */
final class TrafficCollector implements MultiCollector {
    private final Supplier<? extends Map<String, TrafficTotals>> traffic;

    TrafficCollector(Supplier<? extends Map<String, TrafficTotals>> traffic) {
        this.traffic = traffic;
    }

    @Override
    public MetricSnapshots collect() {
        Map<String, TrafficTotals> now = traffic.get();
        return MetricSnapshots.of(
                bytes(now, "received", TrafficTotals::received),
                bytes(now, "sent", TrafficTotals::sent),
                packets(now, "received", TrafficTotals::received),
                packets(now, "sent", TrafficTotals::sent),
                quotaDrops(now),
                otherDrops(now));
    }

    private static CounterSnapshot bytes(
            Map<String, TrafficTotals> now, String direction, Function<TrafficTotals, Direction> which) {
        var snapshot = CounterSnapshot.builder()
                .name("erdma_device_" + direction + "_bytes")
                .help("Bytes that the device has " + direction + ", all ports together");
        now.forEach((device, totals) -> add(
                snapshot,
                which.apply(totals).bytes(),
                Labels.of("device", device, "source", totals.carrier().isPresent() ? "interface" : "device")));
        return snapshot.build();
    }

    private static CounterSnapshot packets(
            Map<String, TrafficTotals> now, String direction, Function<TrafficTotals, Direction> which) {
        var snapshot = CounterSnapshot.builder()
                .name("erdma_device_" + direction + "_packets")
                .help("Packets that the device has " + direction + ", all ports together");
        now.forEach((device, totals) -> add(snapshot, which.apply(totals).packets(), Labels.of("device", device)));
        return snapshot.build();
    }

    private static CounterSnapshot quotaDrops(Map<String, TrafficTotals> now) {
        var snapshot = CounterSnapshot.builder()
                .name("erdma_device_quota_drops")
                .help("Packets lost because the instance had used up its bandwidth or its packets per second");
        now.forEach((device, totals) -> {
            quotaDrops(snapshot, device, "received", totals.received());
            quotaDrops(snapshot, device, "sent", totals.sent());
        });
        return snapshot.build();
    }

    private static void quotaDrops(CounterSnapshot.Builder snapshot, String device, String direction, Direction drops) {
        add(
                snapshot,
                drops.bandwidthDrops(),
                Labels.of("device", device, "direction", direction, "quota", "bandwidth"));
        add(
                snapshot,
                drops.packetRateDrops(),
                Labels.of("device", device, "direction", direction, "quota", "packet-rate"));
    }

    private static CounterSnapshot otherDrops(Map<String, TrafficTotals> now) {
        var snapshot = CounterSnapshot.builder()
                .name("erdma_device_other_drops")
                .help("Packets that the device lost for other reasons than the instance's quota");
        now.forEach((device, totals) -> {
            add(snapshot, totals.received().otherDrops(), Labels.of("device", device, "direction", "received"));
            add(snapshot, totals.sent().otherDrops(), Labels.of("device", device, "direction", "sent"));
        });
        return snapshot.build();
    }

    private static void add(CounterSnapshot.Builder snapshot, OptionalLong value, Labels labels) {
        value.ifPresent(count -> snapshot.dataPoint(CounterDataPointSnapshot.builder()
                .value(unsigned(count))
                .labels(labels)
                .build()));
    }

    private static double unsigned(long count) {
        return (count >>> 1) * 2.0 + (count & 1);
    }
}
