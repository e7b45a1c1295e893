package io.erdma.doctor;

import static io.erdma.doctor.Side.NODE;
import static io.erdma.doctor.Side.POD;

import java.util.List;
import java.util.Set;

/** The table of all checks. */
public final class Checks {
    private static final Set<Side> BOTH = Set.of(NODE, POD);
    private static final Set<Side> ON_THE_NODE = Set.of(NODE);
    private static final Set<Side> IN_A_POD = Set.of(POD);

    /** In the order of the operator's path: what comes later rests on what comes first. */
    public static final List<Check> ALL = List.of(
            new Check("pci-function", "PCI function", ON_THE_NODE, DriverChecks::pciFunction),
            new Check("driver", "driver", BOTH, DriverChecks::driver),
            new Check("driver-mode", "driver mode", BOTH, DriverChecks::mode),
            new Check("granted-devices", "granted devices", IN_A_POD, DeviceChecks::granted),
            new Check("rdma-devices", "RDMA devices", BOTH, DeviceChecks::devices),
            new Check("netns-mode", "RDMA namespace mode", BOTH, DeviceChecks::netnsMode),
            new Check("verbs-library", "verbs library", BOTH, DriverChecks::library),
            new Check("uverbs-node", "device node", BOTH, DeviceChecks::uverbsNode),
            new Check("rdma-cm", "rdma_cm", BOTH, DeviceChecks::rdmaCm),
            new Check("port", "port", BOTH, DeviceChecks::port),
            new Check("interface", "interface", ON_THE_NODE, NetworkChecks::netdev),
            new Check("mtu", "MTU", BOTH, NetworkChecks::mtu),
            new Check("address", "address", ON_THE_NODE, NetworkChecks::address),
            new Check("routes", "routes", ON_THE_NODE, NetworkChecks::routes),
            new Check("reserved-ports", "reserved ports", ON_THE_NODE, DriverChecks::reservedPorts),
            new Check("locked-memory", "locked memory", BOTH, ProcessChecks::lockedMemory),
            new Check("service-memory", "locked memory of services", ON_THE_NODE, ProcessChecks::serviceMemory),
            new Check("gid-index", "NCCL_IB_GID_INDEX", BOTH, GidChecks::gidIndex),
            new Check("nccl-variables", "NCCL variables", BOTH, VariableChecks::variables),
            new Check("kubelet-socket", "kubelet socket", ON_THE_NODE, KubeletChecks::socket),
            new Check("agent", "agent", ON_THE_NODE, KubeletChecks::agent),
            new Check("allocatable", "allocatable", ON_THE_NODE, PodChecks::allocatable),
            new Check("pods", "pods", ON_THE_NODE, PodChecks::use));

    private Checks() {}
}
