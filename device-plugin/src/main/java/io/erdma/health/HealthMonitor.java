package io.erdma.health;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.DeviceHealth;
import io.erdma.device.Netdev;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Keeps the health of the node's devices current, both ways, and tells it on. One thread owns all state and never calls
 * what may hang in a driver; see DESIGN.md of this package.
 */
public final class HealthMonitor implements AutoCloseable {
    private static final Log LOG = Log.of(HealthMonitor.class);

    /** Several events in a row, as when a driver is loaded, lead to one scan. */
    private static final Duration SCAN_PACE = Duration.ofMillis(200);
    /** The kernel's news may come before all of a device can be seen. */
    private static final Duration SECOND_LOOK = Duration.ofSeconds(1);
    /** A scan that takes longer has met a driver that doesn't answer. */
    private static final Duration SCAN_PATIENCE = Duration.ofSeconds(2);
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
    private final NodeSources sources;
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
    private final Map<String, Watched> devices = new TreeMap<>();
    /** Devices that have gone and whose context isn't closed yet. */
    private final List<Watched> leaving = new ArrayList<>();

    private final Map<Integer, Link> links = new HashMap<>();
    private final Map<Integer, Long> linkChangedAt = new HashMap<>();
    private final FlapDamper damper = new FlapDamper();
    private final Set<String> skipped = new HashSet<>();
    private final Map<String, Boolean> toldHealthy = new HashMap<>();
    private final Map<Source, String> problems = new HashMap<>();
    private final Map<String, String> withoutVerbs = new HashMap<>();
    /** Jobs whose last run died of a fault of ours, which is logged once until one succeeds. */
    private final Set<String> faultyJobs = new HashSet<>();

    private Suspension.Wish fulfilled = Suspension.Wish.WATCH;
    /** What the status says of withheld devices, and the log has said. */
    private List<MonitorStatus.Withheld> withheld = List.of();

    private Set<Path> nodes = Set.of();
    private boolean linksKnown;
    private boolean scanned;
    /** The first offer waits for all devices, since the kubelet shall not hear of a part of them first. */
    private boolean firstTold;

    private Optional<Instant> lastScan = Optional.empty();
    private List<SourceStatus> sourceStatuses = List.of();
    private NetnsMode netnsMode = NetnsMode.SHARED;
    private boolean rdmaCmPresent;
    private int scansRunning;
    private long scanStartedAt;
    private long acceptedScan = Long.MIN_VALUE;
    private long nextScan;
    private boolean secondLook;
    /** A scan came due while another was running: what that one has read already may be out of date. */
    private boolean scanWaits;

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
        this.sources = sources;
        this.paths = paths;
        this.settings = settings;
        this.clock = clock;
        this.listener = listener;
        this.probe = new DeviceProbe(sources);
        this.watches = new NodeWatches(sources, paths, inotifyShortage, new Reactions());
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
        return SCAN_PATIENCE.plus(settings.firstAnswer()).plus(MARGIN);
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
     * the offer; before the first offer there is nothing to tell. Returns before it is done, see {@link #awaitSuspended}.
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
            nextScan = now;
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
                nextNodePoll = observed + NodeWatches.NODE_POLL.toNanos();
                lookAtNodes(observed);
            }
            Suspension.Wish wish = suspension.wish();
            fulfil(wish, observed);
            tell(observed);
            if (suspended() && leaving.isEmpty()) {
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
        for (Watched device : devices.values()) {
            device.events().ifPresent(context -> descriptors.add(context.asyncDescriptor()));
        }
        return descriptors;
    }

