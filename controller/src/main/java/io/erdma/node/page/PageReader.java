package io.erdma.node.page;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaDevice;
import io.erdma.health.MonitorStatus;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.log.RecentLines;
import io.erdma.node.page.NodePage.Device;
import io.erdma.node.page.NodePage.Offer;
import io.erdma.node.page.NodePage.Use;
import io.erdma.plugin.SessionStatus;
import io.erdma.traffic.TrafficHistory;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** Puts the page together from what the agent's parts last told; waits for nobody. */
public final class PageReader {
    private final Identity identity;
    private final Sources sources;
    private final Clock clock;
    private final Instant started;

    /**
     * What does not change while the agent runs.
     *
     * @param node the Node object's name
     * @param shares how many each device is offered as
     */
    public record Identity(String node, String version, String resource, int shares) {
        public Identity {
            requireNonNull(node, "node is null");
            requireNonNull(version, "version is null");
            requireNonNull(resource, "resource is null");
        }
    }

    /**
     * Snapshots of the agent's parts.
     *
     * @param offered as the kubelet hears of it
     * @param plans the text of {@code /plans}
     * @param queuePairBudget of the instance; absent when nobody told
     */
    public record Sources(
            Supplier<AdvertisedDevices> offered,
            Supplier<MonitorStatus> monitor,
            Supplier<SessionStatus> kubelet,
            Supplier<Optional<DriverStatus>> driver,
            Supplier<String> plans,
            Supplier<Use> use,
            Supplier<OptionalLong> queuePairBudget,
            Supplier<Map<String, TrafficHistory.Series>> traffic,
            Supplier<List<RecentLines.Line>> events) {}

    public PageReader(Identity identity, Sources sources, Clock clock) {
        this.identity = requireNonNull(identity, "identity is null");
        this.sources = requireNonNull(sources, "sources is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.started = clock.instant();
    }

    public NodePage read() {
        MonitorStatus monitor = sources.monitor().get();
        return new NodePage(
                identity.node(),
                identity.version(),
                identity.resource(),
                clock.instant(),
                started,
                sources.kubelet().get(),
                monitor.lastScan().isPresent(),
                monitor.suspended(),
                sources.driver().get(),
                devices(monitor),
                sources.plans().get().lines().toList(),
                sources.use().get(),
                sources.queuePairBudget().get(),
                sources.events().get());
    }

    /** Those offered, as the kubelet hears of them, and behind them those that are not. */
    private List<Device> devices(MonitorStatus monitor) {
        Map<String, TrafficHistory.Series> traffic = sources.traffic().get();
        List<Device> devices = new ArrayList<>();
        AdvertisedDevices offered = sources.offered().get();
        offered.devices()
                .forEach(entry -> devices.add(device(entry.device(), new Offer.Offered(entry.health()), traffic)));
        for (MonitorStatus.Withheld withheld : monitor.withheld()) {
            monitor.devices().stream()
                    .map(MonitorStatus.DeviceStatus::device)
                    .filter(device -> device.name().equals(withheld.device()))
                    .filter(device -> offered.find(device.name()).isEmpty())
                    .forEach(device -> devices.add(device(device, new Offer.Withheld(withheld.reason()), traffic)));
        }
        return devices;
    }

    private Device device(RdmaDevice device, Offer offer, Map<String, TrafficHistory.Series> traffic) {
        return new Device(
                device.name(),
                offer,
                device.driver(),
                device.netdev().map(netdev -> netdev.name()),
                device.pciAddress(),
                device.numaNode(),
                identity.shares(),
                Optional.ofNullable(traffic.get(device.name())));
    }
}
