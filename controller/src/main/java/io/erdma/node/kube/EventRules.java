package io.erdma.node.kube;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Comparator.comparing;
import static java.util.Comparator.comparingLong;

import io.erdma.log.Printable;
import io.erdma.node.kube.EventWrite.Kind;
import io.erdma.node.kube.Occurrence.About;
import io.erdma.plugin.BackOff;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * Decides which Event is written when, without I/O; for one thread.
 *
 * <ul>
 *   <li>The same reason about the same subject within {@link Limits#window} is one Event that counts.
 *   <li>Each request takes a token. Without one, what happens is counted on and told with the next, so that a device that
 *       flaps costs no more than one that fails once.
 *   <li>Tokens go round by object: a node that has much to tell does not keep a pod's Event waiting.
 *   <li>What could not be told within the window is dropped: nobody wants to read it then.
 * </ul>
 */
final class EventRules {
    /**
     * @param window within which the same is one Event, and after which what was not written is dropped
     * @param burst requests that may follow each other at once
     * @param perToken after which one more request may be made
     * @param mostSeries how many Events are kept in mind
     * @param firstRetry after a failure; it doubles from one to the next
     * @param longestRetry where the doubling ends; the API server's own wish counts up to this, too
     * @param forbidden pause after the API server said that we have no right
     */
    record Limits(
            Duration window,
            int burst,
            Duration perToken,
            int mostSeries,
            Duration firstRetry,
            Duration longestRetry,
            Duration forbidden) {
        static final Limits STANDARD = new Limits(
                Duration.ofMinutes(10),
                10,
                Duration.ofSeconds(30),
                200,
                Duration.ofSeconds(2),
                Duration.ofMinutes(2),
                Duration.ofMinutes(5));
    }

    /** Names stay within the API's 253 characters with what is added to them. */
    private static final int LONGEST_NAME_PART = 200;

    private static final int LONGEST_MESSAGE = 1_024;
    private static final String CUT = "…";

    private record Key(About about, EventReason reason, String subject) {}

    /** One Event, as we know it. */
    private static final class Series {
        final String name;
        final Instant first;
        Instant last;
        long lastNanos;
        String message = "";
        /** How often it was seen before this agent knew of it. */
        int before;

        int seen;
        int told;
        Kind next = Kind.CREATE;

        Series(String name, Moment now) {
            this.name = name;
            this.first = now.wall();
            this.last = now.wall();
            this.lastNanos = now.nanos();
        }

        boolean waits() {
            return told < seen;
        }
    }

    /** A request to be made, and then to be answered for. */
    record Due(EventWrite write, Series series) {}

    private final Limits limits;
    private final BackOff retries;
    private final Map<Key, Series> known = new LinkedHashMap<>();
    /** By object, the number of the last request about it. */
    private final Map<About, Long> lastTurns = new HashMap<>();

    private long turns;
    private double tokens;
    private OptionalLong filledAt = OptionalLong.empty();
    private OptionalLong notBefore = OptionalLong.empty();
    private long written;
    private long heldBack;
    private long dropped;

    EventRules(Limits limits) {
        this.limits = limits;
        this.retries = new BackOff(limits.firstRetry(), limits.longestRetry());
        this.tokens = limits.burst();
    }

    EventCounts counts() {
        return new EventCounts(written, heldBack, dropped);
    }

    void occurred(Occurrence occurrence, Moment now) {
        fill(now);
        forget(now);
        Key key = new Key(occurrence.about(), occurrence.reason(), occurrence.subject());
        Series series = known.get(key);
        if (series == null) {
            if (known.size() >= limits.mostSeries() && !makeRoom()) {
                dropped++;
                return;
            }
            series = new Series(nameOf(key, now.wall()), now);
            known.put(key, series);
        } else if (key.reason().once()) {
            return;
        }
        if (series.waits() || tokens < 1 || pausing(now)) {
            heldBack++;
        }
        series.seen++;
        series.message = message(occurrence.message());
        series.last = now.wall().isAfter(series.first) ? now.wall() : series.first;
        series.lastNanos = now.nanos();
    }

    /** The next request, if one may be made now; its answer goes to {@link #answered}. */
    Optional<Due> next(Moment now) {
        fill(now);
        forget(now);
        if (pausing(now) || tokens < 1) {
            return Optional.empty();
        }
        return known.entrySet().stream()
                .filter(entry -> entry.getValue().waits())
                .min(comparingLong((Map.Entry<Key, Series> entry) ->
                                lastTurns.getOrDefault(entry.getKey().about(), 0L))
                        .thenComparing(comparing(entry -> entry.getValue().next))
                        .thenComparingLong(entry -> entry.getValue().lastNanos - now.nanos()))
                .map(entry -> due(entry.getKey(), entry.getValue()));
    }

    private Due due(Key key, Series series) {
        tokens--;
        lastTurns.put(key.about(), ++turns);
        return new Due(
                new EventWrite(
                        series.next,
                        series.name,
                        key.about(),
                        key.reason(),
                        series.message,
                        series.first,
                        series.last,
                        series.before + series.seen),
                series);
    }

    /** @return what is wrong, for people; empty when nothing is */
    Optional<String> answered(Due due, WriteAnswer answer, Moment now) {
        Series series = due.series();
        return switch (answer) {
            case WriteAnswer.Written(int count) -> {
                retries.reset();
                written++;
                if (series.next == Kind.TAKE_OVER) {
                    // The count that it had is known only now, so ours goes there with one more request.
                    series.before = Math.max(0, count);
                } else {
                    series.told = series.seen;
                }
                series.next = Kind.UPDATE;
                yield Optional.empty();
            }
            case WriteAnswer.Exists _ -> {
                retries.reset();
                if (due.write().reason().once()) {
                    series.told = series.seen;
                }
                series.next = Kind.TAKE_OVER;
                yield Optional.empty();
            }
            case WriteAnswer.Gone _ -> {
                if (series.next == Kind.CREATE) {
                    // It is the namespace that has gone, with whoever would have read this.
                    drop(series);
                } else {
                    series.next = Kind.CREATE;
                    series.before = 0;
                }
                yield Optional.empty();
            }
            case WriteAnswer.Refused(String why) -> {
                drop(series);
                yield Optional.of(why);
            }
            case WriteAnswer.Forbidden(String why) -> {
                pause(limits.forbidden(), now);
                yield Optional.of(why);
            }
            case WriteAnswer.Later(String why, Optional<Duration> asked) -> {
                pause(longer(retries.next(), asked), now);
                yield Optional.of(why);
            }
        };
    }

    private Duration longer(Duration ours, Optional<Duration> asked) {
        Duration theirs = asked.orElse(Duration.ZERO);
        Duration longer = ours.compareTo(theirs) > 0 ? ours : theirs;
        return longer.compareTo(limits.longestRetry()) < 0 ? longer : limits.longestRetry();
    }

    /** The request did not count, so its token comes back. */
    private void pause(Duration time, Moment now) {
        tokens = Math.min(limits.burst(), tokens + 1);
        notBefore = OptionalLong.of(now.plus(time));
    }

    private void drop(Series series) {
        dropped += series.seen - series.told;
        series.told = series.seen;
    }

    /** When {@link #next} may have something, by the clock of moments; empty when nothing waits. */
    OptionalLong due(Moment now) {
        if (known.values().stream().noneMatch(Series::waits)) {
            return OptionalLong.empty();
        }
        fill(now);
        long at = tokens >= 1
                ? now.nanos()
                : now.nanos()
                        + (long) Math.ceil((1 - tokens) * limits.perToken().toNanos());
        return OptionalLong.of(notBefore.isPresent() && notBefore.getAsLong() - at > 0 ? notBefore.getAsLong() : at);
    }

    private boolean pausing(Moment now) {
        return notBefore.isPresent() && now.isBefore(notBefore.getAsLong());
    }

    private void fill(Moment now) {
        if (filledAt.isPresent()) {
            double more = (double) now.since(filledAt.getAsLong()).toNanos()
                    / limits.perToken().toNanos();
            tokens = Math.min(limits.burst(), tokens + more);
        }
        filledAt = OptionalLong.of(now.nanos());
    }

    private void forget(Moment now) {
        boolean any = known.values().removeIf(series -> {
            boolean old = now.since(series.lastNanos).compareTo(limits.window()) >= 0;
            if (old) {
                drop(series);
            }
            return old;
        });
        if (any) {
            retainTurns(known.keySet());
        }
    }

    /** At the cost of one that has been told, which would only be counted on. */
    private boolean makeRoom() {
        Optional<Key> told = known.entrySet().stream()
                .filter(entry -> !entry.getValue().waits())
                .map(Map.Entry::getKey)
                .findFirst();
        told.ifPresent(known::remove);
        retainTurns(known.keySet());
        return told.isPresent();
    }

    private void retainTurns(Collection<Key> keys) {
        lastTurns.keySet().retainAll(keys.stream().map(Key::about).collect(Collectors.toSet()));
    }

    /**
     * The same for the same thing, so that an agent that was started again finds what it wrote: of a pod whenever that was,
     * else within the window.
     */
    private String nameOf(Key key, Instant now) {
        String object = switch (key.about()) {
            case About.OnNode node -> node.name();
            case About.OnPod pod -> pod.name();
        };
        String identity = key.about() + " " + key.reason().wire() + " " + key.subject()
                + (key.reason().once()
                        ? ""
                        : " " + now.getEpochSecond() / limits.window().toSeconds());
        return object.substring(0, Math.min(object.length(), LONGEST_NAME_PART)).replaceAll("[.-]+$", "") + "."
                + digest(identity);
    }

    private static String digest(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return HexFormat.of().formatHex(sum, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Cut to what the API takes, at the end of a character. */
    private static String message(String text) {
        String printable = Printable.of(text);
        if (printable.getBytes(UTF_8).length <= LONGEST_MESSAGE) {
            return printable;
        }
        ByteBuffer bytes = ByteBuffer.allocate(LONGEST_MESSAGE - CUT.getBytes(UTF_8).length);
        CharBuffer chars = CharBuffer.wrap(printable);
        UTF_8.newEncoder().encode(chars, bytes, true);
        return printable.substring(0, chars.position()) + CUT;
    }
}
