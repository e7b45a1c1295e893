package io.erdma.node;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisedDevices.Entry;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.DeviceHealth;
import io.erdma.device.DeviceHealth.Healthy;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.interfaces.InterfacesStatus;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.kube.EventReason;
import io.erdma.node.kube.NodeCondition;
import io.erdma.node.kube.NodeState;
import io.erdma.node.kube.Occurrence;
import io.erdma.node.kube.Occurrence.About;
import io.erdma.node.net.KeeperStatus;
import io.erdma.node.net.Note;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.UsageMonitor;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.Finding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What changed on the node since it was last asked, in the words of the cluster's Events. Offers and looks at pods come from
 * their threads without waiting; everything else belongs to the thread that asks.
 */
final class NodeNews implements ClusterReporter.News, AdvertisementListener, Consumer<UsageSnapshot> {
    /** More offers than come between two questions; of more, the oldest are forgotten. */
    private static final int MOST_OFFERS = 64;

    private static final String INTERFACES = "interfaces";

    /** Where the other parts tell how they stand. */
    record Sources(
            Supplier<Optional<DriverStatus>> driver,
            Supplier<KeeperStatus> network,
            Supplier<InterfacesStatus> interfaces,
            Supplier<SessionStatus> session) {}

    private final About node;
    private final Runnable wakeUp;
    private final BlockingQueue<AdvertisedDevices> offers = new ArrayBlockingQueue<>(MOST_OFFERS);

    private volatile Optional<UsageSnapshot> usage = Optional.empty();
    /** Set before anybody asks. */
    private volatile Optional<Sources> sources = Optional.empty();

    // ---- of the thread that asks ----

    private final List<Occurrence> news = new ArrayList<>();
    private Optional<AdvertisedDevices> offered = Optional.empty();
    private final Map<String, DeviceHealth> devices = new TreeMap<>();
    private final Set<String> withdrawn = new HashSet<>();
    private Optional<String> switchPending = Optional.empty();
    private Optional<String> driverProblem = Optional.empty();
    private Optional<ModeInForce> mode = Optional.empty();
    private Set<Trouble> troubles = Set.of();
    private final Map<PodName, String> toldPods = new HashMap<>();
    private Optional<UsageSnapshot> usageSeen = Optional.empty();

    /** Something about an interface that somebody has to look at. */
    private record Trouble(String subject, String text) {}

    /**
     * @param nodeName of the Node object
     * @param wakeUp called from other threads when there may be news
     */
    NodeNews(String nodeName, Runnable wakeUp) {
        this.node = new About.OnNode(nodeName);
        this.wakeUp = requireNonNull(wakeUp, "wakeUp is null");
    }

    void watch(Sources all) {
        sources = Optional.of(all);
    }

    @Override
    public void advertise(AdvertisedDevices now, long observedNanos) {
        while (!offers.offer(now)) {
            offers.poll();
        }
        wakeUp.run();
    }

    @Override
    public void accept(UsageSnapshot now) {
        usage = Optional.of(now);
        wakeUp.run();
    }

    @Override
    public List<Occurrence> occurrences() {
        take();
        sources.ifPresent(all -> {
            all.driver().get().ifPresent(this::driver);
            interfaces(all.network().get(), all.interfaces().get());
        });
        pods();
        List<Occurrence> all = List.copyOf(news);
        news.clear();
        return all;
    }

    @Override
    public Optional<NodeState> state() {
        take();
        return offered.map(now -> new NodeState(condition(now), !now.devices().isEmpty()));
    }

    // ---- devices ----

    private void take() {
        List<AdvertisedDevices> waiting = new ArrayList<>();
        offers.drainTo(waiting);
        if (waiting.isEmpty()) {
            return;
        }
        if (offered.isEmpty()) {
            // How a start went is no news, only where it led to.
            waiting.subList(0, waiting.size() - 1).clear();
        }
        waiting.forEach(this::compare);
        offered = Optional.of(waiting.getLast());
    }

    private void compare(AdvertisedDevices offer) {
        for (Entry entry : offer.devices()) {
            String name = entry.device().name();
            Optional<DeviceHealth> before = Optional.ofNullable(devices.put(name, entry.health()));
            boolean again = withdrawn.remove(name);
            switch (entry.health()) {
                case Unhealthy(String reason, Instant _) -> {
                    if (before.map(DeviceHealth::isHealthy).orElse(true)) {
                        tell(
                                EventReason.DEVICE_UNHEALTHY,
                                name,
                                name + " is unhealthy, so no new pod gets it: " + reason);
                    }
                }
                case Healthy(Instant since) -> {
                    if (again) {
                        tell(EventReason.DEVICE_HEALTHY, name, name + " is offered again, and healthy");
                    } else {
                        before.filter(health -> !health.isHealthy())
                                .ifPresent(health -> tell(
                                        EventReason.DEVICE_HEALTHY,
                                        name,
                                        name + " is healthy again" + after(health, since)));
                    }
                }
            }
        }
        List<String> gone = devices.keySet().stream()
                .filter(name -> offer.find(name).isEmpty())
                .toList();
        for (String name : gone) {
            devices.remove(name);
            withdrawn.add(name);
            tell(
                    EventReason.DEVICE_WITHDRAWN,
                    name,
                    name + " is no longer offered to pods: it has gone, or is not chosen any more");
        }
    }

