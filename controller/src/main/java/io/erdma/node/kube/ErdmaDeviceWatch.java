package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import io.erdma.cluster.crd.ErdmaDevice;
import io.erdma.cluster.crd.ErdmaDeviceSpec;
import io.erdma.cluster.crd.ErdmaDeviceStatus;
import io.erdma.plugin.BackOff;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.Closeable;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Follows the ERdmaDevice object of one node: reads it, watches it, and begins anew whenever the watch ends. While the
 * API does not answer, the last known state stays. All methods are for one thread, which is woken when there is news.
 */
public final class ErdmaDeviceWatch implements Closeable {
    /** What is known of the object. */
    public sealed interface Seen {
        /** Nothing: the API has not answered yet. */
        record NotYet() implements Seen {}

        /** There is none. */
        record Absent() implements Seen {}

        /** It is there, with what has been written into it. */
        record Present(Optional<ErdmaDeviceSpec> spec, Optional<ErdmaDeviceStatus> status) implements Seen {
            public Present {
                requireNonNull(spec, "spec is null");
                requireNonNull(status, "status is null");
            }
        }
    }

    /**
     * When it tries again, and how long it trusts a watch.
     *
     * @param first wait after a failure; it doubles from one to the next
     * @param longest of these waits; up to half as much again is added, so that the nodes of a cluster come one by one
     * @param life for which a watch is asked; that long a watch may be dead without a sign
     */
    public record Pace(Duration first, Duration longest, Duration life) {
        public static final Pace STANDARD =
                new Pace(Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofMinutes(4));
    }

    /** Beyond its life, before a watch is given up that the API server did not end. */
    private static final Duration GRACE = Duration.ofSeconds(20);

    /** Something a watch told; on its own thread. */
    private sealed interface News {
        Events from();

        record Changed(Events from, Watcher.Action action, ErdmaDevice object) implements News {}

        record Ended(Events from) implements News {}
    }

    private record Open(Watch watch, Events events, long since) {}

    private final ClusterClient client;
    private final String name;
    private final Runnable wakeUp;
    private final Pace pace;
    private final BackOff pauses;
    private final Queue<News> news = new ConcurrentLinkedQueue<>();

    private Optional<Open> open = Optional.empty();
    private long nextTry = System.nanoTime();
    private Seen seen = new Seen.NotYet();
    private Optional<String> problem = Optional.empty();

    /**
     * @param name of the object, which is the node's
     * @param wakeUp called from other threads when {@link #turn} has something to do
     */
    public ErdmaDeviceWatch(ClusterClient client, String name, Runnable wakeUp, Pace pace) {
        this.client = client;
        this.name = name;
        this.wakeUp = wakeUp;
        this.pace = pace;
        this.pauses = new BackOff(pace.first(), pace.longest());
    }

    /** Does what there is to do; takes as long as the API server does to answer, or to be given up. */
    public void turn() {
        for (News each = news.poll(); each != null; each = news.poll()) {
            News current = each;
            if (open.filter(watch -> watch.events() == current.from()).isPresent()) {
                handle(current);
            }
        }
        long now = System.nanoTime();
        if (open.isPresent()
                && now - open.get().since() > pace.life().plus(GRACE).toNanos()) {
            forget();
            nextTry = now;
        }
        if (open.isEmpty() && now - nextTry >= 0) {
            begin();
        }
    }

    /** After which {@link #turn} has something to do even without a wake-up. */
    public Duration due() {
        long at = open.map(watch -> watch.since() + pace.life().plus(GRACE).toNanos())
                .orElse(nextTry);
        return Duration.ofNanos(Math.max(0, at - System.nanoTime()));
    }

    public Seen seen() {
        return seen;
    }

    /** Why the API cannot be asked, while that is so. */
    public Optional<String> problem() {
        return problem;
    }

    private void handle(News current) {
        switch (current) {
            case News.Changed(Events _, Watcher.Action action, ErdmaDevice object) -> {
                if (ClusterClient.isNamed(name, object)) {
                    seen = action == Watcher.Action.DELETED ? new Seen.Absent() : present(object);
                }
            }
            case News.Ended(Events _) -> {
                long now = System.nanoTime();
                if (now - open.orElseThrow().since() > pace.longest().toNanos()) {
                    pauses.reset();
                }
                forget();
                pauseFrom(now);
            }
        }
    }

    private void begin() {
        long now = System.nanoTime();
        try {
            ClusterClient.Listed listed = client.erdmaDevice(name);
            seen = listed.object().map(ErdmaDeviceWatch::present).orElseGet(Seen.Absent::new);
            var events = new Events();
            Watch watch = client.watch(name, listed.version(), pace.life(), events);
            open = Optional.of(new Open(watch, events, now));
            problem = Optional.empty();
        } catch (ClusterException e) {
            problem = Optional.of(e.getMessage());
            pauseFrom(System.nanoTime());
        }
    }

    private static Seen present(ErdmaDevice object) {
        return new Seen.Present(Optional.ofNullable(object.getSpec()), Optional.ofNullable(object.getStatus()));
    }

    private void pauseFrom(long now) {
        double share = 1 + ThreadLocalRandom.current().nextDouble() / 2;
        nextTry = now + (long) (pauses.next().toNanos() * share);
    }

    private void forget() {
        open.ifPresent(watch -> watch.watch().close());
        open = Optional.empty();
    }

    /** The client stays open; it is its maker's. */
    @Override
    public void close() {
        forget();
    }

    /** One watch's voice. */
    private final class Events implements Watcher<ErdmaDevice> {
        @Override
        public void eventReceived(Action action, ErdmaDevice object) {
            tell(new News.Changed(this, action, object));
        }

        @Override
        public void onClose(WatcherException cause) {
            // The next reading says whether something is wrong; most often the time was up.
            tell(new News.Ended(this));
        }

        @Override
        public void onClose() {
            tell(new News.Ended(this));
        }

        private void tell(News one) {
            news.add(one);
            wakeUp.run();
        }
    }
}
