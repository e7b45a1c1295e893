package io.erdma.node.metrics;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.kube.EventCounts;
import io.erdma.node.net.KeeperStatus;
import io.erdma.plugin.PluginObserver;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.erdma.traffic.TrafficTotals;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The agent's numbers over time. Written from the monitor's and the kubelet's threads, read by scrapes. */
public final class AgentMetrics implements PluginObserver, AdvertisementListener, AutoCloseable {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    /** Apart, since not everybody who reaches the node's port should hear of its pods. */
    private final PrometheusMeterRegistry ofPods = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    private final int sharesPerDevice;

    private final AtomicInteger healthy = new AtomicInteger();
    private final AtomicInteger unhealthy = new AtomicInteger();
    private final AtomicInteger streams = new AtomicInteger();
    private final MultiGauge perDevice = MultiGauge.builder("erdma.device.healthy")
            .description("1 while the device can carry traffic, else 0")
            .register(registry);
    private volatile List<String> offered = List.of();
    private final Timer granted = allocations("granted");
    private final Timer refused = allocations("refused");
    private final Timer eventToKubelet = Timer.builder("erdma.event.to.kubelet")
            .description("From the reading of an event to the message on the kubelet's stream")
            .serviceLevelObjectives(buckets(1, 2, 5, 10, 20, 50, 100, 1_000))
            .register(registry);
    private final Counter firstRegistrations = registrations("first");
    private final Counter registrationsAgain = registrations("again");
    private final Counter registrationFailures = Counter.builder("erdma.registration.failures")
            .description("Registrations that the kubelet refused or did not answer")
            .register(registry);

    public AgentMetrics(String version, int sharesPerDevice) {
        this.sharesPerDevice = sharesPerDevice;
        Gauge.builder("erdma.build.info", () -> 1)
                .description("Version of the agent and of its Java")
                .tags("version", version, "java", Runtime.version().toString())
                .register(registry);
        devices("healthy", healthy);
        devices("unhealthy", unhealthy);
        Gauge.builder("erdma.shares", () -> (healthy.get() + unhealthy.get()) * this.sharesPerDevice)
                .description("Shares offered to the kubelet, healthy or not")
                .register(registry);
        Gauge.builder("erdma.listandwatch.streams", streams, AtomicInteger::get)
                .description("ListAndWatch streams that the kubelet holds open")
                .register(registry);
    }

    private void devices(String health, AtomicInteger count) {
        Gauge.builder("erdma.devices", count, AtomicInteger::get)
                .description("RDMA devices offered to the kubelet, by health")
                .tag("health", health)
                .register(registry);
    }

    private Timer allocations(String outcome) {
        return Timer.builder("erdma.allocate.duration")
                .description("How long the kubelet's Allocate calls took, by outcome")
                .tag("outcome", outcome)
                .serviceLevelObjectives(buckets(1, 2, 5, 10, 50, 100, 1_000))
                .register(registry);
    }

    private Counter registrations(String kind) {
        return Counter.builder("erdma.registrations")
                .description("Registrations with the kubelet: the first of this process, and those again")
                .tag("kind", kind)
                .register(registry);
    }

    private static Duration[] buckets(long... millis) {
        return Arrays.stream(millis).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
    }

    /** @param age time since the health monitor last went round */
    public void watchHealthLoop(Supplier<Duration> age) {
        Gauge.builder("erdma.health.loop.age", () -> age.get().toMillis() / 1e3)
                .description("Time since the last completed health check")
                .baseUnit("seconds")
                .register(registry);
    }

    /** @param session how the agent stands with the kubelet */
    public void watchSession(Supplier<SessionStatus> session) {
        Gauge.builder("erdma.kubelet.registered", () -> session.get().registered() ? 1 : 0)
                .description("1 while the kubelet that is there now has accepted the agent's registration")
                .register(registry);
    }

    /** @param traffic by device, asked for at each scrape; it must not wait for long */
    public void watchTraffic(Supplier<? extends Map<String, TrafficTotals>> traffic) {
        registry.getPrometheusRegistry().register(new TrafficCollector(traffic));
    }

    /** @param driver as the keeper last saw it; nothing is shown before its first look */
    public void watchDriver(Supplier<Optional<DriverStatus>> driver) {
        for (ModeInForce mode : ModeInForce.values()) {
            Gauge.builder("erdma.driver.mode", () -> shown(driver, status -> status.inForce() == mode ? 1 : 0))
                    .description("1 for the mode that the erdma driver runs in")
                    .tag("mode", mode.toString().replace(' ', '-'))
                    .register(registry);
        }
        Gauge.builder(
                        "erdma.driver.switch.pending",
                        () -> shown(driver, status -> status.pending().isPresent() ? 1 : 0))
                .description("1 while the driver waits for its users before it changes its mode")
                .register(registry);
        Gauge.builder(
                        "erdma.driver.switch.users",
                        () -> shown(driver, status -> status.usedBy().size()))
                .description("Processes and pods that a change of the driver's mode waits for")
                .register(registry);
        Gauge.builder(
                        "erdma.driver.problem",
                        () -> shown(driver, status -> status.problem().isPresent() ? 1 : 0))
                .description("1 while the driver can't be brought into its mode; the agent's log says why")
                .register(registry);
    }

