package io.erdma.inventory;

import static java.util.stream.Collectors.toMap;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaCharacterDevice;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.RdmaPort;
import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Joins what libibverbs, RDMA netlink, sysfs and the links tell into one picture. Each source may be missing; then the
 * others answer, and the reason is kept. Safe for use from several threads.
 */
public final class DeviceInventory {
    private final NodeSources sources;
    private final NodePaths paths;
    private final List<DeviceSelector> selectors;

    // Devices whose driver some thread is asking right now. Another scan leaves them out, so that a driver that never
    // answers holds up one thread and hides no other device.
    private final Set<String> beingAsked = ConcurrentHashMap.newKeySet();

    /** @param selectors a device is ours when any of them chooses it; none given means {@link DeviceSelector#ERDMA} */
    public DeviceInventory(NodeSources sources, NodePaths paths, List<DeviceSelector> selectors) {
        this.sources = sources;
        this.paths = paths;
        this.selectors = selectors.isEmpty() ? List.of(DeviceSelector.ERDMA) : List.copyOf(selectors);
    }

    /** Devices that a scan under way is asking; one that stays here has a driver that doesn't answer. */
    public Set<String> beingAsked() {
        return Set.copyOf(beingAsked);
    }

    /** Never fails: what could not be had is told by {@link InventorySnapshot#sources}. */
    public InventorySnapshot scan() {
        List<SourceStatus> statuses = new ArrayList<>();
        Map<String, VerbsDevice> verbs = readVerbs(statuses);
        NetlinkAnswer netlink = readNetlink(statuses);
        SysfsAnswer sysfs = readSysfs(statuses);
        Optional<List<Link>> links = readLinks(statuses);

        Set<String> names = new TreeSet<>(verbs.keySet());
        names.addAll(netlink.devices().keySet());
        names.addAll(sysfs.devices().keySet());
        List<Found> found = new ArrayList<>();
        for (String name : names) {
            Facts facts = new Facts(
                    name,
                    Optional.ofNullable(verbs.get(name)),
                    Optional.ofNullable(netlink.devices().get(name)),
                    Optional.ofNullable(sysfs.devices().get(name)),
                    Optional.ofNullable(sysfs.uverbs().get(name)));
            found.add(join(facts, sysfs, links, statuses));
        }
        Path rdmaCm = NodePaths.onHost("rdma_cm");
        return new InventorySnapshot(
                found,
                statuses,
                Files.exists(paths.here(rdmaCm)) ? Optional.of(rdmaCm) : Optional.empty(),
                netlink.mode(),
                links);
    }

    private record NetlinkDevice(RdmaLink link, Optional<RdmaCharacterDevice> uverbs, List<RdmaPort> ports) {}

    private record NetlinkAnswer(Map<String, NetlinkDevice> devices, NetnsMode mode) {}

    private record SysfsAnswer(
            Map<String, RdmaClassDevice> devices,
            Map<String, UverbsClassDevice> uverbs,
            Optional<Boolean> compatMode,
            Function<String, OptionalInt> netdevNumaNode) {}

