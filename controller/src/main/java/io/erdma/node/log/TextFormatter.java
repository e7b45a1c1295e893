package io.erdma.node.log;

import io.erdma.log.Log;
import io.erdma.log.Printable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;

/**
 * One line for people: time, level, message, fields. A stack trace follows on indented lines, so a line that begins at
 * the margin is always a record of ours, whatever text came in from outside.
 */
final class TextFormatter extends Formatter {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    static String time(Instant instant) {
        return TIME.format(instant);
    }

    @Override
    public String format(LogRecord record) {
        StringBuilder out = new StringBuilder(120)
                .append(time(record.getInstant()))
                .append(' ')
                .append(String.format("%-5s", LogLevel.of(record.getLevel()).name()))
                .append(' ');
        text(record, out);
        out.append('\n');
        if (record.getThrown() != null) {
            trace(record.getThrown())
                    .lines()
                    .map(line -> Printable.of(line.replace("\t", "  ")))
                    .forEach(line -> out.append("    ").append(line).append('\n'));
        }
        return out.toString();
    }

    /** Message and fields alone. */
    static String text(LogRecord record) {
        StringBuilder out = new StringBuilder(100);
        text(record, out);
        return out.toString();
    }

    private static void text(LogRecord record, StringBuilder out) {
        out.append(Printable.of(message(record)));
        if (record.getParameters() instanceof Log.Field[] fields) {
            for (Log.Field field : fields) {
                out.append(' ').append(Printable.of(field.key())).append('=');
                value(field.value(), out);
            }
        }
    }

    /** Records of ours are taken as they are; others (Netty's, the JDK's) may be patterns with parameters. */
    static String message(LogRecord record) {
        if (record.getMessage() == null) {
            return "";
        }
        return record.getParameters() instanceof Log.Field[] ? record.getMessage() : FOREIGN.formatMessage(record);
    }

    private static final Formatter FOREIGN = new Formatter() {
        @Override
        public String format(LogRecord record) {
            return formatMessage(record);
        }
    };

    static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static void value(String value, StringBuilder out) {
        boolean plain = !value.isEmpty() && value.chars().noneMatch(c -> c <= ' ' || c == '"' || c == '=' || c == '\\');
        String printable = Printable.of(value);
        if (plain) {
            out.append(printable);
        } else {
            out.append('"').append(printable.replace("\"", "\\\"")).append('"');
        }
    }
}
