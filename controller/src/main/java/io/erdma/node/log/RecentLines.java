package io.erdma.node.log;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Keeps the last lines that the log told, in a bounded space. Debugging is left out: it would drive out what counts. */
public final class RecentLines extends Handler {
    private static final int LONGEST = 500;

    private final int most;
    private final Deque<Line> lines = new ArrayDeque<>();

    /** @param text for people, with the record's fields; cut where it is too long */
    public record Line(Instant at, LogLevel level, String text) {
        public Line {
            requireNonNull(at, "at is null");
            requireNonNull(level, "level is null");
            requireNonNull(text, "text is null");
        }
    }

    /** @param most how many lines are kept */
    public RecentLines(int most) {
        this.most = most;
        setLevel(Level.INFO);
    }

    /** The latest first. */
    public synchronized List<Line> latestFirst() {
        return new ArrayList<>(lines);
    }

    @Override
    public void publish(LogRecord record) {
        if (!isLoggable(record)) {
            return;
        }
        String text = TextFormatter.text(record);
        Line line = new Line(
                record.getInstant(),
                LogLevel.of(record.getLevel()),
                text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…");
        synchronized (this) {
            lines.addFirst(line);
            if (lines.size() > most) {
                lines.removeLast();
            }
        }
    }

    @Override
    public void flush() {
        // Nothing is on its way anywhere.
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
