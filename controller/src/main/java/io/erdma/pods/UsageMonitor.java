package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.inventory.NodePaths;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.pods.FallbackCauses.NodeState;
import io.erdma.pods.FallbackCauses.Offered;
import io.erdma.pods.FallbackRules.Evidence;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.FallbackVerdict.Uses;
import io.erdma.pods.PodShares.Holder;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.sysfs.SysfsTree;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Looks from time to time who uses the devices, publishes it, and tells the log of each container that asked for eRDMA
 * and does not use it. Its thread is {@code erdma-usage}, which alone touches what is not volatile or final.
 */
public final class UsageMonitor implements AutoCloseable {
    private static final Log LOG = Log.of(UsageMonitor.class);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

    /**
     * @param period between two looks; each reads a file of every process of the machine
     * @param patience how long a container may run before it is expected to use what it asked for
     * @param allDevices each container that has a share may use every device
     */
    public record Settings(Duration period, Duration patience, boolean allDevices) {
        public static final Settings STANDARD = new Settings(Duration.ofSeconds(30), Duration.ofMinutes(10), false);

        public Settings {
            if (period.isNegative() || period.isZero() || patience.isNegative()) {
                throw new IllegalArgumentException("period " + period + ", patience " + patience);
            }
        }
    }

    /** A container's run: a restart is another one. */
    private record Run(Set<ContainerId> ids, Instant since, Optional<Instant> lastUse) {}

    private final UsageReader reader;
    private final Supplier<AdvertisedDevices> offered;
    private final Settings settings;
    private final Clock clock;
    private final Consumer<UsageSnapshot> listener;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().name("erdma-usage").unstarted(this::run);

    private final Map<ContainerName, Run> runs = new HashMap<>();
    private Set<ContainerName> told = Set.of();
    private List<String> problems = List.of();

    private volatile Optional<UsageSnapshot> latest = Optional.empty();

