package io.erdma.cli;

import io.erdma.traffic.TrafficRates;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.DoubleStream;

/** How the lines of {@code erdma stat -l} look. */
final class LiveStyles {
    private LiveStyles() {}

    /** For files, pipes and those who know {@code eadm stat -l}: its line, behind the device's name if there are several. */
    static LiveStat.Style plain() {
        return (reading, totals, rates, among) -> {
            String prefix = among > 1 ? TerminalText.escape(reading.device()) + ": " : "";
            return lines(prefix, TrafficText.line(rates), rates);
        };
    }

    /** For people at a terminal: columns, and bars that the highest rate of the device so far would fill. */
    static LiveStat.Style columns() {
        Map<String, Double> highest = new HashMap<>();
        return (reading, totals, rates, among) -> {
            double now = DoubleStream.of(
                            rates.received().bytes().orElse(0),
                            rates.sent().bytes().orElse(0))
                    .max()
                    .orElse(0);
            double full = highest.merge(reading.device(), now, Math::max);
            String prefix = among > 1 ? TerminalText.escape(reading.device()) + "  " : "";
            return lines(prefix, TrafficText.columns(rates, full), rates);
        };
    }

    private static String lines(String prefix, String line, TrafficRates rates) {
        StringBuilder text = new StringBuilder(prefix).append(line).append('\n');
        TrafficText.limits(rates)
                .forEach(limit -> text.append(prefix).append(limit).append('\n'));
        return text.toString();
    }

    /** One JSON object in one line for each device and moment. */
    static LiveStat.Style json() {
        return (reading, totals, rates, among) -> StatJson.live(reading.device(), totals, rates);
    }
}
