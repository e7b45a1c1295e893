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
import io.erdma.sysfs.SysfsCounters;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.PromptTraffic;
import io.erdma.traffic.TrafficDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The running agent: everything is made here, by constructor, and closed in reverse order. See DESIGN.md of this package
 * for the threads.
 */
final class Agent implements AutoCloseable {
    private static final Log LOG = Log.of(Agent.class);

    /** The cluster's API may have to be asked which devices are offered. */
    private static final Duration DECISION_WITHIN = Duration.ofSeconds(3);

    /** Lines of the log that the page shows. */
    private static final int RECENT_LINES = 50;

    /** A scrape waits for that, once; counters are read in a millisecond unless the driver hangs. */
    private static final Duration COUNTERS_WITHIN = Duration.ofMillis(100);

    private final Deque<Part> parts = new ArrayDeque<>();

    /** Something to close, with a name for the log. */
    private record Part(String name, AutoCloseable closeable) {}

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
            opened("recent lines", () -> logging.forget(recent));
        }
        var sources = opened("sources", new LiveSources(config.verbsLibrary(), paths));
        var inventory = new DeviceInventory(sources, paths, config.selectors());
        var metrics =
                opened("metrics", new AgentMetrics(version, config.plugin().sharesPerDevice()));
        var stream = new DeviceStream(config.plugin(), metrics);
        var interfaces = opened("interfaces", new InterfaceSource(config.interfaces(), config.cluster()));
        var cdi = opened(
                "CDI spec",
                new CdiSpecFile(config.plugin(), told(List.of(stream, metrics, interfaces)), Clock.systemUTC()));
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
        var driver = opened("driver", DriverKeeper.of(config.driver(), paths, shares, DeviceHold.of(monitor)));
        metrics.watchHealthLoop(monitor::age);
        metrics.watchSession(session::status);
        var counters = opened(
                "counters",
                new PromptTraffic(
                        new CounterReader(new SysfsCounters(paths.sys()), System::nanoTime), COUNTERS_WITHIN));
        metrics.watchTraffic(counters);
        metrics.watchDriver(driver::status);
        metrics.watchInterfaces(network::status);
        Supplier<String> plans = () -> PlanText.of(driver.status(), network.status(), interfaces.status());
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
        // Closed behind the session: a look may wait for the kubelet, and its socket must not wait for that.
        Optional<UsageMonitor> usage = config.usage()
                .map(wanted -> opened(
                        "pods' use of devices",
                        UsageMonitor.of(
                                wanted,
                                paths,
                                shares,
                                stream::latest,
                                metrics.podUsage().andThen(metrics.shareUse()))));
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
                            OptionalLong::empty,
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
        opened("kubelet session", session);
        // After the registration, which pods wait for; a mode to be switched waits for pods.
        driver.start();
        usage.ifPresent(UsageMonitor::start);
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
        parts.push(new Part(name, closeable));
        return closeable;
    }

    /** In reverse order of opening; one part that fails to close does not keep the others open. */
    @Override
    public void close() {
        while (!parts.isEmpty()) {
            Part part = parts.pop();
            try {
                part.closeable().close();
            } catch (Exception e) {
                LOG.error("closing failed", e, Field.of("part", part.name()));
            }
        }
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
