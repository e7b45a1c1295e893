package io.erdma.node.net;

import static java.util.Objects.requireNonNull;

import io.erdma.libc.NativeException;
import io.erdma.libc.Poller;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.node.net.InterfaceConfigurer.Failure;
import io.erdma.node.net.InterfaceConfigurer.Outcome;
import io.erdma.node.net.Note.Severity;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Keeps the eRDMA interfaces as they are wanted: plans anew on every change of links, addresses and routes, and now and
 * then without one, and carries the plan out. Logs what it changes; steady state is silent. See DESIGN.md.
 */
public final class InterfaceKeeper implements AutoCloseable {
    private static final Log LOG = Log.of(InterfaceKeeper.class);
    private static final Duration CLOSE_WITHIN = Duration.ofMillis(900);

    /** So many times as long as a look took there is none, whatever goes on: a tenth of a core is the most it takes. */
    private static final int REST = 9;

    private static final Duration LONGEST_REST = Duration.ofSeconds(10);

    /**
     * When to look.
     *
     * @param debounce after a change, for others to follow: one change of a link is several messages
     * @param recheck without any, should a notification have been lost
     * @param retry after a failure
     */
    record Timing(Duration debounce, Duration recheck, Duration retry, Repairs.Limits repairs) {
        static final Timing STANDARD = new Timing(
                Duration.ofMillis(200), Duration.ofSeconds(60), Duration.ofSeconds(5), Repairs.Limits.STANDARD);
    }

    private final RouteSettings settings;
    private final HostNetwork.Opener opener;
    private final Timing timing;
    private final Clock clock;
    private final Poller poller;
    private final Thread thread = Thread.ofPlatform().daemon().name("erdma-net").unstarted(this::run);
    private final CountDownLatch closing = new CountDownLatch(1);

    private volatile Optional<WantedInterfaces> wanted = Optional.empty();
    private volatile KeeperStatus status;

    // What follows belongs to the thread.
    private Optional<HostNetwork> network = Optional.empty();
    /** What was wanted at the last look. */
    private Optional<WantedInterfaces> looked = Optional.empty();

    private long due;
    /** Until then notifications have to wait. */
    private long restsUntil = System.nanoTime();

    private long repairs;
    private final Map<Integer, Repairs> repairsOf = new HashMap<>();
    private Set<Note> toldNotes = Set.of();
    private Set<String> toldFailures = Set.of();
    private Set<NetChange> toldPlanned = Set.of();