    private static String after(DeviceHealth former, Instant until) {
        return former instanceof Unhealthy(String reason, Instant since) && until.isAfter(since)
                ? " after " + Duration.between(since, until).toSeconds() + " s (" + reason + ")"
                : "";
    }

    // ---- driver and interfaces ----

    private void driver(DriverStatus status) {
        if (status.pending().isPresent() && switchPending.isEmpty()) {
            tell(EventReason.DRIVER_SWITCH_PENDING, "", status.pending().get());
        }
        switchPending = status.pending();
        Optional<ModeInForce> now = switch (status.inForce()) {
            case DEFAULT, COMPAT, OFED -> Optional.of(status.inForce());
            case NOT_LOADED, UNKNOWN -> Optional.empty();
        };
        if (now.isPresent()) {
            mode.filter(before -> before != now.get())
                    .ifPresent(before -> tell(
                            EventReason.DRIVER_SWITCHED,
                            "",
                            "the erdma driver is in mode " + now.get() + " now, and was in mode " + before));
            mode = now;
        }
        if (status.problem().isPresent() && !status.problem().equals(driverProblem)) {
            tell(EventReason.DRIVER_FAILED, "", status.problem().get());
        }
        driverProblem = status.problem();
    }

    private void interfaces(KeeperStatus network, InterfacesStatus status) {
        Set<Trouble> now = new LinkedHashSet<>();
        network.notes().stream()
                .filter(note -> note.severity() == Note.Severity.WARNING)
                .forEach(note -> now.add(new Trouble(note.subject(), note.text())));
        network.lastError().ifPresent(error -> now.add(new Trouble(INTERFACES, error)));
        status.problems().forEach(problem -> now.add(new Trouble(INTERFACES, problem)));
        now.stream()
                .filter(trouble -> !troubles.contains(trouble))
                .forEach(trouble -> tell(
                        EventReason.INTERFACE_NOT_SET_UP,
                        trouble.subject(),
                        trouble.subject().equals(INTERFACES)
                                ? trouble.text()
                                : trouble.subject() + ": " + trouble.text()));
        troubles = now;
    }

    private void tell(EventReason reason, String subject, String message) {
        news.add(new Occurrence(node, reason, subject, message));
    }

    // ---- pods ----

    private void pods() {
        Optional<UsageSnapshot> now = usage;
        if (now.isEmpty() || now.equals(usageSeen)) {
            return;
        }
        usageSeen = now;
        UsageSnapshot snapshot = now.get();
        Map<PodName, List<Finding>> asking = new LinkedHashMap<>();
        for (Finding finding : snapshot.findings()) {
            if (finding.verdict() instanceof AsksOnly && finding.podUid().isPresent()) {
                asking.computeIfAbsent(finding.container().podName(), _ -> new ArrayList<>())
                        .add(finding);
            }
        }
        asking.forEach((pod, findings) -> {
            String uid = findings.getFirst().podUid().orElseThrow();
            if (!uid.equals(toldPods.put(pod, uid))) {
                news.add(new Occurrence(
                        new About.OnPod(pod.namespace(), pod.pod(), uid),
                        EventReason.NOT_USED,
                        "",
                        findings.stream().map(NodeNews::describe).collect(Collectors.joining("; "))));
            }
        });
        // While the kubelet does not answer, nobody holds a share, as far as can be seen.
        if (!snapshot.shares().isEmpty() || snapshot.problems().isEmpty()) {
            Set<PodName> there = new HashSet<>();
            snapshot.shares().forEach(hold -> there.add(hold.container().podName()));
            toldPods.keySet().retainAll(there);
        }
    }

    private static String describe(Finding finding) {
        Duration running = finding.verdict() instanceof AsksOnly(Duration time) ? time : Duration.ZERO;
        return "container " + finding.container().container() + " " + UsageMonitor.describe(running, finding.causes());
    }

    // ---- the Node's condition ----

    private NodeCondition condition(AdvertisedDevices now) {
        if (now.devices().isEmpty()) {
            return new NodeCondition(
                    false,
                    "NoDevice",
                    sources.map(all -> all.interfaces().get().offered().describe())
                            .map(choice -> "no eRDMA device is offered; devices to offer: " + choice)
                            .orElse("no eRDMA device is offered"));
        }
        List<String> sick = now.devices().stream()
                .filter(entry -> entry.health() instanceof Unhealthy)
                .map(entry -> entry.device().name() + ": " + ((Unhealthy) entry.health()).reason())
                .toList();
        if (!sick.isEmpty()) {
            return new NodeCondition(
                    false,
                    "DeviceUnhealthy",
                    sick.size() + " of " + now.devices().size() + " devices: " + String.join("; ", sick));
        }
        if (sources.isPresent() && !sources.get().session().get().serving()) {
            return new NodeCondition(
                    false,
                    "NotRegistered",
                    "not registered with the kubelet"
                            + sources.get()
                                    .session()
                                    .get()
                                    .problem()
                                    .map(why -> ": " + why)
                                    .orElse(""));
        }
        return new NodeCondition(
                true,
                "DevicesHealthy",
                now.devices().stream().map(entry -> entry.device().name()).collect(Collectors.joining(", "))
                        + (now.devices().size() == 1 ? " is healthy" : " are healthy"));
    }
}
