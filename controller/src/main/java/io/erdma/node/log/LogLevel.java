package io.erdma.node.log;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.logging.Level;

/** The four levels that {@link io.erdma.log.Log} writes, in ascending order. */
public enum LogLevel {
    DEBUG,
    INFO,
    WARN,
    ERROR;

    Level jul() {
        return switch (this) {
            case DEBUG -> Level.FINE;
            case INFO -> Level.INFO;
            case WARN -> Level.WARNING;
            case ERROR -> Level.SEVERE;
        };
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<LogLevel> of(String word) {
        return Arrays.stream(values())
                .filter(level -> level.word().equals(word))
                .findFirst();
    }

    /** The highest level that a java.util.logging level reaches; those below FINE count as debug too. */
    static LogLevel of(Level jul) {
        LogLevel result = DEBUG;
        for (LogLevel level : values()) {
            if (jul.intValue() >= level.jul().intValue()) {
                result = level;
            }
        }
        return result;
    }
}
