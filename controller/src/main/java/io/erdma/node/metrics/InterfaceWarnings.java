package io.erdma.node.metrics;

import io.erdma.node.net.KeeperStatus;
import io.erdma.node.net.Note;
import io.erdma.node.net.Note.Severity;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** How many things somebody has to look at, by interface; an interface that is as it should be has no series. */
final class InterfaceWarnings implements Collector {
    private final Supplier<KeeperStatus> status;

    InterfaceWarnings(Supplier<KeeperStatus> status) {
        this.status = status;
    }

    @Override
    public MetricSnapshot collect() {
        var snapshot = GaugeSnapshot.builder()
                .name("erdma_interface_warnings")
                .help("States of the interface that somebody has to look at; the log and /plans tell which");
        status.get().notes().stream()
                .filter(note -> note.severity() == Severity.WARNING)
                .collect(Collectors.groupingBy(Note::subject, TreeMap::new, Collectors.counting()))
                .forEach((subject, count) -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                        .value(count)
                        .labels(Labels.of("interface", subject))
                        .build()));
        return snapshot.build();
    }
}
