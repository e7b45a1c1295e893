package io.erdma.cli;

import io.erdma.traffic.TrafficRates;
import io.erdma.traffic.TrafficRates.Rate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Traffic in words: numbers of one shape everywhere, and a dash for what can't be told. */
final class TrafficText {
    static final String UNKNOWN = "-";

    private static final double MIB = 1024.0 * 1024.0;
    private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB");
    private static final double STEP = 1024;

    private static final int BAR_CELLS = 10;
    private static final int BYTES_WIDTH = 9;
    private static final int PACKETS_WIDTH = 8;

    private TrafficText() {}

    /** As {@code eadm stat -l} prints it. */
    static String line(TrafficRates rates) {
        return "rx (download): " + mebibytes(rates.received()) + " MiB/s " + packets(rates.received())
                + " p/s; tx (upload): " + mebibytes(rates.sent()) + " MiB/s " + packets(rates.sent()) + " p/s";
    }

    /**
     * The same in columns, each direction with a bar.
     *
     * @param fullBar the bytes per second that fill a bar
     */
    static String columns(TrafficRates rates, double fullBar) {
        return "rx (download): " + column(rates.received(), fullBar) + "   tx (upload): "
                + column(rates.sent(), fullBar);
    }

    private static String column(Rate rate, double fullBar) {
        return padded(mebibytes(rate), BYTES_WIDTH) + " MiB/s " + padded(packets(rate), PACKETS_WIDTH) + " p/s "
                + bar(rate.bytes(), fullBar);
    }

    private static String padded(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    private static String bar(OptionalDouble bytes, double fullBar) {
        int filled = fullBar > 0 ? (int) Math.round(Math.min(1, bytes.orElse(0) / fullBar) * BAR_CELLS) : 0;
        return "[" + "#".repeat(filled) + " ".repeat(BAR_CELLS - filled) + "]";
    }

    /** What was lost to the limits of the instance; nothing when nothing was. */
    static List<String> limits(TrafficRates rates) {
        List<String> lines = new ArrayList<>();
        if (rates.bandwidthDrops() > 0) {
            lines.add("limited by the instance's bandwidth quota: +" + rates.bandwidthDrops() + " drops");
        }
        if (rates.packetRateDrops() > 0) {
            lines.add("limited by the instance's packet rate quota: +" + rates.packetRateDrops() + " drops");
        }
        return lines;
    }

    /** "12.34 GiB". */
    static String bytes(OptionalLong bytes) {
        if (bytes.isEmpty()) {
            return UNKNOWN;
        }
        double value = unsigned(bytes.getAsLong());
        int unit = 0;
        while (value >= STEP && unit < UNITS.size() - 1) {
            value /= STEP;
            unit++;
        }
        return unit == 0
                ? Long.toUnsignedString(bytes.getAsLong()) + " " + UNITS.getFirst()
                : String.format(Locale.ROOT, "%.2f %s", value, UNITS.get(unit));
    }

    static String number(OptionalLong number) {
        return number.isPresent() ? Long.toUnsignedString(number.getAsLong()) : UNKNOWN;
    }

    private static String mebibytes(Rate rate) {
        return rate.bytes().isPresent()
                ? String.format(Locale.ROOT, "%.2f", rate.bytes().getAsDouble() / MIB)
                : UNKNOWN;
    }

    private static String packets(Rate rate) {
        return rate.packets().isPresent()
                ? String.format(Locale.ROOT, "%.0f", rate.packets().getAsDouble())
                : UNKNOWN;
    }

    private static double unsigned(long value) {
        return value >= 0 ? value : (value >>> 1) * 2.0;
    }
}
