package io.erdma.log;

import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Structured logging over java.util.logging: a message for people, and named fields for machines that travel as the
 * record's parameters. The program's formatter writes them as text or JSON.
 */
public final class Log {
    /** One named value of a log line; common keys: device, pod, node, resource. */
    public record Field(String key, String value) {
        public static Field of(String key, Object value) {
            return new Field(key, String.valueOf(value));
        }
    }

    private final Logger logger;

    private Log(Logger logger) {
        this.logger = logger;
    }

    public static Log of(Class<?> owner) {
        return new Log(Logger.getLogger(owner.getName()));
    }

    public void debug(String message, Field... fields) {
        write(Level.FINE, message, null, fields);
    }

    public void info(String message, Field... fields) {
        write(Level.INFO, message, null, fields);
    }

    public void warn(String message, Field... fields) {
        write(Level.WARNING, message, null, fields);
    }

    public void error(String message, Field... fields) {
        write(Level.SEVERE, message, null, fields);
    }

    /** For a fault of our own, whose stack trace is wanted. */
    public void error(String message, Throwable cause, Field... fields) {
        write(Level.SEVERE, message, cause, fields);
    }

    private void write(Level level, String message, Throwable cause, Field... fields) {
        if (!logger.isLoggable(level)) {
            return;
        }
        LogRecord record = new LogRecord(level, message);
        record.setLoggerName(logger.getName());
        record.setThrown(cause);
        record.setParameters(fields);
        logger.log(record);
    }
}
