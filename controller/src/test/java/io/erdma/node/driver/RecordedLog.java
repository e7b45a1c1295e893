package io.erdma.node.driver;

import io.erdma.log.Log.Field;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What a class logs: "WARNING message key=value". */
final class RecordedLog extends Handler implements AutoCloseable {
    private final Logger logger;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private RecordedLog(Logger logger) {
        this.logger = logger;
    }

    /** To be closed at the end. */
    static RecordedLog of(Class<?> owner) {
        RecordedLog log = new RecordedLog(Logger.getLogger(owner.getName()));
        log.logger.addHandler(log);
        return log;
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    List<String> linesWith(String part) {
        return lines.stream().filter(line -> line.contains(part)).toList();
    }

    @Override
    public void publish(LogRecord record) {
        StringBuilder line = new StringBuilder(record.getLevel() + " " + record.getMessage());
        if (record.getParameters() instanceof Field[] fields) {
            for (Field field : fields) {
                line.append(' ').append(field.key()).append('=').append(field.value());
            }
        }
        lines.add(line.toString());
    }

    @Override
    public void flush() {
        // Nothing is held back.
    }

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
