package io.erdma.doctor;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Devices;
import io.erdma.doctor.Facts.ErdmaModule;
import io.erdma.doctor.Facts.Gid;
import io.erdma.doctor.Facts.GidKind;
import io.erdma.doctor.Facts.Kernel;
import io.erdma.doctor.Facts.KubeletSocket;
import io.erdma.doctor.Facts.Libraries;
import io.erdma.doctor.Facts.Locking;
import io.erdma.doctor.Facts.MemoryLimit;
import io.erdma.doctor.Facts.Network;
import io.erdma.doctor.Facts.Offer;
import io.erdma.doctor.Facts.Opening;
import io.erdma.doctor.Facts.PciFunction;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import io.erdma.doctor.Facts.Vantage;
import io.erdma.doctor.Facts.Wanted;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.Route;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.kube.TerwayWhitelist;
import io.erdma.pods.UsageSnapshot;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Facts to judge: a healthy node with one eRDMA device in RoCE-compatible mode on eth1, in which a test changes what it
 * is about.
 */
final class Situation {
    static final int PRIMARY = 2;
    static final int SECONDARY = 3;

    Side side = Side.NODE;
    Optional<DriverMode> mode = Optional.empty();
    PortRange nodePorts = PortRange.NODE_PORTS;
    Fact<Kernel> kernel = kernel(Optional.of(module(Optional.of(true), true)), false);
    Fact<List<PciFunction>> functions = Fact.known(List.of(new PciFunction("0000:00:07.0", Optional.of("erdma"))));
    List<Device> devices = new ArrayList<>(List.of(device("erdma_0")));
    Optional<Fact<Devices>> devicesInstead = Optional.empty();
    boolean rdmaCm = true;
    Fact<NetnsMode> netns = Fact.known(NetnsMode.SHARED);
    Libraries libraries = libraries("1.14.44.0", true);
    List<Link> links = new ArrayList<>(List.of(link(PRIMARY, "eth0", true, 1500), link(SECONDARY, "eth1", true, 8500)));
    List<InterfaceAddress> addresses =
            new ArrayList<>(List.of(address(PRIMARY, "10.0.0.3/24"), address(SECONDARY, "10.0.0.4/24")));
    List<Route> routes = new ArrayList<>(List.of(
            route("0.0.0.0/0", PRIMARY, 100),
            route("10.0.0.0/24", PRIMARY, 100),
            route("0.0.0.0/0", SECONDARY, 200),
            route("10.0.0.0/24", SECONDARY, 200)));
    Optional<Fact<Network>> networkInstead = Optional.empty();
    Fact<Locking> locking = Fact.known(new Locking(MemoryLimit.UNLIMITED, false));
    Fact<Map<String, MemoryLimit>> services =
            Fact.known(Map.of("containerd", MemoryLimit.UNLIMITED, "kubelet", MemoryLimit.UNLIMITED));
    Map<String, String> nccl = new HashMap<>();
    Fact<KubeletSocket> kubelet =
            Fact.known(new KubeletSocket.Answers(Path.of("/var/lib/kubelet/device-plugins/kubelet.sock")));
    AgentAnswer agent = new AgentAnswer.Answered("http://127.0.0.1:9470/readyz", 200, List.of("ok"));

    Fact<Offer> offer = Fact.known(new Offer(200));
    Fact<List<Plan>> plans = Fact.known(List.of(
            new Plan(PlanState.INFO, "driver: in force ofed"),
            new Plan(PlanState.INFO, "cluster: 3 Events written, 0 dropped")));
    Fact<Map<String, Integer>> allocatable = Fact.known(Map.of("erdma_0", 200));
    Optional<String> node = Optional.empty();
    Fact<OptionalLong> nodeObject = Fact.known(OptionalLong.of(200));
    Fact<TerwayWhitelist> terway = Fact.known(new TerwayWhitelist.NoTerway());
    Fact<UsageSnapshot> use = use(List.of());
    Fact<Map<String, Integer>> queuePairBudgets = Fact.known(Map.of("erdma_0", 1024));

    static Fact<UsageSnapshot> use(List<String> problems, UsageSnapshot.Finding... findings) {
        return Fact.known(new UsageSnapshot(
                Instant.EPOCH,
                List.of(new UsageSnapshot.DeviceUse("erdma_0", 8, 0, OptionalInt.of(1))),
                List.of(),
                List.of(findings).stream()
                        .map(finding -> new UsageSnapshot.ShareHold(finding.container(), "erdma_0", 1))
                        .toList(),
                List.of(findings),
                problems));
    }

    Facts facts() {
        return new Facts(
                new Vantage(side, "the test says so"),
                new Wanted(mode, nodePorts, "aliyun/erdma", node),
                kernel,
                functions,
                devicesInstead.orElseGet(() -> Fact.known(new Devices(devices, Optional.empty(), rdmaCm))),
                netns,
                libraries,
                networkInstead.orElseGet(() -> Fact.known(new Network(links, addresses, routes))),
                locking,
                services,
                nccl,
                kubelet,
                agent,
                offer,
                plans,
                allocatable,
                nodeObject,
                terway,
                use,
                queuePairBudgets);
    }

    /** What one check says of one subject. */
    Finding only(String check) {
        List<Finding> findings = all(check);
        if (findings.size() != 1) {
            throw new AssertionError(check + " has " + findings.size() + " findings: " + findings);
        }
        return findings.getFirst();
    }

    List<Finding> all(String check) {
        return Report.of(facts()).rows().stream()
                .filter(row -> row.check().id().equals(check))
                .map(Report.Row::finding)
                .toList();
    }

