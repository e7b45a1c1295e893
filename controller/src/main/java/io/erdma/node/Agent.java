package io.erdma.node;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.Netdev;
import io.erdma.health.HealthMonitor;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodePaths;
import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.driver.DeviceHold;
import io.erdma.node.driver.DriverKeeper;
import io.erdma.node.http.HttpServer;
import io.erdma.node.http.PagePaths;
import io.erdma.node.http.ProbePaths;
import io.erdma.node.interfaces.InterfaceSource;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.log.Logging;
import io.erdma.node.log.RecentLines;
import io.erdma.node.metrics.AgentMetrics;
import io.erdma.node.net.InterfaceKeeper;
import io.erdma.node.page.NodePage;
import io.erdma.node.page.PageHtml;
import io.erdma.node.page.PageReader;
import io.erdma.node.page.PageStyle;
import io.erdma.node.page.TrafficSampler;
import io.erdma.plugin.CdiSpecFile;
import io.erdma.plugin.DevicePluginService;
import io.erdma.plugin.DeviceStream;
import io.erdma.plugin.KubeletSession;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.PodShares;
import io.erdma.pods.UsageMonitor;
import io.erdma.pods.UsageSnapshot;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.PromptTraffic;
import io.erdma.traffic.TrafficDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The running agent: everything is made here, by constructor, and closed from the kubelet's side to the node's. See
 * DESIGN.md of this package for the threads.
 */
final class Agent implements AutoCloseable {
    private static final Log LOG = Log.of(Agent.class);

    /** The cluster's API may have to be asked which devices are offered. */
    private static final Duration DECISION_WITHIN = Duration.ofSeconds(3);

    /** A scrape waits for that, once; counters are read in a millisecond unless the driver hangs. */
    private static final Duration COUNTERS_WITHIN = Duration.ofMillis(100);

    /** Lines of the log that the page shows. */
    private static final int RECENT_LINES = 50;

    /** All of the closing; a pod's container is killed in the end, and the kubelet calls that a failure. */
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(4);

    /** What closes in which order; those of one stage close side by side. */
    private enum Stage {
        /** What the kubelet calls, and who else may be in the middle of something that should come to its end. */
        WORK,
        /** What those stand on. */
        NODE,
        /** What all stand on. */
        ROOTS
    }

    private final Map<Stage, List<Closing.Part>> parts = new EnumMap<>(Stage.class);
    private Runnable announceStop = () -> {};

    private Agent() {}

    /**
     * Returns once the agent serves; whether there is a kubelet, and a device, may come later.
     *
     * @throws IOException when the node does not let it start; whatever was opened is closed again
     */
    static Agent start(AgentConfig config, Logging logging, String version) throws IOException {
        Agent agent = new Agent();
        try {
            agent.open(config, logging, version);
            return agent;
        } catch (IOException | RuntimeException | Error e) {
            agent.close();
            throw e;
        }
    }

