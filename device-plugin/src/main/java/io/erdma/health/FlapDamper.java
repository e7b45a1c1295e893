package io.erdma.health;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisedDevices.Entry;
import io.erdma.device.DeviceHealth;
import io.erdma.device.DeviceHealth.Unhealthy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides when a change of the offer is told. Pure: times are passed in, as {@link System#nanoTime} gives them.
 *
 * <ul>
 *   <li>A device that changes after {@link #QUIET} without a change is told at once, down or up, appearing or vanishing.
 *   <li>One that changes sooner flaps: it counts as unhealthy until it has been up for {@link #SETTLED}, and what is to
 *       be told of it waits until {@link #PACE} has passed since the last message. What another device causes to be
 *       sent takes it along.
 *   <li>What the kubelet already has is not sent again; a reason alone is not a change.
 *   <li>What we decide ourselves is told at once and is no flapping: a device that is withheld or no longer so, and what
 *       {@link #startOver} and {@link #force} announce. A withheld device is tracked on.
 * </ul>
 */
final class FlapDamper {
    static final Duration QUIET = Duration.ofSeconds(2);
    static final Duration PACE = Duration.ofSeconds(1);
    static final Duration SETTLED = Duration.ofSeconds(1);

    private enum Level {
        ABSENT,
        DOWN,
        UP
    }

    private static final class Track {
        Optional<Entry> actual = Optional.empty();
        Optional<Entry> sent = Optional.empty();
        OptionalLong changedAt = OptionalLong.empty();
        boolean flapping;
        Optional<String> trouble = Optional.empty();
    }

    private final Map<String, Track> tracks = new TreeMap<>();
    private Set<String> withheld = Set.of();
    private boolean forced;
    private Optional<Path> sentRdmaCm = Optional.empty();
    private OptionalLong sentAt = OptionalLong.empty();
    private OptionalLong due = OptionalLong.empty();

    /** From now on the devices' changes of the past don't count. */
    void startOver() {
        for (Track track : tracks.values()) {
            track.changedAt = OptionalLong.empty();
            track.flapping = false;
        }
    }

    /** The next offer is sent in any case, also when nothing but a reason is new. */
    void force() {
        forced = true;
    }

    /**
     * @param actual what is true now
     * @param notOffered names of those devices that are left out
     * @return what is to be sent now; the first call always sends
     */
    Optional<AdvertisedDevices> offer(AdvertisedDevices actual, Set<String> notOffered, long now) {
        boolean first = sentAt.isEmpty() || forced;
        boolean urgent = first || !withheld.equals(notOffered);
        withheld = Set.copyOf(notOffered);
        forced = false;
        Set<String> names = new TreeSet<>(tracks.keySet());
        actual.devices().forEach(entry -> names.add(entry.device().name()));
        for (String name : names) {
            boolean news = note(tracks.computeIfAbsent(name, key -> new Track()), actual.find(name), now);
            urgent |= news && !withheld.contains(name);
        }

        boolean pending = first || !sentRdmaCm.equals(actual.rdmaCm());
        for (Map.Entry<String, Track> track : tracks.entrySet()) {
            pending |= !sameForKubelet(wanted(track, now), track.getValue().sent);
        }
        Optional<AdvertisedDevices> message = Optional.empty();
        if (pending && (urgent || paceAllows(now))) {
            message = Optional.of(send(actual.rdmaCm(), now));
            pending = false;
        }
        due = nextDue(pending, now);
        tracks.values()
                .removeIf(track -> track.actual.isEmpty()
                        && track.sent.isEmpty()
                        && now - track.changedAt.orElse(now) >= QUIET.toNanos());
        return message;
    }

    /** When {@link #offer} must be called again although nothing has changed. */
    OptionalLong due() {
        return due;
    }

    /** @return whether this is a change that is told at once */
    private static boolean note(Track track, Optional<Entry> actual, long now) {
        boolean changed = level(actual) != level(track.actual);
        boolean quiet = track.changedAt.isEmpty() || now - track.changedAt.getAsLong() >= QUIET.toNanos();
        track.actual = actual;
        if (actual.isPresent() && actual.get().health() instanceof Unhealthy unhealthy) {
            track.trouble = Optional.of(unhealthy.reason());
        }
        if (changed) {
            track.flapping = !quiet;
            track.changedAt = OptionalLong.of(now);
            return quiet;
        }
        if (quiet) {
            track.flapping = false;
        }
        return false;
    }

    private Optional<Entry> wanted(Map.Entry<String, Track> named, long now) {
        Track track = named.getValue();
        if (withheld.contains(named.getKey())) {
            return Optional.empty();
        }
        if (unsettled(track, now)) {
            return track.actual.map(entry -> new Entry(
                    entry.device(),
                    new Unhealthy("is flapping, last: " + track.trouble.orElse("vanished"), since(entry.health()))));
        }
        return track.actual;
    }

    private static boolean unsettled(Track track, long now) {
        return track.flapping
                && level(track.actual) == Level.UP
                && now - track.changedAt.orElse(now) < SETTLED.toNanos();
    }

    private AdvertisedDevices send(Optional<Path> rdmaCm, long now) {
        List<Entry> entries = new ArrayList<>();
        for (Map.Entry<String, Track> track : tracks.entrySet()) {
            track.getValue().sent = wanted(track, now);
            track.getValue().sent.ifPresent(entries::add);
        }
        sentRdmaCm = rdmaCm;
        sentAt = OptionalLong.of(now);
        return new AdvertisedDevices(entries, rdmaCm);
    }

    private OptionalLong nextDue(boolean pending, long now) {
        long wait = Long.MAX_VALUE;
        if (pending) {
            wait = PACE.toNanos() - (now - sentAt.orElse(now));
        }
        for (Track track : tracks.values()) {
            if (unsettled(track, now)) {
                wait = Math.min(wait, SETTLED.toNanos() - (now - track.changedAt.orElse(now)));
            }
        }
        return wait == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(now + wait);
    }

    private boolean paceAllows(long now) {
        return sentAt.isEmpty() || now - sentAt.getAsLong() >= PACE.toNanos();
    }

    private static boolean sameForKubelet(Optional<Entry> one, Optional<Entry> other) {
        return level(one) == level(other) && one.map(Entry::device).equals(other.map(Entry::device));
    }

    private static Level level(Optional<Entry> entry) {
        return entry.map(present -> present.health().isHealthy() ? Level.UP : Level.DOWN)
                .orElse(Level.ABSENT);
    }

    private static Instant since(DeviceHealth health) {
        return switch (health) {
            case DeviceHealth.Healthy healthy -> healthy.since();
            case Unhealthy unhealthy -> unhealthy.since();
        };
    }
}