    private Duration timeout(long now) {
        long wait = LONGEST_WAIT.toNanos();
        if (!suspended()) {
            wait = Math.min(wait, nextScan - now);
        }
        if (scanMayGetStuck()) {
            wait = Math.min(wait, scanStartedAt + SCAN_PATIENCE.toNanos() - now);
        }
        if (!watches.ofNodes()) {
            wait = Math.min(wait, nextNodePoll - now);
        }
        for (Watched device : devices.values()) {
            if (!device.busy() && !device.toBeFound() && !isLeaving(device.name())) {
                wait = Math.min(wait, device.nextAsk() - now);
            }
            long judgement = device.nextJudgement(settings) - now;
            if (judgement > 0) {
                wait = Math.min(wait, judgement);
            }
        }
        for (Watched device : leaving) {
            if (!device.busy()) {
                wait = Math.min(wait, device.nextAsk() - now);
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
        for (Watched device : List.copyOf(devices.values())) {
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
            HealthMonitor.this.linkChanged(link, now);
        }

        @Override
        public void linkRemoved(int index, String name, long now) {
            HealthMonitor.this.linkRemoved(index, name, now);
        }

        @Override
        public void nodesChanged(long now) {
            scanSoon(now);
            lookAtNodes(now);
        }

        @Override
        public void anythingChanged(long now) {
            scanSoon(now);
        }
    }

    private void linkChanged(Link link, long now) {
        boolean bound = false;
        for (Watched device : devices.values()) {
            if (device.boundTo(link)) {
                bound = true;
                LinkView former = linkView(device);
                judgeLink(device, former, new LinkView.Seen(link), now);
            }
        }
        Optional<Link> former = Optional.ofNullable(links.put(link.index(), link));
        linkChangedAt.put(link.index(), now);
        boolean renamed = former.isPresent() && !former.get().name().equals(link.name());
        if (bound && renamed) {
            scanSoon(now);
        }
        boolean missing = devices.values().stream()
                .anyMatch(device -> device.device().netdev().isEmpty());
        if (!bound && former.isEmpty() && missing) {
            scanSoon(now);
        }
    }

    private void linkRemoved(int index, String name, long now) {
        links.remove(index);
        linkChangedAt.put(index, now);
        for (Watched device : devices.values()) {
            if (device.device()
                    .netdev()
                    .filter(netdev -> netdev.index() == index)
                    .isPresent()) {
                device.suspect("netdev " + name + " is gone", now, false);
                device.askSoon(now);
                scanSoon(now);
            }
        }
    }

    /** A lost link is acted on as it is told; a link that is back is believed when the port says so too. */
    private static void judgeLink(Watched device, LinkView former, LinkView latter, long now) {
        Optional<String> trouble = HealthRules.whyByLink(latter);
        if (trouble.isPresent()) {
            device.suspect(trouble.get(), now, false);
            device.askSoon(now);
        } else if (HealthRules.whyByLink(former).isPresent()) {
            device.suspect("its netdev is back, its port has not answered since", now, false);
            device.askEagerly(now);
        }
    }

    private LinkView linkView(Watched device) {
        Optional<Netdev> netdev = device.device().netdev();
        if (netdev.isEmpty() || !linksKnown) {
            return new LinkView.NotJudged();
        }
        Optional<Link> link = Optional.ofNullable(links.get(netdev.get().index()));
        return link.<LinkView>map(LinkView.Seen::new)
                .orElseGet(() -> new LinkView.Gone(netdev.get().name()));
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
        scanSoon(now);
    }

    /** A look at devtmpfs asks no driver, so it may be done here. */
    private void lookAtNodes(long now) {
        rdmaCmPresent = Files.exists(paths.here(NodePaths.onHost("rdma_cm")));
        for (Watched device : devices.values()) {
            boolean present = device.device()
                    .uverbs()
                    .map(paths::here)
                    .filter(Files::exists)
                    .isPresent();
            if (device.uverbsPresent(present)) {
                scanSoon(now);
                device.askSoon(now);
            }
        }
        Set<Path> listed = listNodes();
        if (!listed.equals(nodes)) {
            nodes = listed;
            scanSoon(now);
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
                case Jobs.Message.Asked asked -> {
                    jobSucceeded(PROBE + asked.device().name());
                    asked.device().answered(asked.outcome(), asked.startedAt(), now, settings);
                    if (devices.containsValue(asked.device())) {
                        noteVerbs(asked.device());
                    }
                }
                case Jobs.Message.Closed closed -> {
                    jobSucceeded(CLOSE + closed.device().name());
                    closed.device().closed();
                    leaving.remove(closed.device());
                }
                case Jobs.Message.Scanned done -> {
                    jobSucceeded(SCAN);
                    scansRunning--;
                    if (scanWaits) {
                        nextScan = now;
                    }
                    if (done.startedAt() > acceptedScan) {
                        acceptedScan = done.startedAt();
                        scanned(done, now);
                    }
                }
                case Jobs.Message.Faulty faulty -> {
                    if (faultyJobs.add(faulty.job())) {
                        LOG.error(
                                "the check " + faulty.job() + " died of a fault of ours; it is tried again and again",
                                faulty.cause());
                    }
                    if (faulty.device().isPresent()) {
                        faulty.device().get().jobDied(now, settings.probe());
                    } else {
                        scansRunning--;
                    }
                }
            }
        }
    }

    private void jobSucceeded(String job) {
        if (faultyJobs.remove(job)) {
            LOG.info("the check " + job + " works again");
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
        // What a scan has read that is under way is out of date, or will be.
        acceptedScan = scanStartedAt;
        if (letGo) {
            devices.replaceAll((name, device) -> {
                device.closeContext();
                leaving.add(device);
                return device.anew(now);
            });
        }
        if (wish.reason().isPresent()) {
            LOG.info("suspended: " + wish.reason().get() + "; no device is opened or asked until that is over");
            damper.startOver();
            damper.force();
        } else {
            LOG.info("no longer suspended; looking at all devices anew");
            devices.replaceAll((name, device) -> device.anew(now));
            damper.startOver();
            nextScan = now;
        }
    }

    // ---- scans

    private void scanSoon(long now) {
        secondLook = true;
        long earliest = Math.max(now, scanStartedAt + SCAN_PACE.toNanos());
        if (nextScan - earliest > 0) {
            nextScan = earliest;
        }
    }

    private void scanned(Jobs.Message.Scanned done, long now) {
        InventorySnapshot snapshot = done.snapshot();
        lastScan = Optional.of(clock.instant());
        noteSources(snapshot.sources());
        if (snapshot.usable(Source.RDMA_NETLINK)) {
            netnsMode = snapshot.netnsMode();
        }
        done.links().ifPresent(dump -> mergeLinks(dump, done.startedAt(), now));

        boolean withNetlink = snapshot.usable(Source.RDMA_NETLINK);
        Set<String> seen = new HashSet<>();
        for (Found found : snapshot.devices()) {
            String name = found.device().name();
            // Without RDMA netlink the driver may be unknown for a while.
            boolean kept = devices.containsKey(name) && !withNetlink;
            if (!found.selected() && !kept) {
                if (skipped.add(name)) {
                    LOG.info(name + " is not offered: " + found.why(), Log.Field.of("device", name));
                }
                continue;
            }
            seen.add(name);
            Watched known = devices.get(name);
            if (known == null) {
                devices.put(name, new Watched(found, withNetlink, now));
            } else if (known.update(found, withNetlink)) {
                known.suspect("was made anew; it has not answered since", now, true);
            }
        }
        skipped.retainAll(
                snapshot.devices().stream().map(found -> found.device().name()).toList());
        // Only these two list every device, so only they can tell that one has gone.
        if (withNetlink || snapshot.usable(Source.SYSFS)) {
            for (Watched device : List.copyOf(devices.values())) {
                if (!seen.contains(device.name())) {
                    devices.remove(device.name());
                    withoutVerbs.remove(device.name());
                    device.closeContext();
                    leaving.add(device);
                    faultyJobs.remove(PROBE + device.name());
                    // One that is only no longer selected was told above as not offered.
                    if (!skipped.contains(device.name())) {
                        LOG.info(device.name() + " has gone", Log.Field.of("device", device.name()));
                    }
                }
            }
        }
        scanned = true;
        lookAtNodes(now);
        watches.open();
    }

    /** Said once for each reason; where no device can be opened, the source itself says so. */
    private void noteVerbs(Watched device) {
        String name = device.name();
        Optional<String> former = Optional.ofNullable(withoutVerbs.get(name));
        Optional<String> latter = problems.containsKey(Source.VERBS) ? Optional.empty() : device.withoutVerbs();
        if (latter.equals(former)) {
            return;
        }
        if (latter.isPresent()) {
            withoutVerbs.put(name, latter.get());
            LOG.warn(
                    name + " is watched without verbs events: " + latter.get()
                            + "; its state comes from RDMA netlink or sysfs, and from link events",
                    Log.Field.of("device", name));
        } else {
            withoutVerbs.remove(name);
            LOG.info(name + " is watched by verbs events", Log.Field.of("device", name));
        }
    }

    private void noteSources(List<SourceStatus> statuses) {
        for (SourceStatus status : statuses) {
            Optional<String> former = Optional.ofNullable(problems.get(status.source()));
            if (status.problem().isPresent()) {
                problems.put(status.source(), status.problem().get());
                if (former.isEmpty()) {
                    LOG.warn("source " + status.source() + " is not usable: "
                            + status.problem().get());
                }
            } else if (former.isPresent()) {
                problems.remove(status.source());
                LOG.info("source " + status.source() + " is usable again");
            }
        }
        sourceStatuses = statuses;
    }

    /** What was notified while the dump was made is newer than the dump. */
    private void mergeLinks(List<Link> dump, long startedAt, long now) {
        Map<Integer, Link> former = Map.copyOf(links);
        Map<Watched, LinkView> formerViews =
                devices.values().stream().collect(Collectors.toMap(device -> device, this::linkView));
        links.clear();
        for (Link link : dump) {
            links.put(link.index(), link);
        }
        linkChangedAt.values().removeIf(changedAt -> changedAt - startedAt < 0);
        for (int index : linkChangedAt.keySet()) {
            if (former.containsKey(index)) {
                links.put(index, former.get(index));
            } else {
                links.remove(index);
            }
        }
        linksKnown = true;
        formerViews.forEach((device, view) -> judgeLink(device, view, linkView(device), now));
    }

    // ---- jobs on other threads

    private void startJobs(long now) {
        if (!suspended() && (now - nextScan >= 0 || scanIsStuck(now))) {
            startScan(now);
        }
        for (Watched device : devices.values()) {
            if (device.dueToAsk(now) && !isLeaving(device.name())) {
                startAsking(device, now);
            }
        }
        for (Watched device : List.copyOf(leaving)) {
            device.closeContext();
            if (!device.busy() && !device.closing()) {
                leaving.remove(device);
            } else if (device.dueToAsk(now)) {
                startAsking(device, now);
            }
        }
    }

    /** A name that comes back waits for the context of its former bearer, so that it never has two threads. */
    private boolean isLeaving(String name) {
        return leaving.stream().anyMatch(device -> device.name().equals(name));
    }

    private boolean scanIsStuck(long now) {
        return scanMayGetStuck() && now - scanStartedAt >= SCAN_PATIENCE.toNanos();
    }

    /** Whether the latest scan is still under way and can be replaced. */
    private boolean scanMayGetStuck() {
        return acceptedScan < scanStartedAt && scansRunning > 0 && scansRunning <= replacements();
    }

    /**
     * Beside a scan that hangs, another may run for each driver that doesn't answer, since it leaves that device out.
     * Whatever else holds it up may hold up the next one too, so for that there is only one more.
     */
    private int replacements() {
        return Math.max(1, inventory.beingAsked().size());
    }

    private void startScan(long now) {
        boolean late = now - scanStartedAt >= SCAN_PATIENCE.toNanos();
        boolean mayStart = scansRunning == 0 || (late && scansRunning <= replacements());
        boolean watching = watches.ofLinks() && watches.ofNodes() && netnsMode == NetnsMode.SHARED;
        Duration interval = secondLook
                ? SECOND_LOOK
                : watching || settings.probe().compareTo(settings.scan()) > 0 ? settings.scan() : settings.probe();
        if (!mayStart) {
            scanWaits = true;
            nextScan = now + SCAN_PATIENCE.toNanos();
            return;
        }
        secondLook = false;
        scanWaits = false;
        nextScan = now + interval.toNanos();
        scanStartedAt = now;
        scansRunning++;
        jobs.start(SCAN, Optional.empty(), () -> {
            InventorySnapshot snapshot = inventory.scan();
            Optional<List<Link>> dump;
            try {
                dump = Optional.of(sources.links());
            } catch (NativeException e) {
                // The snapshot's source status tells the reason.
                dump = Optional.empty();
            }
            return new Jobs.Message.Scanned(snapshot, dump, now);
        });
    }

    private void startAsking(Watched device, long now) {
        Optional<OpenDevice> context = device.context();
        device.begin(now, settings.probe());
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
        Watched.Node node = new Watched.Node(settings, rdmaCmPresent, netnsMode, fulfilled.reason(), clock.instant());
        for (Watched device : devices.values()) {
            device.judge(linkView(device), node, observed);
        }
        List<MonitorStatus.Withheld> notOffered = applyChoice();
        Set<String> names =
                notOffered.stream().map(MonitorStatus.Withheld::device).collect(Collectors.toSet());
        Optional<Path> rdmaCm = rdmaCmPresent ? Optional.of(NodePaths.onHost("rdma_cm")) : Optional.empty();
        status = new MonitorStatus(
                devices.values().stream().map(Watched::status).toList(),
                sourceStatuses,
                lastScan,
                netnsMode,
                rdmaCm,
                watches.whyNodesArePolled(),
                notOffered,
                fulfilled.reason());
        boolean ready = scanned
                && (firstTold
                        || devices.values().stream()
                                .allMatch(device -> device.offered() || names.contains(device.name())));
        if (!ready) {
            return;
        }
        AdvertisedDevices actual = new AdvertisedDevices(
                devices.values().stream()
                        .filter(Watched::offered)
                        .map(device -> new AdvertisedDevices.Entry(
                                device.device(), device.health().orElseThrow()))
                        .toList(),
                rdmaCm);
        Optional<AdvertisedDevices> message = damper.offer(actual, names, observed);
        firstTold = true;
        message.ifPresent(offer -> {
            log(offer);
            try {
                listener.advertise(offer, observed);
            } catch (RuntimeException e) {
                damper.force();
                throw e;
            }
        });
    }

    /** One that is offered again is told by its health. */
    private List<MonitorStatus.Withheld> applyChoice() {
        DeviceChoice current = choice;
        List<MonitorStatus.Withheld> former = withheld;
        withheld = devices.values().stream()
                .flatMap(
                        device -> current
                                .whyNot(device.device())
                                .map(reason -> new MonitorStatus.Withheld(device.name(), reason))
                                .stream())
                .toList();
        withheld.stream()
                .filter(one -> !former.contains(one))
                .forEach(one ->
                        LOG.info(one.device() + " is withheld: " + one.reason(), Log.Field.of("device", one.device())));
        return withheld;
    }

    private void log(AdvertisedDevices offer) {
        for (AdvertisedDevices.Entry entry : offer.devices()) {
            String name = entry.device().name();
            Optional<Boolean> former =
                    Optional.ofNullable(toldHealthy.put(name, entry.health().isHealthy()));
            if (former.equals(Optional.of(entry.health().isHealthy()))) {
                continue;
            }
            switch (entry.health()) {
                case DeviceHealth.Healthy _ -> LOG.info(name + " healthy", Log.Field.of("device", name));
                case DeviceHealth.Unhealthy unhealthy ->
                    LOG.warn(name + " unhealthy: " + unhealthy.reason(), Log.Field.of("device", name));
            }
        }
        toldHealthy.keySet().removeIf(name -> offer.find(name).isEmpty());
    }

    // ---- the end

    private void closeAll() {
        List<Jobs.Message> unread = jobs.end();
        watches.close();
        // A close may hang in the driver; whoever is not done in time is left to the end of the process. A job under
        // way closes its context itself when it finds nobody to tell.
        List<Thread> closers = new ArrayList<>();
        unread.forEach(message -> closers.add(closer(() -> Jobs.release(message))));
        for (Watched device : devices.values()) {
            closeIdle(device, closers);
        }
        for (Watched device : leaving) {
            closeIdle(device, closers);
        }
        long end = System.nanoTime() + CLOSE_PATIENCE.toNanos();
        for (Thread closer : closers) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(closer, Math.max(1, end - System.nanoTime()));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void closeIdle(Watched device, List<Thread> closers) {
        if (!device.busy()) {
            device.context().ifPresent(context -> closers.add(closer(context::close)));
        }
    }

    private static Thread closer(Runnable close) {
        return Thread.ofPlatform().daemon().name("erdma-probe-close").start(close);
    }
}