    private void open(AgentConfig config, Logging logging, String version) throws IOException {
        NodePaths paths = config.paths();
        var recent = new RecentLines(RECENT_LINES);
        if (config.pageAddress().isPresent()) {
            logging.tell(recent);
            opened(Stage.ROOTS, "recent lines", () -> logging.forget(recent));
        }
        var sources = opened(Stage.ROOTS, "sources", new LiveSources(config.verbsLibrary(), paths));
        var inventory = new DeviceInventory(sources, paths, config.selectors());
        var metrics = opened(
                Stage.ROOTS,
                "metrics",
                new AgentMetrics(version, config.plugin().sharesPerDevice()));
        var stream = new DeviceStream(config.plugin(), metrics);
        var interfaces = opened("interfaces", new InterfaceSource(config.interfaces(), config.cluster()));
        var reporter = opened("cluster's reporter", new ClusterReporter(config.reports(), config.cluster()));
        var news = new NodeNews(config.reports().node(), reporter::wakeUp);
        var cdi = opened(
                "CDI spec",
                new CdiSpecFile(config.plugin(), told(List.of(stream, metrics, interfaces, news)), Clock.systemUTC()));
        var firstOffer = new FirstOffer(cdi);
        var inotifyShortage = new InotifyShortage();
        var monitor = new HealthMonitor(
                inventory, sources, paths, config.health(), Clock.systemUTC(), firstOffer, inotifyShortage);
        var network = opened("interfaces' keeper", InterfaceKeeper.start(config.routes()));
        // Before the monitor, so that its first offer is of the right devices.
        interfaces.start((wanted, choice) -> {
            monitor.choose(choice);
            network.want(wanted);
        });
        monitor.start();
        opened("health monitor", monitor);

        // While the monitor looks at the devices, the rest gets ready.
        var service =
                new DevicePluginService(config.plugin(), stream, path -> Files.exists(paths.here(path)), cdi, metrics);
        var transport = opened("gRPC", UnixTransport.open());
        var session = new KubeletSession(config.session(), transport, service, metrics, inotifyShortage);
        var shares = new PodShares(
                transport, config.session().kubeletRoot(), config.session().resource());
        var driver =
                opened(Stage.WORK, "driver", DriverKeeper.of(config.driver(), paths, shares, DeviceHold.of(monitor)));
        announceStop = driver::stop;
        metrics.watchHealthLoop(monitor::age);
        metrics.watchSession(session::status);
        var counters = opened(
                Stage.ROOTS,
                "counters",
                new PromptTraffic(
                        new CounterReader(new SysfsCounters(paths.sys()), System::nanoTime), COUNTERS_WITHIN));
        metrics.watchTraffic(() -> counters.of(inService(stream, monitor)));
        metrics.watchDriver(driver::status);
        metrics.watchInterfaces(network::status);
        metrics.watchReports(reporter::status);
        news.watch(new NodeNews.Sources(driver::status, network::status, interfaces::status, session::status));
        Supplier<String> plans = () ->
                PlanText.of(driver.status(), network.status(), interfaces.status()) + PlanText.of(reporter.status());
        var http = opened("HTTP", HttpServer.create());
        if (config.probeAddress().isPresent()) {
            serveProbes(
                    http,
                    config.probeAddress().get(),
                    new ProbePaths(
                            () -> Readiness.alive(monitor.age()),
                            () -> Readiness.ready(
                                    session.status(),
                                    monitor.status(),
                                    config.health().scan(),
                                    Clock.systemUTC().instant()),
                            config.podMetrics() ? metrics::scrapeWithPods : metrics::scrape,
                            plans,
                            logging));
        }
        // Without knowing them the kubelet would hear of a node without devices first; beyond its time, hearing of none
        // is better than of no plugin.
        if (!interfaces.awaitDecision(DECISION_WITHIN) || !firstOffer.await(monitor.firstOfferWithin())) {
            LOG.warn("the node's devices are not known yet; registering without them");
        }
        Consumer<UsageSnapshot> queuePairs =
                metrics.queuePairs(() -> QueuePairBudgets.of(stream.latest(), interfaces.status()));
        Optional<UsageMonitor> usage = config.usage()
                .map(wanted -> opened(
                        Stage.WORK,
                        "pods' use of devices",
                        UsageMonitor.of(
                                wanted,
                                paths,
                                shares,
                                stream::latest,
                                metrics.podUsage()
                                        .andThen(metrics.shareUse())
                                        .andThen(queuePairs)
                                        .andThen(news))));
        if (config.pageAddress().isPresent()) {
            var traffic = opened(
                    "traffic", new TrafficSampler(() -> counters.of(inService(stream, monitor)), Clock.systemUTC()));
            var page = new PageReader(
                    new PageReader.Identity(
                            config.interfaces().nodeName(),
                            version,
                            config.plugin().resourceName(),
                            config.plugin().sharesPerDevice()),
                    new PageReader.Sources(
                            stream::latest,
                            monitor::status,
                            session::status,
                            driver::status,
                            plans,
                            () -> use(usage),
                            () -> QueuePairBudgets.total(stream.latest(), interfaces.status()),
                            traffic::series,
                            recent::latestFirst),
                    Clock.systemUTC());
            if (servePage(
                    http,
                    config.pageAddress().get(),
                    new PagePaths(
                            new PagePaths.Page(refreshing -> PageHtml.of(page.read(), refreshing), PageStyle.POLICY),
                            metrics::scrapeWithPods))) {
                traffic.start();
            }
        }
        session.start();
        opened(Stage.WORK, "kubelet session", session);
        // After the registration, which pods wait for; a mode to be switched waits for pods.
        driver.start();
        usage.ifPresent(UsageMonitor::start);
        reporter.start(news);
        metrics.watchProcess();
    }

