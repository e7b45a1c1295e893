package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Log;
import io.erdma.node.kube.MarkRules.Mark;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Tells the cluster how its node stands: Events on the Node and on pods, and the marks on the Node object. What is told is
 * asked from its {@link News}; when and how often, {@link EventRules} and {@link MarkRules} decide. Nobody waits for it,
 * whether the API server answers or not. Its thread, {@code erdma-cluster}, alone touches what is not volatile or final.
 */
public final class ClusterReporter implements AutoCloseable {
    private static final Log LOG = Log.of(ClusterReporter.class);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(1);

    /** What there is to tell; asked on the reporter's thread, and must not block. */
    public interface News {
        /** What happened since it was asked last. */
        List<Occurrence> occurrences();

        /** How the node stands; empty while that is not known. */
        Optional<NodeState> state();
    }

    /**
     * @param condition whether the Node object gets the condition {@link NodeMarks#CONDITION}
     * @param label whether it gets the label {@link NodeMarks#LABEL}
     */
    public record Settings(boolean events, boolean condition, boolean label, String node) {
        public Settings {
            requireNonNull(node, "node is null");
        }

        boolean nothing() {
            return !events && !condition && !label;
        }
    }

    /**
     * When it does what.
     *
     * @param settle before it begins: a start is no news, and the kubelet comes first
     * @param poll at least so often there is asked for news
     * @param idle after which the API's client is closed
     */
    record Pace(Duration settle, Duration poll, Duration idle, EventRules.Limits events, MarkRules.Pace marks) {
        static final Pace STANDARD = new Pace(
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofMinutes(1),
                EventRules.Limits.STANDARD,
                MarkRules.Pace.STANDARD);
    }

    /**
     * How it fares.
     *
     * @param off why nothing is told at all; absent where something is
     * @param problem why it cannot be told now; absent while it can, as far as known
     */
    public record Status(Optional<String> off, Optional<String> problem, EventCounts counts) {
        public Status {
            requireNonNull(off, "off is null");
            requireNonNull(problem, "problem is null");
            requireNonNull(counts, "counts is null");
        }
    }

    private final Settings settings;
    private final Pace pace;
    private final InstantSource clock;
    private final EventRules events;
    /** Each by itself, so that a right that is missing for one does not hold up the other. */
    private final List<MarkRules> marks;

    private final Optional<IdleClient> client;
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    /** Guarded by the lock. */
    private boolean wakeUp;

    private volatile boolean stopping;
    private volatile Status status;
    /** Set by start, before the thread begins. */
    private volatile News news = new Nothing();

    // ---- of the thread alone ----

    private Optional<String> eventProblem = Optional.empty();
    private final Map<MarkRules, String> markProblems = new LinkedHashMap<>();
    private Optional<String> fault = Optional.empty();

    /** @param access how the cluster's API is reached, where it is */
    public ClusterReporter(Settings settings, Optional<ClusterAccess> access) {
        this(settings, access, Pace.STANDARD, Clock.systemUTC());
    }