    /**
     * @param offered what the node offers now
     * @param listener gets each snapshot, from the monitor's thread
     */
    public UsageMonitor(
            UsageReader reader,
            Supplier<AdvertisedDevices> offered,
            Settings settings,
            Clock clock,
            Consumer<UsageSnapshot> listener) {
        this.reader = requireNonNull(reader, "reader is null");
        this.offered = requireNonNull(offered, "offered is null");
        this.settings = requireNonNull(settings, "settings is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.listener = requireNonNull(listener, "listener is null");
    }

    /** The watch of this machine, not started yet. */
    public static UsageMonitor of(
            Settings settings,
            NodePaths paths,
            PodShares shares,
            Supplier<AdvertisedDevices> offered,
            Consumer<UsageSnapshot> listener) {
        var reader = new UsageReader(
                NetlinkObjects::list,
                new ProcTree(Path.of("/proc")),
                new SysfsTree(paths.sys()),
                new PodLogs(Path.of("/var/log")),
                shares::list);
        return new UsageMonitor(reader, offered, settings, Clock.systemUTC(), listener);
    }

    /** Without the host's pid namespace there is nothing to see, so nothing is started. */
    public void start() {
        Optional<String> obstacle = obstacle();
        if (obstacle.isEmpty()) {
            thread.start();
        } else {
            LOG.info("use of devices by pods is not watched: " + obstacle.get());
        }
    }

    /** Why nothing is watched, and what to do; absent where it is. */
    public Optional<String> obstacle() {
        return reader.processes().seesAllProcesses()
                ? Optional.empty()
                : Optional.of("the agent is not in the host's pid namespace; set hostPID: true in the agent's pod");
    }

    /** Empty until the first look, and where nothing is watched. */
    public Optional<UsageSnapshot> latest() {
        return latest;
    }

    private void run() {
        boolean stopped = false;
        while (!stopped) {
            try {
                look();
            } catch (RuntimeException e) {
                LOG.error("looking who uses the devices failed; trying again in " + settings.period(), e);
            }
            try {
                stopped = stop.await(settings.period().toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** One look. */
    void look() {
        AdvertisedDevices devices = offered.get();
        UsageFacts facts = reader.read(name -> devices.find(name).isPresent(), true);
        Instant now = clock.instant();
        List<Holder> holders = UsageRules.holders(facts.shares());
        List<Finding> findings = new ArrayList<>();
        for (Holder holder : holders) {
            findings.add(judge(facts, holder, devices, now));
        }
        runs.keySet().retainAll(holders.stream().map(UsageRules::name).collect(Collectors.toSet()));
        tell(findings, facts.problems());
        UsageSnapshot snapshot = new UsageSnapshot(
                now,
                UsageRules.devices(facts),
                UsageRules.processes(facts),
                UsageRules.shares(facts.shares()),
                findings,
                facts.problems());
        latest = Optional.of(snapshot);
        listener.accept(snapshot);
    }

    private Finding judge(UsageFacts facts, Holder holder, AdvertisedDevices devices, Instant now) {
        ContainerName name = UsageRules.name(holder);
        List<Long> pids = UsageRules.pidsOf(facts, name);
        Optional<Run> before = continued(name, facts, pids);
        Optional<Run> run = before.or(() ->
                pids.isEmpty() ? Optional.empty() : Optional.of(new Run(ids(facts, pids), now, Optional.empty())));
        Evidence evidence = UsageRules.evidence(facts, holder, run.map(Run::since), run.flatMap(Run::lastUse));
        FallbackVerdict verdict = FallbackRules.judge(evidence, settings.patience(), now);
        run.ifPresentOrElse(
                known -> runs.put(
                        name, verdict instanceof Uses ? new Run(known.ids(), known.since(), Optional.of(now)) : known),
                () -> runs.remove(name));
        return new Finding(
                name,
                verdict,
                verdict instanceof AsksOnly
                        ? FallbackCauses.of(
                                nodeState(holder, devices), reader.processes().limits(pids.getFirst()))
                        : List.of(),
                ids(facts, pids).stream().map(ContainerId::podUid).findFirst());
    }

    private Optional<Run> continued(ContainerName name, UsageFacts facts, List<Long> pids) {
        return Optional.ofNullable(runs.get(name)).filter(run -> run.ids().equals(ids(facts, pids)));
    }

    private static Set<ContainerId> ids(UsageFacts facts, List<Long> pids) {
        return pids.stream()
                .map(pid -> facts.processes().get(pid).container())
                .flatMap(Optional::stream)
                .collect(Collectors.toSet());
    }

    private NodeState nodeState(Holder holder, AdvertisedDevices devices) {
        List<Offered> offers = devices.devices().stream()
                .map(entry -> new Offered(
                        entry.device().name(),
                        entry.device().rdmaCm() == RdmaCmUse.REQUIRED,
                        Optional.of(entry.health().isHealthy())))
                .toList();
        List<String> granted =
                settings.allDevices() ? offers.stream().map(Offered::device).toList() : UsageRules.devicesOf(holder);
        return NodeState.of(offers, granted, granted);
    }

    /** News only: who falls back now and did not before, who has come to use it, and what can't be seen any more. */
    private void tell(List<Finding> findings, List<String> found) {
        Set<ContainerName> asking = new HashSet<>();
        for (Finding finding : findings) {
            if (finding.verdict() instanceof AsksOnly(var running)) {
                asking.add(finding.container());
                if (!told.contains(finding.container())) {
                    LOG.warn(
                            describe(running, finding.causes()),
                            Field.of("pod", finding.container().podName()),
                            Field.of("container", finding.container().container()));
                }
            } else if (finding.verdict() instanceof Uses && told.contains(finding.container())) {
                LOG.info(
                        "uses eRDMA now",
                        Field.of("pod", finding.container().podName()),
                        Field.of("container", finding.container().container()));
            }
        }
        told = Set.copyOf(asking);
        if (!problems.equals(found)) {
            problems = found;
            found.forEach(problem -> LOG.warn("use of devices is known in part: " + problem));
        }
    }

    /** For people, also in an Event: what is so, and why, as far as this node tells. */
    public static String describe(Duration running, List<FallbackCause> causes) {
        String why = causes.isEmpty()
                ? "; nothing on this node keeps it from it: does it ask for RDMA at all (NCCL_DEBUG=INFO tells)?"
                : causes.stream()
                        .map(cause -> cause.found() + ": " + cause.remedy())
                        .collect(Collectors.joining("; ", "; ", ""));
        return "asked for eRDMA and has not used it for " + running.toSeconds() + " s, so its traffic goes over TCP"
                + why;
    }

    /** Waits for a look under way, but not for ever: the kubelet may hang. */
    @Override
    public void close() {
        stop.countDown();
        if (thread.getState() == Thread.State.NEW) {
            return;
        }
        try {
            thread.join(LONGEST_CLOSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
