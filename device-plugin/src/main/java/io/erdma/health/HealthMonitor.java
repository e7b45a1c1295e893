package io.erdma.health;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.health.HealthRules.LinkView;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodePaths;
import io.erdma.inventory.NodeSources;
import io.erdma.inventory.NodeSources.OpenDevice;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.NativeException;
import io.erdma.libc.Poller;
import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.VerbsEvent;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Keeps the health of the node's devices current, both ways, and tells it on. One thread owns all state and never calls
 * what may hang in a driver; see DESIGN.md of this package.
 */
public final class HealthMonitor implements AutoCloseable {
    private static final Log LOG = Log.of(HealthMonitor.class);

    /** What a replaced scan and an offer take beside the waiting. */
    private static final Duration MARGIN = Duration.ofMillis(500);

    /** The heartbeat goes on when there is nothing to do; the liveness probe misses it after 60 s. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(700);
    private static final Duration AFTER_FAULT = Duration.ofMillis(200);
    private static final int EVENTS_AT_ONCE = 1_000;

    // Names of jobs and of their threads; the device's own follows the first two.
    private static final String PROBE = "erdma-probe-";
    private static final String CLOSE = "erdma-probe-close-";
    private static final String SCAN = "erdma-scan";

    private final DeviceInventory inventory;
    private final NodePaths paths;
    private final HealthSettings settings;
    private final Clock clock;
    private final AdvertisementListener listener;
    private final DeviceProbe probe;
    private final NodeWatches watches;
    private final Jobs jobs = new Jobs(this::wakeUp);
    private final Thread thread =
            Thread.ofPlatform().daemon().name("erdma-health").unstarted(this::run);

    private volatile MonitorStatus status = MonitorStatus.NOT_YET;
    private volatile long turnedAt = System.nanoTime();
    private volatile boolean stopping;
    private volatile DeviceChoice choice = DeviceChoice.ALL;
    private final Suspension suspension = new Suspension();

    /** Made by start, used by whoever wakes the thread. */
    private volatile Optional<Poller> poller = Optional.empty();

    // From here on: the health thread's own.
    private final WatchedDevices devices = new WatchedDevices();
    private final LinkTable links = new LinkTable();
    private final ScanSchedule scans;
    private final FlapDamper damper;
    private final HealthLog log = new HealthLog();

    private Suspension.Wish fulfilled = Suspension.Wish.WATCH;
    private Set<Path> nodes = Set.of();
    private boolean scanned;
    /** The first offer waits for all devices, since the kubelet shall not hear of a part of them first. */
    private boolean firstTold;

    private Optional<Instant> lastScan = Optional.empty();
    private List<SourceStatus> sourceStatuses = List.of();
    private NetnsMode netnsMode = NetnsMode.SHARED;
    private boolean rdmaCmPresent;
    private long nextNodePoll;
    private Optional<String> fault = Optional.empty();

    public HealthMonitor(
            DeviceInventory inventory,
            NodeSources sources,
            NodePaths paths,
            HealthSettings settings,
            Clock clock,
            AdvertisementListener listener,
            InotifyShortage inotifyShortage) {
        this.inventory = inventory;
        this.paths = paths;
        this.settings = settings;
        this.clock = clock;
        this.listener = listener;
        this.probe = new DeviceProbe(sources);
        this.watches =
                new NodeWatches(sources, paths, inotifyShortage, settings.pace().nodePoll(), new Reactions());
        this.scans =
                new ScanSchedule(settings.pace(), () -> inventory.beingAsked().size());
        this.damper = new FlapDamper(settings.pace());
    }

    /** Starts the thread; once. */
    public void start() throws NativeException {
        Poller opened = Poller.open();
        // For what was asked for until now.
        opened.wakeUp();
        poller = Optional.of(opened);
        turnedAt = System.nanoTime();
        thread.start();
    }

    /** From any thread. */
    public MonitorStatus status() {
        return status;
    }

    /** How long ago the monitor's thread last went round; 20 s at most when all is well. */
    public Duration age() {
        return Duration.ofNanos(System.nanoTime() - turnedAt);
    }