    ClusterReporter(Settings settings, Optional<ClusterAccess> access, Pace pace, InstantSource clock) {
        this.settings = requireNonNull(settings, "settings is null");
        this.pace = requireNonNull(pace, "pace is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.events = new EventRules(pace.events());
        this.marks = List.of(
                new MarkRules(settings.condition(), false, pace.marks()),
                new MarkRules(false, settings.label(), pace.marks()));
        this.client = access.map(way -> new IdleClient(way, pace.idle()));
        this.status = new Status(off(settings, access), Optional.empty(), events.counts());
        this.thread = Thread.ofPlatform().daemon().name("erdma-cluster").unstarted(this::run);
    }

    private static Optional<String> off(Settings settings, Optional<ClusterAccess> access) {
        if (settings.nothing()) {
            return Optional.of("it is switched off");
        }
        return access.isPresent()
                ? Optional.empty()
                : Optional.of("there are no credentials for the cluster's API; give the agent's pod a service account");
    }

    /** Once. Where there is nothing to tell, or nobody to tell it, no thread is started. */
    public void start(News told) {
        news = requireNonNull(told, "told is null");
        if (status.off().isEmpty()) {
            thread.start();
        }
    }

    /** From any thread: there is news. Returns at once. */
    public void wakeUp() {
        lock.lock();
        try {
            wakeUp = true;
            woken.signal();
        } finally {
            lock.unlock();
        }
    }

    /** From any thread. */
    public Status status() {
        return status;
    }

    private void run() {
        try {
            pause(pace.settle(), false);
            while (!stopping) {
                pause(turn(), true);
            }
        } finally {
            client.ifPresent(IdleClient::close);
        }
    }

    private Duration turn() {
        Duration wait = pace.poll();
        try {
            wait = report();
            fault = Optional.empty();
        } catch (RuntimeException | LinkageError e) {
            // The node's work goes on without what is told of it.
            if (!stopping && !fault.equals(Optional.of(e.toString()))) {
                fault = Optional.of(e.toString());
                LOG.error("telling the cluster how the node stands met a fault; it goes on", e);
            }
        }
        return wait;
    }

    /** @return for how long there is nothing to do, unless there is news */
    private Duration report() {
        Moment now = now();
        List<Occurrence> occurrences = news.occurrences();
        if (settings.events()) {
            for (Occurrence one : occurrences) {
                events.occurred(one, now);
            }
            writeEvents();
        }
        writeMarks();
        now = now();
        client.orElseThrow().closeIfIdle(now);
        publish();
        long at = now.plus(pace.poll());
        at = earlier(at, events.due(now));
        at = earlier(at, client.orElseThrow().due());
        return Duration.ofNanos(Math.max(0, at - now.nanos()));
    }

    private static long earlier(long one, OptionalLong other) {
        return other.isPresent() && other.getAsLong() - one < 0 ? other.getAsLong() : one;
    }

    private void writeEvents() {
        for (Optional<EventRules.Due> due = nextEvent(); due.isPresent(); due = nextEvent()) {
            EventRules.Due one = due.get();
            WriteAnswer answer = write(one.write());
            if (stopping) {
                return;
            }
            Optional<String> problem = events.answered(one, answer, now());
            if (!(answer instanceof WriteAnswer.Gone)) {
                eventProblem = told(eventProblem, problem, "Events can be written again");
            }
            publish();
        }
    }

    private Optional<EventRules.Due> nextEvent() {
        return stopping ? Optional.empty() : events.next(now());
    }

    private WriteAnswer write(EventWrite event) {
        try {
            return client.orElseThrow().get(now()).write(event, settings.node());
        } catch (ClusterException e) {
            return new WriteAnswer.Later(e.getMessage(), Optional.empty());
        }
    }

    private void writeMarks() {
        Optional<NodeState> state = settings.condition() || settings.label() ? news.state() : Optional.empty();
        if (state.isPresent()) {
            marks.forEach(rules -> write(rules, state.get()));
        }
    }

    private void write(MarkRules rules, NodeState state) {
        Optional<Mark> mark = stopping ? Optional.empty() : rules.next(state, now());
        if (mark.isEmpty()) {
            return;
        }
        Optional<String> problem = write(mark.get());
        if (stopping) {
            return;
        }
        if (problem.isEmpty()) {
            rules.written(mark.get(), now());
        } else {
            rules.failed(now());
        }
        told(Optional.ofNullable(markProblems.get(rules)), problem, "the Node object can be marked again");
        problem.ifPresentOrElse(why -> markProblems.put(rules, why), () -> markProblems.remove(rules));
    }

    /** @return why it was not written */
    private Optional<String> write(Mark mark) {
        try {
            var node = new NodeMarks(client.orElseThrow().get(now()), settings.node());
            return problem(
                    switch (mark) {
                        case Mark.Condition(NodeCondition condition) -> node.condition(condition, clock.instant());
                        case Mark.Label(boolean wanted) -> node.label(wanted);
                    });
        } catch (ClusterException e) {
            return Optional.of(e.getMessage());
        }
    }

    private Optional<String> problem(WriteAnswer answer) {
        return switch (answer) {
            case WriteAnswer.Written _ -> Optional.empty();
            case WriteAnswer.Gone _ ->
                Optional.of("there is no Node object " + settings.node() + "; name the right one with --node-name");
            case WriteAnswer.Exists _ -> Optional.of("the API server answered 409");
            case WriteAnswer.Forbidden(String why) -> Optional.of(why);
            case WriteAnswer.Refused(String why) -> Optional.of(why);
            case WriteAnswer.Later(String why, var _) -> Optional.of(why);
        };
    }

    /** Says what is new in it. */
    private static Optional<String> told(Optional<String> former, Optional<String> latter, String good) {
        if (!former.equals(latter)) {
            latter.ifPresentOrElse(LOG::warn, () -> LOG.info(good));
        }
        return latter;
    }

    private void publish() {
        status = new Status(
                status.off(),
                eventProblem.or(() -> markProblems.values().stream().findFirst()),
                events.counts());
    }

    private Moment now() {
        return new Moment(clock.instant(), System.nanoTime());
    }

    /** @param forNews whether a wake-up ends it */
    private void pause(Duration atMost, boolean forNews) {
        lock.lock();
        try {
            long left = atMost.toNanos();
            while (!(wakeUp && forNews) && !stopping && left > 0) {
                left = woken.awaitNanos(left);
            }
            wakeUp = false;
        } catch (InterruptedException e) {
            // Only closing interrupts.
            stopping = true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a request under way; what was not told by then is not told. */
    @Override
    public void close() {
        stopping = true;
        wakeUp();
        if (thread.getState() == Thread.State.NEW) {
            return;
        }
        thread.interrupt();
        try {
            thread.join(CLOSE_WITHIN);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private record Nothing() implements News {
        @Override
        public List<Occurrence> occurrences() {
            return List.of();
        }

        @Override
        public Optional<NodeState> state() {
            return Optional.empty();
        }
    }
}