    /** All that the sources know of one device. */
    private record Facts(
            String name,
            Optional<VerbsDevice> verbs,
            Optional<NetlinkDevice> netlink,
            Optional<RdmaClassDevice> sysfs,
            Optional<UverbsClassDevice> sysfsUverbs) {
        NodeGuid guid() {
            return Stream.of(
                            verbs.map(VerbsDevice::guid),
                            netlink.map(device -> device.link().nodeGuid()),
                            sysfs.map(RdmaClassDevice::nodeGuid))
                    .flatMap(Optional::stream)
                    .filter(guid -> guid.value() != 0)
                    .findFirst()
                    .orElse(new NodeGuid(0));
        }

        NodeType type() {
            return Stream.of(
                            verbs.map(VerbsDevice::nodeType),
                            netlink.map(device -> device.link().nodeType()),
                            sysfs.map(RdmaClassDevice::nodeType))
                    .flatMap(Optional::stream)
                    .filter(type -> type != NodeType.UNKNOWN)
                    .findFirst()
                    .orElse(NodeType.UNKNOWN);
        }

        OptionalInt driverId() {
            return netlink.flatMap(NetlinkDevice::uverbs)
                    .map(RdmaCharacterDevice::driverId)
                    .filter(id -> id > 0)
                    .map(OptionalInt::of)
                    .orElse(OptionalInt.empty());
        }

        OptionalInt pciVendor() {
            return sysfs.map(RdmaClassDevice::pciVendor).orElse(OptionalInt.empty());
        }

        OptionalInt pciDevice() {
            return sysfs.map(RdmaClassDevice::pciDevice).orElse(OptionalInt.empty());
        }

        /** The kernel's number may have changed a moment ago, so those that read it last come last. */
        Optional<String> uverbsName() {
            return netlink.flatMap(NetlinkDevice::uverbs)
                    .map(RdmaCharacterDevice::name)
                    .or(() -> sysfsUverbs.map(UverbsClassDevice::name))
                    .or(() -> verbs.map(VerbsDevice::uverbsName))
                    .filter(name -> !name.isBlank());
        }

        OptionalInt abi() {
            return netlink.flatMap(NetlinkDevice::uverbs)
                    .map(device -> OptionalInt.of(device.abi()))
                    .orElseGet(() -> sysfsUverbs.map(UverbsClassDevice::abi).orElse(OptionalInt.empty()));
        }
    }

    private Map<String, VerbsDevice> readVerbs(List<SourceStatus> statuses) {
        try {
            Map<String, VerbsDevice> devices = sources.verbsDevices().stream()
                    .collect(toMap(VerbsDevice::name, Function.identity(), (first, second) -> first));
            statuses.add(new SourceStatus(Source.VERBS, Optional.empty()));
            return devices;
        } catch (VerbsUnavailableException | NativeException e) {
            statuses.add(new SourceStatus(Source.VERBS, Optional.of(oneLine(e))));
            return Map.of();
        }
    }

    private NetlinkAnswer readNetlink(List<SourceStatus> statuses) {
        Map<String, NetlinkDevice> devices = new HashMap<>();
        NetnsMode mode = NetnsMode.SHARED;
        try (NodeSources.RdmaSource rdma = sources.rdma()) {
            mode = rdma.netnsMode();
            for (RdmaLink link : rdma.devices()) {
                devices.putIfAbsent(link.name(), readNetlinkDevice(rdma, link));
            }
            statuses.add(new SourceStatus(Source.RDMA_NETLINK, Optional.empty()));
        } catch (NativeException e) {
            statuses.add(new SourceStatus(Source.RDMA_NETLINK, Optional.of(oneLine(e))));
        }
        return new NetlinkAnswer(devices, mode);
    }

    /** A device that answers only in part, for example because it is going away, is known in part. */
    private NetlinkDevice readNetlinkDevice(NodeSources.RdmaSource rdma, RdmaLink link) {
        Optional<RdmaCharacterDevice> uverbs;
        try {
            uverbs = rdma.characterDevice(link.index());
        } catch (NativeException e) {
            uverbs = Optional.empty();
        }
        if (!beingAsked.add(link.name())) {
            return new NetlinkDevice(link, uverbs, List.of());
        }
        try {
            return new NetlinkDevice(link, uverbs, rdma.ports(link.index()));
        } catch (NativeException e) {
            return new NetlinkDevice(link, uverbs, List.of());
        } finally {
            beingAsked.remove(link.name());
        }
    }