    /**
     * How long the first offer takes at most, also when a driver doesn't answer: the scan that meets it is replaced, and
     * the device is held back for its first answer. A node whose sysfs or libibverbs hangs makes none.
     */
    public Duration firstOfferWithin() {
        return settings.pace().scanPatience().plus(settings.firstAnswer()).plus(MARGIN);
    }

    /**
     * Replaces the choice of the devices that are offered, at once; those that are withheld are watched on. From any
     * thread.
     */
    public void choose(DeviceChoice newer) {
        choice = requireNonNull(newer, "choice is null");
        jobs.wakeUp();
    }

    /**
     * Lets go of all devices, as before their driver is unloaded: every share is told as unhealthy, then each verbs context
     * is closed, and no device is opened or asked until {@link #resume}. Devices that vanish meanwhile keep their place in
     * the offer. Before the first offer there is nothing to tell: whoever suspends sooner keeps all devices from it. Returns before it is done, see {@link #awaitSuspended}.
     * From any thread; asked for again, only the reason is replaced.
     *
     * @param reason what the devices are told to be unhealthy for, one line for people
     */
    public void suspend(String reason) {
        if (suspension.suspend(requireNonNull(reason, "reason is null"))) {
            jobs.wakeUp();
        }
    }

    /**
     * Waits until the devices are let go of.
     *
     * @return true once the listener has been told of it and no verbs context is open or being opened; false when a driver
     *     holds one for longer than that, or when the monitor is not suspended
     */
    public boolean awaitSuspended(Duration atMost) {
        return suspension.await(atMost);
    }

    /** Looks at the node and asks all devices anew, at once. From any thread; does nothing when not suspended. */
    public void resume() {
        if (suspension.resume()) {
            jobs.wakeUp();
        }
    }