    static Fact<Kernel> kernel(Optional<ErdmaModule> module, boolean gpu) {
        return Fact.known(new Kernel("6.1.0", module, Optional.of(true), gpu));
    }

    static ErdmaModule module(Optional<Boolean> compatMode, boolean outOfTree) {
        return new ErdmaModule(
                outOfTree ? Optional.of("0.2.37") : Optional.empty(), compatMode, outOfTree, OptionalInt.empty());
    }

    static Libraries libraries(String version, boolean provider) {
        Path directory = Path.of("/usr/lib/x86_64-linux-gnu");
        return new Libraries(
                Optional.of(directory.resolve("libibverbs.so." + version)),
                Optional.of(version),
                provider ? Optional.of(directory.resolve("libibverbs/liberdma-rdmav34.so")) : Optional.empty());
    }

    static Link link(int index, String name, boolean up, int mtu) {
        return new Link(
                index,
                name,
                up ? Link.IFF_UP | Link.IFF_LOWER_UP | Link.IFF_RUNNING : 0,
                mtu,
                up ? 6 : 2,
                Optional.of(up),
                Optional.of(mac(index)),
                Optional.of(mac(index)),
                Optional.empty(),
                Optional.empty());
    }

    static Link withoutCarrier(Link link) {
        return new Link(
                link.index(),
                link.name(),
                Link.IFF_UP,
                link.mtu(),
                2,
                Optional.of(false),
                link.address(),
                link.permanentAddress(),
                link.kind(),
                link.parentDevice());
    }

    static MacAddress mac(int index) {
        return new MacAddress(0x00163e000000L + index);
    }

    static InterfaceAddress address(int link, String prefix) {
        return new InterfaceAddress(link, IpPrefix.parse(prefix), InterfaceAddress.IFA_F_PERMANENT, 0);
    }

    static Route route(String destination, int link, long metric) {
        return Route.onLink(
                IpPrefix.parse(destination), link, IpPrefix.address("10.0.0.4"), Route.PROTOCOL_STATIC, metric);
    }

    static Found found(String name, String driver, NodeType type) {
        return new Found(
                new RdmaDevice(
                        name,
                        new NodeGuid(0x0216_3eff_fe00_0003L),
                        type,
                        driver,
                        Optional.of("0000:00:07.0"),
                        Optional.of(new Netdev(SECONDARY, "eth1", Optional.of(mac(SECONDARY)))),
                        Optional.of(Path.of("/dev/infiniband/uverbs0")),
                        OptionalInt.empty(),
                        type == NodeType.RNIC ? RdmaCmUse.REQUIRED : RdmaCmUse.UNUSED),
                true,
                "driver erdma",
                true,
                Optional.empty(),
                true);
    }

    static Found missingFromVerbs(Found found, String why) {
        return new Found(found.device(), found.selected(), found.why(), false, Optional.of(why), found.uverbsPresent());
    }

    static Found notSelected(Found found) {
        return new Found(
                found.device(),
                false,
                "driver mlx5_core is not chosen by any device selector (driver=erdma)",
                found.inVerbs(),
                found.missingFromVerbs(),
                found.uverbsPresent());
    }

    static Found withoutNode(Found found) {
        return new Found(
                found.device(),
                found.selected(),
                found.why(),
                false,
                Optional.of("/dev/infiniband/uverbs0 is missing; libibverbs leaves such a device out"),
                false);
    }

    /** Healthy, on eth1. */
    static Device device(String name) {
        return new Device(
                found(name, "erdma", NodeType.CA),
                Optional.of(mac(SECONDARY)),
                Optional.of(PortState.ACTIVE),
                Optional.of("verbs"),
                Optional.empty(),
                Optional.of(link(SECONDARY, "eth1", true, 8500)),
                new Opening.Opened(),
                OptionalInt.of(4096),
                OptionalInt.of(16),
                List.of(
                        new Gid(0, GidKind.ROCE_V2, "fe80::216:3eff:fe00:3", true, false),
                        new Gid(1, GidKind.ROCE_V2, "::ffff:10.0.0.4", false, true)));
    }

    static Device with(Device device, Found found) {
        return new Device(
                found,
                device.mac(),
                device.portState(),
                device.portSource(),
                device.portProblem(),
                device.link(),
                device.opening(),
                device.activeMtu(),
                device.gidSlots(),
                device.gids());
    }

    static Device with(Device device, Optional<PortState> state, Optional<Link> link) {
        return new Device(
                device.found(),
                device.mac(),
                state,
                state.isPresent() ? device.portSource() : Optional.empty(),
                state.isPresent() ? Optional.empty() : Optional.of("has not answered for 3 s"),
                link,
                device.opening(),
                device.activeMtu(),
                device.gidSlots(),
                device.gids());
    }

    static Device with(Device device, Opening opening) {
        return new Device(
                device.found(),
                device.mac(),
                device.portState(),
                device.portSource(),
                device.portProblem(),
                device.link(),
                opening,
                device.activeMtu(),
                device.gidSlots(),
                device.gids());
    }

    static Device withMtu(Device device, int bytes, int active) {
        return new Device(
                device.found(),
                device.mac(),
                device.portState(),
                device.portSource(),
                device.portProblem(),
                Optional.of(link(SECONDARY, "eth1", true, bytes)),
                device.opening(),
                OptionalInt.of(active),
                device.gidSlots(),
                device.gids());
    }

    static Device withGids(Device device, int slots, Gid... gids) {
        return new Device(
                device.found(),
                device.mac(),
                device.portState(),
                device.portSource(),
                device.portProblem(),
                device.link(),
                device.opening(),
                device.activeMtu(),
                OptionalInt.of(slots),
                List.of(gids));
    }
}