    private static double shown(Supplier<Optional<DriverStatus>> driver, ToDoubleFunction<DriverStatus> number) {
        return driver.get().map(number::applyAsDouble).orElse(Double.NaN);
    }

    /** @param status of the interfaces that the agent looks after */
    public void watchInterfaces(Supplier<KeeperStatus> status) {
        Gauge.builder(
                        "erdma.interface.changes.planned",
                        () -> status.get().plan().changes().size())
                .description("Changes of links, addresses and routes that the last look at them led to")
                .register(registry);
        Gauge.builder("erdma.interface.error", () -> status.get().lastError().isPresent() ? 1 : 0)
                .description("1 while something of the interfaces can't be read or changed; the agent's log says what")
                .register(registry);
        registry.getPrometheusRegistry().register(new InterfaceWarnings(status));
        FunctionCounter.builder(
                        "erdma.interface.repairs", status, now -> now.get().repairs())
                .description("How often something was set right that somebody else had undone")
                .register(registry);
    }

    /** Takes who uses the devices, and shows how many shares pods hold; by device, so that it is for all to see. */
    public Consumer<UsageSnapshot> shareUse() {
        MultiGauge used = MultiGauge.builder("erdma.shares.used")
                .description("Shares of the device that the kubelet gave to containers")
                .register(registry);
        return usage -> used.register(
                usage.sharesKnown() ? sharesUsed(usage.shares(), offered) : List.<MultiGauge.Row<?>>of(), true);
    }

    private static List<MultiGauge.Row<?>> sharesUsed(List<ShareHold> holds, List<String> offered) {
        Map<String, Integer> used = new TreeMap<>();
        offered.forEach(device -> used.put(device, 0));
        holds.forEach(hold -> used.merge(hold.device(), hold.shares(), Integer::sum));
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        used.forEach((device, shares) -> rows.add(MultiGauge.Row.of(Tags.of("device", device), shares)));
        return rows;
    }

    /** @param reports how the cluster is told of the node */
    public void watchReports(Supplier<ClusterReporter.Status> reports) {
        events(reports, "written", EventCounts::written);
        events(reports, "held-back", EventCounts::heldBack);
        events(reports, "dropped", EventCounts::dropped);
        Gauge.builder("erdma.cluster.problem", () -> reports.get().problem().isPresent() ? 1 : 0)
                .description("1 while the cluster can't be told how the node stands; the agent's log says why")
                .register(registry);
    }

    private void events(
            Supplier<ClusterReporter.Status> reports, String outcome, ToDoubleFunction<EventCounts> number) {
        FunctionCounter.builder(
                        "erdma.events",
                        reports,
                        status -> number.applyAsDouble(status.get().counts()))
                .description("Events for the cluster: requests that wrote one, occurrences that had to wait for their"
                        + " turn, and those that nobody will read of")
                .tag("outcome", outcome)
                .register(registry);
    }

    /**
     * Takes who uses the devices, and shows it by device.
     *
     * @param budgets how many queue pairs each device may have, where known
     */
    public Consumer<UsageSnapshot> queuePairs(Supplier<Map<String, Integer>> budgets) {
        return new QueuePairMetrics(registry, budgets);
    }

    /** Takes who uses the devices, and shows it by pod. */
    public Consumer<UsageSnapshot> podUsage() {
        return UsageMetrics.in(ofPods);
    }

    /** Adds the process's own numbers; apart from the constructor, so that the registration need not wait for it. */
    public void watchProcess() {
        new ProcessMetrics(Path.of("/proc/self"), Instant.now()).bindTo(registry);
    }

    /** One scrape in Prometheus' text format, without what tells of pods. */
    public String scrape() {
        return registry.scrape();
    }

    /** The same with the series of pods. */
    public String scrapeWithPods() {
        return registry.scrape() + ofPods.scrape();
    }

    /** Series of devices that are no longer there end with this. */
    @Override
    public void advertise(AdvertisedDevices devices, long observedNanos) {
        int ok = (int) devices.devices().stream()
                .filter(entry -> entry.health().isHealthy())
                .count();
        healthy.set(ok);
        unhealthy.set(devices.devices().size() - ok);
        offered = devices.devices().stream().map(entry -> entry.device().name()).toList();
        perDevice.register(
                devices.devices().stream()
                        .map(entry -> MultiGauge.Row.of(
                                Tags.of("device", entry.device().name()),
                                entry.health().isHealthy() ? 1 : 0))
                        .toList(),
                true);
    }

    @Override
    public void allocated(Duration took, boolean grantedIt) {
        (grantedIt ? granted : refused).record(took);
    }

    @Override
    public void streams(int open) {
        streams.set(open);
    }

    @Override
    public void messageSent(Duration sinceObserved) {
        eventToKubelet.record(sinceObserved);
    }

    @Override
    public void registered(boolean again) {
        (again ? registrationsAgain : firstRegistrations).increment();
    }

    @Override
    public void registrationFailed(String reason) {
        registrationFailures.increment();
    }

    @Override
    public void close() {
        registry.close();
        ofPods.close();
    }
}