    private SysfsAnswer readSysfs(List<SourceStatus> statuses) {
        try {
            NodeSources.SysfsSource sysfs = sources.sysfs();
            SysfsAnswer answer = new SysfsAnswer(
                    sysfs.rdmaDevices().stream()
                            .collect(toMap(RdmaClassDevice::name, Function.identity(), (first, second) -> first)),
                    sysfs.uverbsDevices().stream()
                            .collect(toMap(
                                    UverbsClassDevice::rdmaDevice, Function.identity(), (first, second) -> first)),
                    sysfs.erdmaCompatMode(),
                    sysfs::netdevNumaNode);
            statuses.add(new SourceStatus(Source.SYSFS, Optional.empty()));
            return answer;
        } catch (IOException e) {
            statuses.add(new SourceStatus(Source.SYSFS, Optional.of("cannot read sysfs: " + oneLine(e))));
            return new SysfsAnswer(Map.of(), Map.of(), Optional.empty(), netdev -> OptionalInt.empty());
        }
    }

    private Optional<List<Link>> readLinks(List<SourceStatus> statuses) {
        try {
            List<Link> links = sources.links();
            statuses.add(new SourceStatus(Source.LINKS, Optional.empty()));
            return Optional.of(links);
        } catch (NativeException e) {
            statuses.add(new SourceStatus(Source.LINKS, Optional.of(oneLine(e))));
            return Optional.empty();
        }
    }

    private Found join(Facts facts, SysfsAnswer sysfs, Optional<List<Link>> links, List<SourceStatus> statuses) {
        Set<String> drivers = new HashSet<>();
        String driver = DriverNames.resolve(facts.driverId(), facts.sysfs().flatMap(RdmaClassDevice::driver), drivers);
        DeviceSelector.Candidate candidate = new DeviceSelector.Candidate(
                facts.name(), drivers, facts.driverId(), facts.pciVendor(), facts.pciDevice());
        boolean erdma = DeviceSelector.ERDMA.choose(candidate).isPresent();
        if (erdma) {
            driver = DriverNames.ERDMA;
        }
        Optional<String> choice = selectors.stream()
                .map(selector -> selector.choose(candidate))
                .flatMap(Optional::stream)
                .findFirst();

        Optional<Netdev> netdev = netdev(facts, links);
        OptionalInt numaNode = facts.sysfs().map(RdmaClassDevice::numaNode).orElse(OptionalInt.empty());
        if (numaNode.isEmpty() && netdev.isPresent()) {
            numaNode = sysfs.netdevNumaNode().apply(netdev.get().name());
        }
        Optional<Path> uverbs = facts.uverbsName().map(NodePaths::onHost);
        RdmaDevice device = new RdmaDevice(
                facts.name(),
                facts.guid(),
                facts.type(),
                driver,
                facts.sysfs().flatMap(RdmaClassDevice::pciAddress),
                netdev,
                uverbs,
                numaNode,
                rdmaCmUse(erdma, facts.type(), sysfs.compatMode()));
        return new Found(
                device,
                choice.isPresent(),
                choice.orElse("driver " + driver + " is not chosen by any device selector (" + selectorNames() + ")"),
                facts.verbs().isPresent(),
                facts.verbs().isPresent() ? Optional.empty() : Optional.of(whyNotInVerbs(facts, erdma, statuses)),
                uverbs.map(paths::here).filter(Files::exists).isPresent());
    }

    private String selectorNames() {
        return String.join(
                ", ", selectors.stream().map(DeviceSelector::toString).toList());
    }

    /** The module parameter exists only in the out-of-tree erdma driver; what it says is about no other driver. */
    private static RdmaCmUse rdmaCmUse(boolean erdma, NodeType type, Optional<Boolean> compatMode) {
        if (erdma && compatMode.isPresent()) {
            return compatMode.get() ? RdmaCmUse.UNUSED : RdmaCmUse.REQUIRED;
        }
        return type == NodeType.RNIC ? RdmaCmUse.REQUIRED : RdmaCmUse.IF_PRESENT;
    }

