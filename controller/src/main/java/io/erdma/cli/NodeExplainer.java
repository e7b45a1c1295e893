package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.NodeExplanation.Device;
import io.erdma.cli.NodeExplanation.DriverKind;
import io.erdma.health.MonitorStatus;
import io.erdma.health.MonitorStatus.DeviceStatus;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodePaths;
import io.erdma.inventory.NodeSources;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.sysfs.SysfsGids;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.GidEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Looks once at everything that the agent looks at, and keeps why it would do what it does. Changes nothing. */
final class NodeExplainer {
    private static final String ERDMA = "erdma";
    private static final Duration SCAN_PATIENCE = Duration.ofSeconds(3);

    private final NodeSources sources;
    private final NodePaths paths;
    private final DeviceInventory inventory;
    private final Function<InventorySnapshot, MonitorStatus> health;

    /** @param health one look by the agent's rules, see {@link io.erdma.health.HealthCheck} */
    NodeExplainer(
            NodeSources sources,
            NodePaths paths,
            List<DeviceSelector> selectors,
            Function<InventorySnapshot, MonitorStatus> health) {
        this.sources = requireNonNull(sources, "sources is null");
        this.paths = requireNonNull(paths, "paths is null");
        this.inventory = new DeviceInventory(sources, paths, selectors);
        this.health = requireNonNull(health, "health is null");
    }

    /** A second scan leaves out the device whose driver let the first one wait. */
    InventorySnapshot scan() {
        return Patience.within(SCAN_PATIENCE, "devices", inventory::scan)
                .or(() -> Patience.within(SCAN_PATIENCE, "devices", inventory::scan))
                .orElseGet(NodeExplainer::unanswered);
    }

    private static InventorySnapshot unanswered() {
        Optional<String> problem =
                Optional.of("did not answer within " + SCAN_PATIENCE.toSeconds() + " s; see the kernel log");
        return new InventorySnapshot(
                List.of(),
                Stream.of(Source.values())
                        .map(source -> new SourceStatus(source, problem))
                        .toList(),
                Optional.empty(),
                NetnsMode.SHARED,
                Optional.empty());
    }

    /** @param readings what libibverbs answered about the devices that it lists */
    NodeExplanation explain(List<DeviceReading> readings) {
        InventorySnapshot snapshot = scan();
        MonitorStatus status = health.apply(snapshot);
        Optional<Boolean> compatMode = new SysfsTree(paths.sys()).erdmaCompatMode();
        List<Link> links = links();
        List<Device> devices = new ArrayList<>();
        for (Found found : snapshot.devices()) {
            String name = found.device().name();
            Optional<DeviceStatus> judged = status.devices().stream()
                    .filter(device -> device.device().name().equals(name))
                    .findFirst();
            Optional<DeviceReading> reading = readings.stream()
                    .filter(one -> one.device().name().equals(name))
                    .findFirst();
            devices.add(new Device(
                    found,
                    driverKind(found, compatMode),
                    judged.map(DeviceStatus::health),
                    judged.flatMap(DeviceStatus::portState),
                    judged.flatMap(DeviceStatus::source),
                    found.device()
                            .netdev()
                            .flatMap(netdev -> links.stream()
                                    .filter(link -> link.index() == netdev.index())
                                    .findFirst()),
                    reading,
                    gids(name, reading)));
        }
        return new NodeExplanation(
                snapshot.usable(Source.RDMA_NETLINK) ? Optional.of(snapshot.netnsMode()) : Optional.empty(),
                compatMode,
                snapshot.rdmaCm(),
                snapshot.sources(),
                devices);
    }

    private static DriverKind driverKind(Found found, Optional<Boolean> compatMode) {
        if (!found.device().driver().equals(ERDMA)) {
            return DriverKind.OTHER;
        }
        return compatMode.isPresent() ? DriverKind.OUT_OF_TREE : DriverKind.MODE_UNKNOWN;
    }

    private List<Link> links() {
        try {
            return sources.links();
        } catch (NativeException unusable) {
            // The scan has met the same and lists it among the sources.
            return List.of();
        }
    }

    /** A pod sees all devices in sysfs but may open only its own. */
    private List<GidEntry> gids(String name, Optional<DeviceReading> reading) {
        if (reading.map(DeviceReading::outcome).orElse(null) instanceof Answered answered
                && answered.failure().isEmpty()) {
            return answered.ports().stream()
                    .flatMap(port -> port.gids().stream())
                    .toList();
        }
        SysfsGids sysfs = new SysfsGids(paths.sys());
        return new SysfsTree(paths.sys())
                .rdmaDevices().stream()
                        .filter(device -> device.name().equals(name))
                        .flatMap(device -> device.ports().stream())
                        .flatMap(port -> sysfs.filled(name, port).stream())
                        .toList();
    }
}
