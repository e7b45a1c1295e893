package io.erdma.node.page;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Numbers and times in words. */
final class Words {
    static final String UNKNOWN = "–";

    private static final List<String> UNITS = List.of("B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s");
    private static final double STEP = 1024;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private Words() {}

    /** "914.89 MiB/s". */
    static String rate(OptionalDouble bytesPerSecond) {
        if (bytesPerSecond.isEmpty()) {
            return UNKNOWN;
        }
        double value = bytesPerSecond.getAsDouble();
        int unit = 0;
        while (value >= STEP && unit < UNITS.size() - 1) {
            value /= STEP;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.2f %s", value, UNITS.get(unit));
    }

    static String packets(OptionalDouble perSecond) {
        return perSecond.isPresent() ? String.format(Locale.ROOT, "%.0f p/s", perSecond.getAsDouble()) : UNKNOWN;
    }

    static String time(Instant at) {
        return TIME.format(at);
    }

    static String clock(Instant at) {
        return CLOCK.format(at);
    }

    /** The two largest units: "3 d 4 h", "12 min 5 s", "8 s". */
    static String time(Duration lasting) {
        long seconds = Math.max(0, lasting.toSeconds());
        long minutes = seconds / 60;
        long hours = minutes / 60;
        long days = hours / 24;
        if (days > 0) {
            return days + " d " + hours % 24 + " h";
        }
        if (hours > 0) {
            return hours + " h " + minutes % 60 + " min";
        }
        return minutes > 0 ? minutes + " min " + seconds % 60 + " s" : seconds + " s";
    }
}
