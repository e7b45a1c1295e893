package io.erdma.node;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.health.HealthMonitor;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodePaths;
import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.driver.DeviceHold;
import io.erdma.node.driver.DriverKeeper;
import io.erdma.node.http.ProbeServer;
import io.erdma.node.interfaces.InterfaceSource;
import io.erdma.node.log.Logging;
import io.erdma.node.metrics.AgentMetrics;
import io.erdma.node.net.InterfaceKeeper;
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
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The running agent: everything is made here, by constructor, and closed in reverse order. See DESIGN.md of this package
 * for the threads.
 */
final class Agent implements AutoCloseable {
    private static final Log LOG = Log.of(Agent.class);

    /** The cluster's API may have to be asked which devices are offered. */
    private static final Duration DECISION_WITHIN = Duration.ofSeconds(3);

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
        metrics.watchTraffic(opened(
                "counters",
                new PromptTraffic(
                        new CounterReader(new SysfsCounters(paths.sys()), System::nanoTime), COUNTERS_WITHIN)));
        metrics.watchDriver(driver::status);
        metrics.watchInterfaces(network::status);
        if (config.probeAddress().isPresent()) {
            var probes = opened(
                    "probes",
                    ProbeServer.open(
                            config.probeAddress().get(),
                            () -> Readiness.alive(monitor.age()),
                            () -> Readiness.ready(
                                    session.status(),
                                    monitor.status(),
                                    config.health().scan(),
                                    Clock.systemUTC().instant()),
                            metrics::scrape,
                            () -> PlanText.of(driver.status(), network.status(), interfaces.status()),
                            logging));
            LOG.info(
                    "serving probes and metrics",
                    Field.of("port", probes.address().getPort()));
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
        session.start();
        opened("kubelet session", session);
        // After the registration, which pods wait for; a mode to be switched waits for pods.
        driver.start();
        usage.ifPresent(UsageMonitor::start);
        metrics.watchProcess();
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
