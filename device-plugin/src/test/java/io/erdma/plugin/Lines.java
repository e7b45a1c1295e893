package io.erdma.plugin;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What is logged while it is open, from whichever logger. */
final class Lines extends Handler implements AutoCloseable {
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final Logger root = Logger.getLogger("");

    private Lines() {
        root.addHandler(this);
    }

    static Lines record() {
        return new Lines();
    }

    List<String> atLeast(Level level) {
        return records.stream()
                .filter(record -> record.getLevel().intValue() >= level.intValue())
                .map(LogRecord::getMessage)
                .toList();
    }

    /** Names of the loggers that said anything at that level or above. */
    List<String> loggers(Level level) {
        return records.stream()
                .filter(record -> record.getLevel().intValue() >= level.intValue())
                .map(LogRecord::getLoggerName)
                .distinct()
                .toList();
    }

    @Override
    public void publish(LogRecord record) {
        records.add(record);
    }

    @Override
    public void flush() {
        // Keeps all it is given.
    }

    @Override
    public void close() {
        root.removeHandler(this);
    }
}
