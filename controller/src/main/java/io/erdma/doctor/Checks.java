package io.erdma.doctor;

import static io.erdma.doctor.Side.NODE;
import static io.erdma.doctor.Side.OTHER_POD;
import static io.erdma.doctor.Side.POD;

import java.util.List;
import java.util.Set;

/** The table of all checks. */
public final class Checks {
    private static final Set<Side> ALL_SIDES = Set.of(NODE, POD, OTHER_POD);
    private static final Set<Side> ON_THE_NODE = Set.of(NODE);
    private static final Set<Side> OF_A_POD = Set.of(POD, OTHER_POD);

    /** What is tried out, as whoever asks would do it. */
    private static final Set<Side> OF_THIS_PROCESS = Set.of(NODE, POD);

    /** In the order of the operator's path: what comes later rests on what comes first. */
    public static final List<Check> ALL = List.of(
            new Check("pci-function", "PCI function", ON_THE_NODE, DriverChecks::pciFunction),
            new Check("driver", "driver", ALL_SIDES, DriverChecks::driver),
            new Check("driver-mode", "driver mode", ALL_SIDES, DriverChecks::mode),
            new Check("granted-devices", "granted devices", OF_A_POD, DeviceChecks::granted),
            new Check("rdma-devices", "RDMA devices", OF_THIS_PROCESS, DeviceChecks::devices),
            new Check("netns-mode", "RDMA namespace mode", ALL_SIDES, DeviceChecks::netnsMode),
            new Check("verbs-library", "verbs library", ALL_SIDES, DriverChecks::library),
            new Check("uverbs-node", "device node", OF_THIS_PROCESS, DeviceChecks::uverbsNode),
            new Check("rdma-cm", "rdma_cm", ALL_SIDES, DeviceChecks::rdmaCm),
            new Check("port", "port", ALL_SIDES, DeviceChecks::port),
            new Check("interface", "interface", ON_THE_NODE, NetworkChecks::netdev),
            new Check("mtu", "MTU", ALL_SIDES, NetworkChecks::mtu),
            new Check("address", "address", ON_THE_NODE, NetworkChecks::address),
            new Check("routes", "routes", ON_THE_NODE, NetworkChecks::routes),
            new Check("terway", "Terway", ON_THE_NODE, NetworkChecks::terway),
            new Check("reserved-ports", "reserved ports", ON_THE_NODE, DriverChecks::reservedPorts),
            new Check("locked-memory", "locked memory", ALL_SIDES, ProcessChecks::lockedMemory),
            new Check("service-memory", "locked memory of services", ON_THE_NODE, ProcessChecks::serviceMemory),
            new Check("gid-index", "NCCL_IB_GID_INDEX", ALL_SIDES, GidChecks::gidIndex),
            new Check("nccl-variables", "NCCL variables", ALL_SIDES, VariableChecks::variables),
            new Check("kubelet-socket", "kubelet socket", ON_THE_NODE, KubeletChecks::socket),
            new Check("agent", "agent", ON_THE_NODE, KubeletChecks::agent),
            new Check("agent-plans", "plans of the agent", ON_THE_NODE, KubeletChecks::plans),
            new Check("allocatable", "allocatable", ON_THE_NODE, PodChecks::allocatable),
            new Check("node-object", "Node object", ON_THE_NODE, PodChecks::nodeObject),
            new Check("pods", "pods", ON_THE_NODE, PodChecks::use),
            new Check("queue-pairs", "queue pairs", ON_THE_NODE, ClusterChecks::queuePairs),
            new Check("events", "Events for the cluster", ON_THE_NODE, ClusterChecks::reports));

    private Checks() {}
}