    InterfaceKeeper(RouteSettings settings, HostNetwork.Opener opener, Timing timing, Clock clock)
            throws NativeException {
        this.settings = requireNonNull(settings, "settings is null");
        this.opener = requireNonNull(opener, "opener is null");
        this.timing = requireNonNull(timing, "timing is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.poller = Poller.open();
        this.status = new KeeperStatus(Plan.NONE, List.of(), Optional.empty(), 0, settings.manage(), Optional.empty());
    }

    /** Idle until it hears what is {@link #want wanted}. A node whose netlink fails is tried again, and told in the status. */
    public static InterfaceKeeper start(RouteSettings settings) throws NativeException {
        return start(settings, KernelNetwork::open, Timing.STANDARD);
    }

    static InterfaceKeeper start(RouteSettings settings, HostNetwork.Opener opener, Timing timing)
            throws NativeException {
        var keeper = new InterfaceKeeper(settings, opener, timing, Clock.systemUTC());
        keeper.thread.start();
        return keeper;
    }

    /** From any thread; what was wanted before no longer is. */
    public void want(WantedInterfaces interfaces) {
        wanted = Optional.of(interfaces);
        poller.wakeUp();
    }

    public KeeperStatus status() {
        return status;
    }

    /** Within a second, and leaves everything as it is: pods go on using the interfaces. */
    @Override
    public void close() {
        closing.countDown();
        poller.close();
        try {
            if (!thread.join(CLOSE_WITHIN)) {
                LOG.warn("netlink does not answer; its thread is left behind");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- the thread

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private void run() {
        try {
            while (!isClosing()) {
                turn();
            }
        } finally {
            closeNetwork();
        }
    }

    private void turn() {
        try {
            Optional<WantedInterfaces> now = wanted;
            if (now.isPresent() && (!now.equals(looked) || due - System.nanoTime() <= 0)) {
                look(now.get());
            }
            await();
        } catch (NativeException e) {
            pauseAfter("the node's interfaces can't be read: " + e.getMessage(), LOG::warn);
        } catch (RuntimeException e) {
            // The poller says so when it is closed during a wait.
            if (!isClosing()) {
                pauseAfter(
                        "a fault of the agent, the node's interfaces are looked at anew: " + e,
                        problem -> LOG.error(problem, e));
            }
        }
    }

    private void await() throws NativeException {
        Duration wait = looked.isEmpty() ? timing.recheck() : Duration.ofNanos(due - System.nanoTime());
        Poller.Ready ready = poller.await(
                network.map(HostNetwork::descriptors).orElse(Set.of()), wait.isNegative() ? Duration.ZERO : wait);
        if (network.isPresent()
                && !(ready.readable().isEmpty() && ready.broken().isEmpty())) {
            if (network.get().anythingChanged()) {
                lookWithin(timing.debounce());
            } else if (!ready.broken().isEmpty()) {
                closeNetwork();
                lookWithin(timing.retry());
            }
        }
    }

    private void lookWithin(Duration time) {
        long at = System.nanoTime() + time.toNanos();
        at = at - restsUntil < 0 ? restsUntil : at;
        due = at - due < 0 ? at : due;
    }

    /** The network is opened anew then. */
    private void pauseAfter(String problem, Consumer<String> log) {
        closeNetwork();
        tellFailures(Set.of(problem), log);
        KeeperStatus last = status;
        status = new KeeperStatus(
                last.plan(), last.notes(), Optional.of(problem), repairs, settings.manage(), last.at());
        due = System.nanoTime();
        try {
            closing.await(Math.max(timing.retry().toNanos(), restsUntil - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Nobody but a program that ends interrupts this thread.
            closing.countDown();
        }
    }

    private void closeNetwork() {
        network.ifPresent(HostNetwork::close);
        network = Optional.empty();
    }

    private void look(WantedInterfaces interfaces) throws NativeException {
        long start = System.nanoTime();
        try {
            lookNow(interfaces);
        } finally {
            long end = System.nanoTime();
            restsUntil = end + Math.min(REST * (end - start), LONGEST_REST.toNanos());
        }
    }

    private void lookNow(WantedInterfaces interfaces) throws NativeException {
        if (network.isEmpty()) {
            network = Optional.of(opener.open());
        }
        due = System.nanoTime() + timing.recheck().toNanos();
        NetState found = network.get().read(interfaces);
        Plan plan = InterfacePlan.between(found, interfaces, settings.routeMetric());
        looked = Optional.of(interfaces);
        List<Note> notes = new ArrayList<>(plan.notes());
        List<Failure> failures = List.of();
        if (settings.manage()) {
            failures = carryOut(network.get(), plan, found);
            notes.addAll(notesOfRepairs(found, interfaces));
        } else {
            tellPlanned(plan);
        }
        tellNotes(notes);
        tellFailures(failures.stream().map(Failure::message).collect(Collectors.toSet()), LOG::warn);
        status = new KeeperStatus(
                plan,
                notes,
                failures.stream().map(Failure::message).findFirst(),
                repairs,
                settings.manage(),
                Optional.of(clock.instant()));
    }

    private List<Failure> carryOut(HostNetwork network, Plan plan, NetState found) {
        long now = System.nanoTime();
        Map<Integer, List<NetChange>> ofLink = plan.changes().stream().collect(Collectors.groupingBy(NetChange::link));
        Set<Integer> held = new HashSet<>();
        repairsOf.keySet().removeIf(link -> found.link(link).isEmpty());
        for (Link link : found.links()) {
            List<NetChange> changes = ofLink.getOrDefault(link.index(), List.of());
            Duration wait = repairsOf
                    .computeIfAbsent(link.index(), _ -> new Repairs(timing.repairs()))
                    .waitBefore(changes, now);
            if (!wait.isZero()) {
                held.add(link.index());
                lookWithin(wait);
            }
        }
        Outcome outcome = new InterfaceConfigurer(network)
                .apply(plan.changes().stream()
                        .filter(change -> !held.contains(change.link()))
                        .toList());
        outcome.made().stream().collect(Collectors.groupingBy(NetChange::link)).forEach((link, made) -> {
            boolean repair = repairsOf.get(link).made(made, now);
            repairs += repair ? 1 : 0;
            made.forEach(change -> tellMade(change, repair));
        });
        if (!outcome.failures().isEmpty()) {
            lookWithin(timing.retry());
        }
        return outcome.failures();
    }

    /** Once may be chance. */
    private List<Note> notesOfRepairs(NetState found, WantedInterfaces interfaces) {
        Set<IpPrefix> addresses = interfaces.secondary().stream()
                .flatMap(one -> one.address().stream())
                .collect(Collectors.toSet());
        return found.links().stream()
                .filter(link -> repairsOf.get(link.index()).inARow() > 1)
                .map(link -> {
                    Repairs repairs = repairsOf.get(link.index());
                    return new Note(
                            link.name(),
                            Severity.WARNING,
                            "somebody keeps undoing what the agent sets up; "
                                    + found.traceOfOthers(link, addresses)
                                    + (repairs.gaveUp()
                                            ? ". The agent only tries each "
                                                    + repairs.pause().toSeconds() + " s now. "
                                            : ". ")
                                    + InterfacePlan.WHITELIST);
                })
                .toList();
    }

    // ---- telling, each thing once

    private static void tellMade(NetChange change, boolean repair) {
        Field dev = Field.of("interface", change.dev());
        if (repair && change instanceof NetChange.AddAddress) {
            LOG.warn(change.describe() + " again: somebody had removed it. " + InterfacePlan.WHITELIST, dev);
        } else {
            LOG.info(change.describe() + (repair ? " again" : ""), dev);
        }
    }

    private void tellPlanned(Plan plan) {
        Set<NetChange> planned = new LinkedHashSet<>(plan.changes());
        for (NetChange change : planned) {
            if (!toldPlanned.contains(change)) {
                LOG.info("would " + change.describe(), Field.of("interface", change.dev()));
            }
        }
        toldPlanned = planned;
    }

    private void tellNotes(List<Note> notes) {
        for (Note note : notes) {
            if (!toldNotes.contains(note)) {
                switch (note.severity()) {
                    case INFO -> LOG.info(note.text(), Field.of("interface", note.subject()));
                    case WARNING -> LOG.warn(note.text(), Field.of("interface", note.subject()));
                }
            }
        }
        toldNotes = Set.copyOf(notes);
    }

    private void tellFailures(Set<String> failures, Consumer<String> log) {
        failures.stream().filter(failure -> !toldFailures.contains(failure)).forEach(log);
        toldFailures = failures;
    }
}