    /** Ends within a second, also while a driver doesn't answer. */
    @Override
    public void close() {
        stopping = true;
        if (thread.getState() == Thread.State.NEW) {
            return;
        }
        jobs.wakeUp();
        boolean interrupted = false;
        try {
            thread.join(Duration.ofSeconds(1));
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void wakeUp() {
        poller.ifPresent(Poller::wakeUp);
    }

    private void run() {
        Poller waiting = poller.orElseThrow();
        try {
            long now = System.nanoTime();
            scans.startAt(now);
            nextNodePoll = now;
            watches.open();
            fulfil(suspension.wish(), now);
            while (!stopping) {
                turn(waiting);
            }
        } finally {
            suspension.end();
            closeAll();
            waiting.close();
        }
    }

    /** One round: wait, read what happened, decide, tell. A fault of ours is logged, and the next round tries again. */
    private void turn(Poller waiting) {
        try {
            long now = System.nanoTime();
            startJobs(now);
            Poller.Ready ready = waiting.await(descriptors(), timeout(now));
            long observed = System.nanoTime();
            handle(ready, observed);
            readMail(observed);
            if (!watches.ofNodes() && observed - nextNodePoll >= 0) {
                nextNodePoll = observed + settings.pace().nodePoll().toNanos();
                lookAtNodes(observed);
            }
            Suspension.Wish wish = suspension.wish();
            fulfil(wish, observed);
            tell(observed);
            if (suspended() && devices.allHaveLeft()) {
                suspension.reached(wish);
            }
            turnedAt = System.nanoTime();
            fault = Optional.empty();
        } catch (NativeException | RuntimeException e) {
            // The heartbeat stands still meanwhile, so a lasting fault ends in a restart by the liveness probe.
            if (!fault.equals(Optional.of(e.toString()))) {
                fault = Optional.of(e.toString());
                LOG.error("the health monitor met a fault; it goes on", e);
            }
            LockSupport.parkNanos(AFTER_FAULT.toNanos());
        }
    }

    // ---- what is waited for

    private Set<Integer> descriptors() {
        Set<Integer> descriptors = watches.descriptors();
        for (Watched device : devices.present()) {
            device.events().ifPresent(context -> descriptors.add(context.asyncDescriptor()));
        }
        return descriptors;
    }

    private Duration timeout(long now) {
        long wait = Math.min(LONGEST_WAIT.toNanos(), scans.nanosUntilDue(now));
        if (!watches.ofNodes()) {
            wait = Math.min(wait, nextNodePoll - now);
        }
        wait = Math.min(wait, devices.nanosUntilDue(now));
        for (Watched device : devices.present()) {
            long judgement = device.nextJudgement() - now;
            if (judgement > 0) {
                wait = Math.min(wait, judgement);
            }
        }
        if (damper.due().isPresent()) {
            wait = Math.min(wait, damper.due().getAsLong() - now);
        }
        // Rounded up, since poll counts milliseconds and must not spin for the rest of one.
        return Duration.ofMillis(Math.max(0, (wait + 999_999) / 1_000_000));
    }

    private void handle(Poller.Ready ready, long now) {
        watches.readLinks(ready, now);
        for (Watched device : devices.present()) {
            device.events().ifPresent(context -> {
                int descriptor = context.asyncDescriptor();
                if (ready.readable().contains(descriptor)) {
                    readEvents(device, context, now);
                }
                if (ready.broken().contains(descriptor) && !device.closing()) {
                    deviceGone(device, "its driver has let go of it", now);
                }
            });
        }
        watches.readNodes(ready, now);
        watches.readRdma(ready, now);
    }

    // ---- what happened

    private final class Reactions implements NodeWatches.Reactions {
        @Override
        public void linkChanged(Link link, long now) {
            List<Watched> bound = devices.boundTo(link.index());
            bound.forEach(device -> device.linkChanged(links.view(device.device()), new LinkView.Seen(link), now));
            Optional<Link> former = links.changed(link, now);
            boolean renamed = former.isPresent() && !former.get().name().equals(link.name());
            boolean missing = devices.present().stream()
                    .anyMatch(device -> device.device().netdev().isEmpty());
            if (bound.isEmpty() ? former.isEmpty() && missing : renamed) {
                scans.soon(now);
            }
        }

        @Override
        public void linkRemoved(int index, String name, long now) {
            links.removed(index, now);
            for (Watched device : devices.boundTo(index)) {
                device.suspect("netdev " + name + " is gone", now, false);
                device.askSoon(now);
                scans.soon(now);
            }
        }

        @Override
        public void nodesChanged(long now) {
            scans.soon(now);
            lookAtNodes(now);
        }

        @Override
        public void anythingChanged(long now) {
            scans.soon(now);
        }
    }

    private void readEvents(Watched device, OpenDevice context, long now) {
        try {
            for (int i = 0; i < EVENTS_AT_ONCE; i++) {
                Optional<VerbsEvent> event = context.nextEvent();
                if (event.isEmpty()) {
                    return;
                }
                switch (event.get()) {
                    case VerbsEvent.PortError(int port) -> {
                        if (port == 1) {
                            device.suspect("port 1 is DOWN", now, false);
                            device.askSoon(now);
                        }
                    }
                    case VerbsEvent.PortActive(int port) -> {
                        if (port == 1) {
                            device.askEagerly(now);
                        }
                    }
                    case VerbsEvent.DeviceFatal _ -> {
                        deviceGone(device, "reported a fatal error", now);
                        return;
                    }
                    case VerbsEvent.GidChange _, VerbsEvent.Other _ -> {
                        // Says nothing about whether the port carries traffic.
                    }
                }
            }
        } catch (NativeException e) {
            deviceGone(device, e.getMessage(), now);
        }
    }

    private void deviceGone(Watched device, String reason, long now) {
        device.suspect(reason, now, true);
        scans.soon(now);
    }

    /** A look at devtmpfs asks no driver, so it may be done here. */
    private void lookAtNodes(long now) {
        rdmaCmPresent = Files.exists(paths.here(NodePaths.onHost("rdma_cm")));
        for (Watched device : devices.present()) {
            boolean present = device.device()
                    .uverbs()
                    .map(paths::here)
                    .filter(Files::exists)
                    .isPresent();
            if (device.uverbsPresent(present)) {
                scans.soon(now);
                device.askSoon(now);
            }
        }
        Set<Path> listed = listNodes();
        if (!listed.equals(nodes)) {
            nodes = listed;
            scans.soon(now);
        }
    }

    private Set<Path> listNodes() {
        Set<Path> listed = new HashSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(paths.infiniband())) {
            entries.forEach(listed::add);
        } catch (IOException | DirectoryIteratorException e) {
            // No directory, no node.
            return Set.of();
        }
        return listed;
    }

    private void readMail(long now) {
        for (Optional<Jobs.Message> message = jobs.next(); message.isPresent(); message = jobs.next()) {
            switch (message.get()) {
                case Jobs.Message.Asked(Watched device, DeviceProbe.Outcome outcome, long startedAt) -> {
                    log.jobSucceeded(PROBE + device.name());
                    device.answered(outcome, startedAt, now);
                    if (devices.isPresent(device)) {
                        log.verbs(device.name(), device.withoutVerbs());
                    }
                }
                case Jobs.Message.Closed(Watched device) -> {
                    log.jobSucceeded(CLOSE + device.name());
                    devices.closed(device);
                }
                case Jobs.Message.Scanned(InventorySnapshot snapshot, long startedAt) -> {
                    log.jobSucceeded(SCAN);
                    if (scans.ended(startedAt, now)) {
                        scanned(snapshot, startedAt, now);
                    }
                }
                case Jobs.Message.Faulty(String job, Optional<Watched> device, Throwable cause) -> {
                    log.jobDied(job, cause);
                    device.ifPresentOrElse(one -> one.jobDied(now), scans::died);
                }
            }
        }
    }

    // ---- suspension

    private boolean suspended() {
        return fulfilled.reason().isPresent();
    }

    private void fulfil(Suspension.Wish wish, long now) {
        if (wish.equals(fulfilled)) {
            return;
        }
        // Also when it is over by now: whoever asked for it may have touched the driver meanwhile.
        boolean letGo = wish.suspensions() != fulfilled.suspensions() && !suspended();
        fulfilled = wish;
        if (letGo) {
            devices.leaveAll(now);
        }
        if (wish.reason().isPresent()) {
            // What a scan under way has read is out of date, or will be.
            scans.pause();
            LOG.info("suspended: " + wish.reason().get() + "; no device is opened or asked until that is over");
            damper.startOver();
            damper.force();
        } else {
            LOG.info("no longer suspended; looking at all devices anew");
            devices.startOver(now);
            damper.startOver();
            scans.startOver(now);
        }
    }

    // ---- scans

    private void scanned(InventorySnapshot snapshot, long startedAt, long now) {
        lastScan = Optional.of(clock.instant());
        sourceStatuses = snapshot.sources();
        log.sources(snapshot);
        if (snapshot.usable(Source.RDMA_NETLINK)) {
            netnsMode = snapshot.netnsMode();
        }
        snapshot.links().ifPresent(dump -> linksDumped(dump, startedAt, now));

        boolean withNetlink = snapshot.usable(Source.RDMA_NETLINK);
        Set<String> seen = new HashSet<>();
        for (Found found : snapshot.devices()) {
            String name = found.device().name();
            Optional<Watched> known = devices.find(name);
            // Without RDMA netlink the driver may be unknown for a while.
            boolean kept = known.isPresent() && !withNetlink;
            if (!found.selected() && !kept) {
                log.notSelected(found);
                continue;
            }
            seen.add(name);
            if (known.isEmpty()) {
                devices.add(new Watched(found, withNetlink, settings, now));
            } else if (known.get().update(found, withNetlink)) {
                known.get().suspect("was made anew; it has not answered since", now, true);
            }
        }
        log.scanned(snapshot);
        // Only these two list every device, so only they can tell that one has gone.
        if (withNetlink || snapshot.usable(Source.SYSFS)) {
            for (Watched device : devices.present()) {
                if (!seen.contains(device.name())) {
                    devices.leave(device);
                    log.jobIsOver(PROBE + device.name());
                    log.gone(device.name());
                }
            }
        }
        scanned = true;
        lookAtNodes(now);
        watches.open();
    }

    private void linksDumped(List<Link> dump, long startedAt, long now) {
        Map<Watched, LinkView> former = devices.present().stream()
                .collect(Collectors.toMap(device -> device, device -> links.view(device.device())));
        links.merge(dump, startedAt);
        former.forEach((device, view) -> device.linkChanged(view, links.view(device.device()), now));
    }

    // ---- jobs on other threads

    private void startJobs(long now) {
        if (scans.due(now)) {
            startScan(now);
        }
        devices.due(now).forEach(device -> startAsking(device, now));
    }

    private void startScan(long now) {
        boolean watching = watches.ofLinks() && watches.ofNodes() && netnsMode == NetnsMode.SHARED;
        boolean rarely = watching || settings.probe().compareTo(settings.scan()) > 0;
        if (!scans.begin(now, rarely ? settings.scan() : settings.probe())) {
            return;
        }
        jobs.start(SCAN, Optional.empty(), () -> new Jobs.Message.Scanned(inventory.scan(), now));
    }

    private void startAsking(Watched device, long now) {
        Optional<OpenDevice> context = device.context();
        device.begin(now);
        if (device.closing()) {
            jobs.start(CLOSE + device.name(), Optional.of(device), () -> {
                context.ifPresent(OpenDevice::close);
                return new Jobs.Message.Closed(device);
            });
            return;
        }
        Optional<DeviceProbe.NotOpened> notOpened = device.notOpened(now);
        jobs.start(PROBE + device.name(), Optional.of(device), () -> {
            DeviceProbe.Outcome outcome = probe.ask(device.name(), context, notOpened);
            return new Jobs.Message.Asked(device, outcome, now);
        });
    }

    // ---- what is told

    private void tell(long observed) {
        Watched.Node node = new Watched.Node(rdmaCmPresent, netnsMode, fulfilled.reason(), clock.instant());
        for (Watched device : devices.present()) {
            device.judge(links.view(device.device()), node, observed);
        }
        List<MonitorStatus.Withheld> withheld = withheld();
        log.withheld(withheld);
        Set<String> notOffered =
                withheld.stream().map(MonitorStatus.Withheld::device).collect(Collectors.toSet());
        Optional<Path> rdmaCm = rdmaCmPresent ? Optional.of(NodePaths.onHost("rdma_cm")) : Optional.empty();
        status = new MonitorStatus(
                devices.present().stream().map(Watched::status).toList(),
                sourceStatuses,
                lastScan,
                netnsMode,
                rdmaCm,
                watches.whyNodesArePolled(),
                withheld,
                fulfilled.reason());
        boolean ready = scanned
                && (firstTold
                        || devices.present().stream()
                                .allMatch(device -> device.offered() || notOffered.contains(device.name())));
        if (!ready) {
            return;
        }
        AdvertisedDevices actual = new AdvertisedDevices(
                devices.present().stream()
                        .filter(Watched::offered)
                        .map(device -> new AdvertisedDevices.Entry(
                                device.device(), device.health().orElseThrow()))
                        .toList(),
                rdmaCm);
        Optional<AdvertisedDevices> message = damper.offer(actual, notOffered, observed);
        firstTold = true;
        message.ifPresent(offer -> {
            log.offer(offer);
            try {
                listener.advertise(offer, observed);
            } catch (RuntimeException e) {
                damper.force();
                throw e;
            }
        });
    }

    private List<MonitorStatus.Withheld> withheld() {
        DeviceChoice current = choice;
        return devices.present().stream()
                .flatMap(
                        device -> current
                                .whyNot(device.device())
                                .map(reason -> new MonitorStatus.Withheld(device.name(), reason))
                                .stream())
                .toList();
    }

    // ---- the end

    private void closeAll() {
        List<Jobs.Message> unread = jobs.end();
        watches.close();
        // A close may hang in the driver; whoever is not done in time is left to the end of the process. A job under
        // way closes its context itself when it finds nobody to tell.
        List<Thread> closers = new ArrayList<>();
        unread.forEach(message -> closers.add(closer(() -> Jobs.release(message))));
        devices.idleContexts().forEach(context -> closers.add(closer(context::close)));
        long end = System.nanoTime() + CLOSE_PATIENCE.toNanos();
        for (Thread closer : closers) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(closer, Math.max(1, end - System.nanoTime()));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static Thread closer(Runnable close) {
        return Thread.ofPlatform().daemon().name("erdma-probe-close").start(() -> {
            try {
                close.run();
            } catch (RuntimeException e) {
                LOG.warn("cannot close a device's context; the end of the process does: " + e);
            }
        });
    }
}
