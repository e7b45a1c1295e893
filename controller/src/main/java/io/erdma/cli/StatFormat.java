package io.erdma.cli;

import io.erdma.sysfs.SysfsCounters.PortCounters;
import io.erdma.traffic.CounterReading;
import io.erdma.traffic.TrafficCounters;
import io.erdma.traffic.TrafficTotals;
import io.erdma.traffic.TrafficTotals.Direction;
import java.util.Map;
import java.util.SortedMap;

/** All that a device has counted, for people. */
final class StatFormat {
    private static final int VALUES = 16;
    private static final int MOST_COLUMNS_OF_NAMES = 48;

    private final StringBuilder text = new StringBuilder(1024);

    private StatFormat() {}

    static String device(CounterReading reading) {
        StatFormat format = new StatFormat();
        TrafficTotals totals = TrafficCounters.of(reading);
        format.text.append(TerminalText.escape(reading.device())).append('\n');
        format.row("rx (download)", format.traffic(totals.received()));
        format.row("tx (upload)", format.traffic(totals.sent()));
        totals.carrier().ifPresent(netdev -> format.row("note", substitute(netdev)));
        if (totals.received().bytes().isEmpty() && totals.sent().bytes().isEmpty()) {
            format.row("note", "bytes are not counted by this driver (erdma counts from kernel 6.8 on)");
        }
        format.row("quota drops", quota(totals));
        for (PortCounters port : reading.ports()) {
            format.counters("port " + port.port() + ", hw_counters", port.hardware());
            format.counters("port " + port.port() + ", counters", port.standard());
            if (!port.unreadable().isEmpty()) {
                format.text.append("  port ").append(port.port()).append(", unreadable\n");
                port.unreadable().forEach((name, reason) -> format.counter(name, reason, width(port.unreadable())));
            }
        }
        return format.text.append('\n').toString();
    }

    static String substitute(String netdev) {
        return "bytes of netdev " + netdev + ", which carry all its traffic";
    }

    private String traffic(Direction direction) {
        return TrafficText.bytes(direction.bytes()) + ", " + TrafficText.number(direction.packets()) + " packets";
    }

    private static String quota(TrafficTotals totals) {
        Direction in = totals.received();
        Direction out = totals.sent();
        if (in.bandwidthDrops().isEmpty() && out.bandwidthDrops().isEmpty()) {
            return "not counted by this driver";
        }
        return "bandwidth rx " + TrafficText.number(in.bandwidthDrops()) + ", tx "
                + TrafficText.number(out.bandwidthDrops()) + "; packet rate rx "
                + TrafficText.number(in.packetRateDrops()) + ", tx " + TrafficText.number(out.packetRateDrops());
    }

    private void counters(String heading, SortedMap<String, Long> counters) {
        if (counters.isEmpty()) {
            return;
        }
        text.append("  ").append(heading).append('\n');
        counters.forEach((name, value) -> counter(name, Long.toUnsignedString(value), width(counters)));
    }

    private static int width(Map<String, ?> names) {
        return Math.min(
                MOST_COLUMNS_OF_NAMES,
                names.keySet().stream().mapToInt(String::length).max().orElse(0));
    }

    private void counter(String name, String value, int width) {
        text.append("    ")
                .append(TerminalText.escape(name))
                .repeat(' ', Math.max(1, width + 2 - name.length()))
                .append(TerminalText.escape(value))
                .append('\n');
    }

    private void row(String label, String value) {
        text.append("  ")
                .append(label)
                .append(':')
                .repeat(' ', Math.max(1, VALUES - label.length() - 1))
                .append(TerminalText.escape(value))
                .append('\n');
    }
}
