package io.erdma.doctor;

import static java.util.Objects.requireNonNull;

import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.Route;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.kube.TerwayWhitelist;
import io.erdma.pods.UsageSnapshot;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * All that the checks rest on, gathered once.
 *
 * @param pciFunctions the eRDMA functions (1ded:107f) among all PCI functions
 * @param network of this network namespace
 * @param services memory that container runtimes and the kubelet may lock, by the name of their process
 * @param nccl the variables of the environment whose names begin with NCCL_
 * @param plans what the agent is about to do, as it says
 * @param allocatable healthy shares that the kubelet knows, by device
 * @param nodeObject how much of the resource the Node object has; empty when it does not know the resource
 * @param terway which interfaces the Terway network plugin takes
 * @param use who holds shares, and who uses RDMA
 * @param queuePairBudgets how many queue pairs each device may have, as far as the agent knows
 */
public record Facts(
        Vantage vantage,
        Wanted wanted,
        Fact<Kernel> kernel,
        Fact<List<PciFunction>> pciFunctions,
        Fact<Devices> devices,
        Fact<NetnsMode> netnsMode,
        Libraries libraries,
        Fact<Network> network,
        Fact<Locking> locking,
        Fact<Map<String, MemoryLimit>> services,
        Map<String, String> nccl,
        Fact<KubeletSocket> kubelet,
        AgentAnswer agent,
        Fact<Offer> offer,
        Fact<List<Plan>> plans,
        Fact<Map<String, Integer>> allocatable,
        Fact<OptionalLong> nodeObject,
        Fact<TerwayWhitelist> terway,
        Fact<UsageSnapshot> use,
        Fact<Map<String, Integer>> queuePairBudgets) {
    /** @param why how it was found out, or that it was asked for */
    public record Vantage(Side side, String why) {
        public Vantage {
            requireNonNull(side, "side is null");
            requireNonNull(why, "why is null");
        }
    }

    /**
     * What the operator asked for.
     *
     * @param mode absent when nobody told the doctor
     * @param nodePorts of the cluster
     * @param resource the extended resource that pods ask for
     * @param node name of the Node object to compare with; absent: none is
     */
    public record Wanted(Optional<DriverMode> mode, PortRange nodePorts, String resource, Optional<String> node) {}

    /**
     * The kernel.
     *
     * @param release as {@code uname -r} prints it
     * @param module the loaded module erdma
     * @param moduleInstalled whether modprobe would find it; absent when that can't be told from here
     * @param gpuDriver whether NVIDIA's driver is loaded
     */
    public record Kernel(
            String release, Optional<ErdmaModule> module, Optional<Boolean> moduleInstalled, boolean gpuDriver) {}

    /**
     * The loaded module erdma.
     *
     * @param compatMode its parameter, which the kernel's own driver has not
     * @param outOfTree whether it came from elsewhere than the kernel
     * @param reservedPortsBase the parameter reserve_ports_base
     */
    public record ErdmaModule(
            Optional<String> version, Optional<Boolean> compatMode, boolean outOfTree, OptionalInt reservedPortsBase) {}

    /**
     * Links, addresses and routes of the main table, of both address families.
     */
    public record Network(List<Link> links, List<InterfaceAddress> addresses, List<Route> routes) {
        public Network {
            links = List.copyOf(links);
            addresses = List.copyOf(addresses);
            routes = List.copyOf(routes);
        }

        String nameOf(int link) {
            return links.stream()
                    .filter(one -> one.index() == link)
                    .map(Link::name)
                    .findFirst()
                    .orElse("interface " + link);
        }
    }

    /** @param driver bound to it */
    public record PciFunction(String address, Optional<String> driver) {}

    /**
     * The RDMA devices, eRDMA or not.
     *
     * @param verbsProblem why libibverbs could not be asked at all
     * @param rdmaCm whether /dev/infiniband/rdma_cm exists
     */
    public record Devices(List<Device> all, Optional<String> verbsProblem, boolean rdmaCm) {
        public Devices {
            all = List.copyOf(all);
        }

        /** Those that the agent would offer. */
        public List<Device> selected() {
            return all.stream().filter(device -> device.found().selected()).toList();
        }
    }

    /** Whether libibverbs could open a device. */
    public sealed interface Opening {
        record Opened() implements Opening {}

        /** @param refused whether it was this process that may not, and not the device that could not */
        record Failed(String why, boolean refused) implements Opening {}

        /** libibverbs does not list it, or was not asked. */
        record NotTried() implements Opening {}
    }

    /**
     * One device.
     *
     * @param mac of the interface that it belongs to, as its GUID tells
     * @param portState of port 1; absent when no source told
     * @param portSource that source, as it is named for people
     * @param portProblem why none did
     * @param link the bound interface in this namespace
     * @param activeMtu bytes of payload in a packet, 256 to 4096
     * @param gidSlots how long the GID table is
     * @param gids its filled slots
     */
    public record Device(
            Found found,
            Optional<MacAddress> mac,
            Optional<PortState> portState,
            Optional<String> portSource,
            Optional<String> portProblem,
            Optional<Link> link,
            Opening opening,
            OptionalInt activeMtu,
            OptionalInt gidSlots,
            List<Gid> gids) {
        public Device {
            gids = List.copyOf(gids);
        }

        public String name() {
            return found.device().name();
        }

        boolean isErdma() {
            return found.device().driver().equals("erdma");
        }
    }

    /** What kind of address a GID is. */
    public enum GidKind {
        /** The hardware address of an iWARP device, and the only one that it has. */
        IWARP,
        ROCE_V1,
        ROCE_V2,
        INFINIBAND
    }

    /**
     * A filled slot of a GID table.
     *
     * @param text as people read it
     * @param ipv4 whether it holds an IPv4 address
     */
    public record Gid(int index, GidKind kind, String text, boolean linkLocal, boolean ipv4) {}

    /**
     * The RDMA libraries of this machine or image.
     *
     * @param library the file of libibverbs
     * @param version of that file, for example 1.14.44.0
     * @param provider the file of the erdma provider
     */
    public record Libraries(Optional<Path> library, Optional<String> version, Optional<Path> provider) {}

    /** @param bytes absent: as much as there is */
    public record MemoryLimit(OptionalLong bytes) {
        public static final MemoryLimit UNLIMITED = new MemoryLimit(OptionalLong.empty());
    }

    /**
     * How much memory a process may lock.
     *
     * @param exempt whether it has the capability IPC_LOCK, to which the limit does not apply
     */
    public record Locking(MemoryLimit limit, boolean exempt) {}

    /** The kubelet's socket for device plugins. */
    public sealed interface KubeletSocket {
        Path path();

        record Answers(Path path) implements KubeletSocket {}

        record Missing(Path path) implements KubeletSocket {}

        record Refuses(Path path, String why) implements KubeletSocket {}
    }

    /** What the agent of this node says of itself. */
    public sealed interface AgentAnswer {
        /** @param lines of its answer, one for each condition that does not hold */
        record Answered(String url, int status, List<String> lines) implements AgentAnswer {
            public Answered {
                lines = List.copyOf(lines);
            }
        }

        record Silent(String url, String why) implements AgentAnswer {}

        record NotAsked(String why) implements AgentAnswer {}
    }

    /**
     * What the agent says that it offers to the kubelet.
     *
     * @param healthyShares shares of healthy devices
     */
    public record Offer(int healthyShares) {}

    /** How something that the agent plans stands; what comes later weighs more. */
    public enum PlanState {
        INFO,
        /** Is to be changed at the next opportunity, or only would be. */
        PLANNED,
        /** Has to wait. */
        PENDING,
        WARNING,
        /** Failed, or can't be done. */
        PROBLEM
    }

    /** @param text one line, in the agent's words */
    public record Plan(PlanState state, String text) {
        public Plan {
            requireNonNull(state, "state is null");
            requireNonNull(text, "text is null");
        }
    }

    public Facts {
        requireNonNull(vantage, "vantage is null");
        requireNonNull(wanted, "wanted is null");
        requireNonNull(kernel, "kernel is null");
        requireNonNull(pciFunctions, "pciFunctions is null");
        requireNonNull(devices, "devices is null");
        requireNonNull(netnsMode, "netnsMode is null");
        requireNonNull(libraries, "libraries is null");
        requireNonNull(network, "network is null");
        requireNonNull(locking, "locking is null");
        requireNonNull(services, "services is null");
        nccl = Map.copyOf(new TreeMap<>(nccl));
        requireNonNull(kubelet, "kubelet is null");
        requireNonNull(agent, "agent is null");
        requireNonNull(offer, "offer is null");
        requireNonNull(plans, "plans is null");
        requireNonNull(allocatable, "allocatable is null");
        requireNonNull(nodeObject, "nodeObject is null");
        requireNonNull(terway, "terway is null");
        requireNonNull(use, "use is null");
        requireNonNull(queuePairBudgets, "queuePairBudgets is null");
    }
}