    private static void serveProbes(HttpServer http, InetSocketAddress address, ProbePaths paths) throws IOException {
        try {
            LOG.info(
                    "serving probes and metrics",
                    Field.of("port", http.listen(address, paths).getPort()));
        } catch (IOException e) {
            throw new IOException(
                    e.getMessage() + ". Probes and metrics are served there, and the agent shares the node's ports:"
                            + " give it a free one with --probe-address (and the pod's probes the same), or turn it off"
                            + " with --probe-address=",
                    e);
        }
    }

    /** The devices are worth more than a page about them, so without its port the agent goes on. */
    private static boolean servePage(HttpServer http, InetSocketAddress address, PagePaths paths) {
        try {
            InetSocketAddress taken = http.listen(address, paths);
            LOG.info("serving the node's page", Field.of("port", taken.getPort()));
            return true;
        } catch (IOException e) {
            LOG.warn("there is no page of this node: " + e.getMessage()
                    + ". The agent shares the node's ports: give it a"
                    + " free one with --page-address, or turn it off with --page-address=");
            return false;
        }
    }

    private static NodePage.Use use(Optional<UsageMonitor> usage) {
        UsageMonitor monitor = usage.orElseThrow();
        return monitor.latest()
                .<NodePage.Use>map(NodePage.Use.Known::new)
                .orElseGet(() -> new NodePage.Use.Unknown(monitor.obstacle()
                        .map(why -> "Who uses the devices is not known: " + why + ".")
                        .orElse("Not looked at yet.")));
    }

    /** None while the driver's mode is switched: whoever has a device's files open holds that up. */
    private static List<TrafficDevice> inService(DeviceStream stream, HealthMonitor monitor) {
        return monitor.status().suspended().isPresent()
                ? List.of()
                : stream.latest().devices().stream()
                        .map(AdvertisedDevices.Entry::device)
                        .map(device -> new TrafficDevice(
                                device.name(), device.driver(), device.netdev().map(Netdev::name)))
                        .toList();
    }

    private <T extends AutoCloseable> T opened(String name, T closeable) {
        return opened(Stage.NODE, name, closeable);
    }

    private <T extends AutoCloseable> T opened(Stage stage, String name, T closeable) {
        parts.computeIfAbsent(stage, any -> new ArrayList<>()).add(new Closing.Part(name, closeable));
        return closeable;
    }

    /** Within four seconds, whatever hangs; one part that fails to close does not keep the others open. */
    @Override
    public void close() {
        // The driver's switch waits for the kubelet to hear that no share can be used, and the kubelet's session
        // closes.
        announceStop.run();
        Closing closing = new Closing(CLOSE_WITHIN);
        for (Stage stage : Stage.values()) {
            closing.close(parts.getOrDefault(stage, List.of()));
        }
        parts.clear();
    }

    /** In this order, so the kubelet first: the others can wait for the microseconds that it takes. */
    private static AdvertisementListener told(List<AdvertisementListener> listeners) {
        return (devices, observedNanos) -> listeners.forEach(one -> one.advertise(devices, observedNanos));
    }

    /** Passes offers on, and lets one thread wait for the first. */
    private static final class FirstOffer implements AdvertisementListener {
        private final AdvertisementListener next;
        private final CountDownLatch come = new CountDownLatch(1);

        FirstOffer(AdvertisementListener next) {
            this.next = next;
        }

        @Override
        public void advertise(AdvertisedDevices devices, long observedNanos) {
            next.advertise(devices, observedNanos);
            come.countDown();
        }

        boolean await(Duration atMost) {
            try {
                return come.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }
}