    private static Optional<Netdev> netdev(Facts facts, Optional<List<Link>> links) {
        for (RdmaPort port : facts.netlink().map(NetlinkDevice::ports).orElse(List.of())) {
            if (port.netdevIndex().isPresent()) {
                int index = port.netdevIndex().getAsInt();
                return links.orElse(List.of()).stream()
                        .filter(link -> link.index() == index)
                        .findFirst()
                        .map(DeviceInventory::netdev)
                        .or(() -> port.netdevName().map(name -> new Netdev(index, name, Optional.empty())));
            }
        }
        if (links.isEmpty()) {
            return Optional.empty();
        }
        List<String> named = facts.sysfs().map(RdmaClassDevice::netdevs).orElse(List.of());
        return links.get().stream()
                .filter(link -> named.contains(link.name()))
                .min(Comparator.comparingInt(Link::index))
                .or(() -> byGuid(facts.guid(), links.get()))
                .map(DeviceInventory::netdev);
    }

    /**
     * The driver makes a device's GUID from its interface's permanent address. An address in use may be shared by a
     * VLAN or a bond above it, so it counts only where no permanent one fits, and real interfaces come first.
     */
    private static Optional<Link> byGuid(NodeGuid guid, List<Link> links) {
        Optional<MacAddress> wanted = macOf(guid);
        if (wanted.isEmpty()) {
            return Optional.empty();
        }
        Comparator<Link> realFirst =
                Comparator.comparing((Link link) -> link.kind().isPresent()).thenComparingInt(Link::index);
        return links.stream()
                .filter(link -> link.permanentAddress().equals(wanted))
                .min(realFirst)
                .or(() -> links.stream()
                        .filter(link -> link.address().equals(wanted))
                        .min(realFirst));
    }

    /** The address in a GUID that is a MAC's EUI-64 with the universal/local bit flipped; others have none. */
    public static Optional<MacAddress> macOf(NodeGuid guid) {
        long value = guid.value();
        if (((value >>> 24) & 0xffff) != 0xfffe) {
            return Optional.empty();
        }
        long flipped = value ^ (0x02L << 56);
        return Optional.of(new MacAddress(((flipped >>> 40) << 24) | (flipped & 0xffffff)));
    }

    private static Netdev netdev(Link link) {
        return new Netdev(link.index(), link.name(), link.permanentAddress().or(link::address));
    }

    private String whyNotInVerbs(Facts facts, boolean erdma, List<SourceStatus> statuses) {
        Optional<String> problem = statuses.stream()
                .filter(status -> status.source() == Source.VERBS)
                .flatMap(status -> status.problem().stream())
                .findFirst();
        if (problem.isPresent()) {
            return problem.get();
        }
        if (facts.uverbsName().isEmpty()) {
            return "the kernel made no uverbs node for it; is the module ib_uverbs loaded?";
        }
        Path node = paths.infiniband().resolve(facts.uverbsName().get());
        if (Files.notExists(node)) {
            return node + " is missing; libibverbs leaves such a device out";
        }
        if (!Files.exists(node)) {
            return node + " cannot be examined: no permission";
        }
        if (Files.isRegularFile(node) || Files.isDirectory(node)) {
            return node + " is not a character device";
        }
        if (erdma) {
            if (Files.notExists(paths.providers().resolve("erdma.driver"))) {
                return paths.providers().resolve("erdma.driver")
                        + " is missing: install the erdma provider (ibverbs-providers 43 or newer)";
            }
            if (facts.abi().isPresent() && facts.abi().getAsInt() > DriverNames.NEWEST_ERDMA_ABI) {
                return "the kernel driver speaks ABI " + facts.abi().getAsInt() + ", the provider 0 to "
                        + DriverNames.NEWEST_ERDMA_ABI + ": install a newer rdma-core";
            }
        }
        return "libibverbs lists no such device: no provider for driver "
                + DriverNames.resolve(facts.driverId(), facts.sysfs().flatMap(RdmaClassDevice::driver), new HashSet<>())
                + ", or it has only just appeared";
    }

    private static String oneLine(Exception e) {
        String message = e.getMessage();
        return message == null
                ? e.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }
}
