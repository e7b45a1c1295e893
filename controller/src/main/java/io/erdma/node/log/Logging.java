package io.erdma.node.log;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** The program's log: one handler, whose level can be changed while it runs. */
public final class Logging {
    private static final String OURS = "io.erdma";

    /** Libraries speak up only when something is wrong. */
    private static final Map<String, Level> QUIET = Map.of(
            "io.grpc", Level.WARNING,
            "io.netty", Level.WARNING,
            // "Unknown channel option SO_KEEPALIVE" with a trace for each client of a Unix socket: harmless.
            "io.netty.bootstrap", Level.SEVERE,
            "io.micrometer", Level.WARNING,
            "io.prometheus", Level.WARNING,
            // What goes wrong between us and the API server reaches us as an exception, and is told once.
            "io.fabric8", Level.OFF,
            "jnr", Level.WARNING);

    private final Logger ours;
    // java.util.logging holds loggers weakly: one that is collected forgets its level.
    private final List<Logger> kept;

    private Logging(Logger ours, List<Logger> kept) {
        this.ours = ours;
        this.kept = kept;
    }

    /** To be called before anything logs: java.util.logging asks for its manager only once. */
    public static void lastUntilTheEnd() {
        System.setProperty("java.util.logging.manager", LastingLogManager.class.getName());
    }

    /** Takes over java.util.logging for the whole process. */
    public static Logging start(OutputStream out, LogFormat format, LogLevel level) {
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        root.addHandler(new LineHandler(
                out,
                switch (format) {
                    case TEXT -> new TextFormatter();
                    case JSON -> new JsonFormatter();
                }));
        root.setLevel(Level.WARNING);
        List<Logger> kept = QUIET.entrySet().stream()
                .map(entry -> {
                    Logger logger = Logger.getLogger(entry.getKey());
                    logger.setLevel(entry.getValue());
                    return logger;
                })
                .toList();
        Logging logging = new Logging(Logger.getLogger(OURS), kept);
        logging.level(level);
        return logging;
    }

    public LogLevel level() {
        return LogLevel.of(ours.getLevel());
    }

    public void level(LogLevel level) {
        ours.setLevel(level.jul());
    }

    /** Also to be told of each line, from now on. */
    public void tell(RecentLines lines) {
        Logger.getLogger("").addHandler(lines);
    }

    /** Not any more. */
    public void forget(RecentLines lines) {
        Logger.getLogger("").removeHandler(lines);
    }

    /** Names of the libraries whose level is fixed. */
    List<String> quiet() {
        return kept.stream().map(Logger::getName).toList();
    }

    /** Writes each record with one call, so that lines of several threads never mix. */
    private static final class LineHandler extends Handler {
        private final OutputStream out;

        LineHandler(OutputStream out, Formatter formatter) {
            this.out = out;
            setFormatter(formatter);
            setLevel(Level.ALL);
        }

        @Override
        public void publish(LogRecord record) {
            byte[] line = getFormatter().format(record).getBytes(StandardCharsets.UTF_8);
            synchronized (this) {
                try {
                    out.write(line);
                    out.flush();
                } catch (IOException e) {
                    // Nobody reads stderr any more; the agent's work goes on. ErrorManager tells once.
                    reportError(null, e, ErrorManager.WRITE_FAILURE);
                }
            }
        }

        @Override
        public void flush() {
            // Each record is flushed when it is written.
        }

        @Override
        public void close() {
            // The stream belongs to the process.
        }
    }
}
