package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.DeviceReading.Unanswered;
import io.erdma.cli.DeviceReading.Unopened;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts;
import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Devices;
import io.erdma.doctor.Facts.Gid;
import io.erdma.doctor.Facts.GidKind;
import io.erdma.doctor.Facts.Libraries;
import io.erdma.doctor.Facts.Opening;
import io.erdma.doctor.Facts.Vantage;
import io.erdma.doctor.Facts.Wanted;
import io.erdma.doctor.Side;
import io.erdma.health.HealthCheck;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.NodeSources;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.pods.FallbackCauses.Offered;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Gathers the facts: each source is asked once, and none may hold up the others for long. Changes nothing. */
final class DoctorReader {
    /** For each source, and for each device: libibverbs alone waits up to 5 s for a node that it may not open. */
    static final Duration PATIENCE = Duration.ofSeconds(8);

    /** For all devices, of which several may hang. */
    private static final int PATIENCE_WITH_ALL = 6;

    /** Of its patience with one device, what each further one gets at least when others have used it up. */
    private static final int LEAST_PART = 8;

    /** A client that connects through a network, and its classes, take longer. */
    private static final Duration CLUSTER_PATIENCE = Duration.ofSeconds(20);

    private static final String NCCL = "NCCL_";

    private final DoctorPaths paths;
    private final DoctorSources sources;
    private final List<DeviceSelector> selectors;
    private final Map<String, String> environment;
    private final Duration patience;

    /**
     * @param environment of the process to judge
     * @param patience for each source, and for each device
     */
    DoctorReader(
            DoctorPaths paths,
            DoctorSources sources,
            List<DeviceSelector> selectors,
            Map<String, String> environment,
            Duration patience) {
        this.paths = requireNonNull(paths, "paths is null");
        this.sources = requireNonNull(sources, "sources is null");
        this.selectors = List.copyOf(selectors);
        this.environment = Map.copyOf(environment);
        this.patience = requireNonNull(patience, "patience is null");
    }

    /** @param insidePod whether the pod's side was asked for */
    Facts read(boolean insidePod, Wanted wanted, AgentReader agent) {
        return read(vantage(insidePod), "self", wanted, agent);
    }

    /** The side of a pod on this node, by one of its processes. */
    Facts readPod(PodProcess process, Wanted wanted, AgentReader agent) {
        Path root = paths.proc().resolve(Long.toString(process.pid())).resolve("root");
        DoctorPaths inside = new DoctorPaths(
                paths.sys(),
                root.resolve("dev"),
                root.resolve("etc"),
                paths.proc(),
                paths.modules(),
                paths.kubelet(),
                paths.logs());
        Map<String, String> variables = process.environment();
        DoctorSources of = new DoctorSources(
                sources.verbsLibrary(),
                VerbsFiles.below(root, Verbs.DEFAULT_LIBRARY, variables),
                sources.node(),
                sources.network(),
                sources.usage(),
                sources.allocatable(),
                sources.nodeObject(),
                sources.terway());
        return new DoctorReader(inside, of, selectors, variables, patience)
                .read(new Vantage(Side.OTHER_POD, process.describe()), Long.toString(process.pid()), wanted, agent);
    }

    private Facts read(Vantage vantage, String process, Wanted wanted, AgentReader agent) {
        KernelReader kernel = new KernelReader(paths);
        ProcessReader processes = new ProcessReader(paths.proc());
        Fact<NodeExplanation> explanation =
                ask(patience.multipliedBy(PATIENCE_WITH_ALL), "the RDMA devices", () -> Fact.known(explain()));
        return new Facts(
                vantage,
                wanted,
                ask("the kernel", kernel::kernel),
                ask("the PCI functions", kernel::erdmaFunctions),
                explanation.map(one -> Fact.known(devices(one))),
                explanation.map(DoctorReader::netnsMode),
                libraries(),
                ask("the network", sources.network()),
                ask("this process", () -> processes.locking(process)),
                ask("the processes", processes::services),
                environment.entrySet().stream()
                        .filter(variable -> variable.getKey().startsWith(NCCL))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
                ask("the kubelet", () -> KubeletReader.socket(paths.kubelet())),
                agent.readiness(),
                agent.offer(),
                agent.plans(),
                ask("the kubelet", sources.allocatable()),
                wanted.node()
                        .map(node -> ask(
                                CLUSTER_PATIENCE,
                                "the cluster",
                                () -> sources.nodeObject().apply(node)))
                        .orElseGet(() -> Fact.unknown("not asked")),
                wanted.node().isPresent()
                        ? ask(CLUSTER_PATIENCE, "the cluster", sources.terway())
                        : Fact.unknown("not asked"),
                ask("the pods", () -> sources.usage().apply(offered(explanation))),
                agent.queuePairBudgets());
    }

    private static List<Offered> offered(Fact<NodeExplanation> explanation) {
        return explanation.content().map(NodeExplanation::devices).orElse(List.of()).stream()
                .filter(device -> device.found().selected())
                .map(device -> new Offered(
                        device.name(),
                        device.found().device().rdmaCm() == RdmaCmUse.REQUIRED,
                        device.portState().map(state -> state == PortState.ACTIVE)))
                .toList();
    }

    private <T> Fact<T> ask(String what, Supplier<Fact<T>> question) {
        return ask(patience, what, question);
    }

    private static <T> Fact<T> ask(Duration limit, String what, Supplier<Fact<T>> question) {
        try {
            return Patience.within(limit, what, question).orElseGet(() -> late(what));
        } catch (IllegalStateException e) {
            // What nobody has foreseen of one source must not keep the others from being looked at.
            return Fact.unknown(what + " can't be read: " + e.getCause());
        }
    }

    private static <T> Fact<T> late(String what) {
        return Fact.unknown(what + " did not answer in time; the kernel log may say why");
    }

    private Vantage vantage(boolean asked) {
        List<String> uverbs = new SysfsTree(paths.sys())
                .uverbsDevices().stream().map(SysfsTree.UverbsClassDevice::name).toList();
        return VantageRule.decide(
                asked,
                Files.isDirectory(paths.kubelet().resolve("device-plugins")),
                uverbs,
                uverbs.stream()
                        .filter(name -> Files.exists(paths.node().infiniband().resolve(name)))
                        .toList(),
                environment.containsKey("KUBERNETES_SERVICE_HOST"));
    }

    private Libraries libraries() {
        VerbsFiles files = sources.files();
        return new Libraries(files.library(), files.version(), files.erdmaProvider());
    }

    private NodeExplanation explain() {
        List<DeviceReading> readings = new ArrayList<>();
        long start = System.nanoTime();
        try {
            Verbs verbs = Verbs.load(sources.verbsLibrary());
            DevinfoReader reader = new DevinfoReader(verbs, new SysfsTree(paths.sys()));
            for (VerbsDevice device : verbs.devices()) {
                Duration left = patience.minusNanos(System.nanoTime() - start);
                Duration least = patience.dividedBy(LEAST_PART);
                readings.add(Patience.within(
                                left.compareTo(least) > 0 ? left : least,
                                device.name(),
                                () -> reader.read(device, OptionalInt.empty(), true))
                        .orElseGet(() -> DeviceReading.late(device, patience)));
            }
        } catch (VerbsUnavailableException | NativeException e) {
            // The scan meets the same, and keeps it among its sources.
            readings.clear();
        }
        try (NodeSources node = sources.node().get()) {
            return new NodeExplainer(
                            node,
                            paths.node(),
                            selectors,
                            snapshot -> HealthCheck.once(snapshot, node, Clock.systemUTC(), patience))
                    .explain(readings);
        }
    }

    private static Optional<String> problem(NodeExplanation explanation, Source source) {
        return explanation.sources().stream()
                .filter(status -> status.source() == source)
                .findFirst()
                .flatMap(SourceStatus::problem);
    }

    private static Fact<NetnsMode> netnsMode(NodeExplanation explanation) {
        return explanation
                .netnsMode()
                .map(Fact::known)
                .orElseGet(() ->
                        Fact.unknown(problem(explanation, Source.RDMA_NETLINK).orElse("no answer")));
    }

    private Devices devices(NodeExplanation explanation) {
        return new Devices(
                explanation.devices().stream().map(DoctorReader::device).toList(),
                problem(explanation, Source.VERBS),
                explanation.rdmaCm().isPresent());
    }

    private static Device device(NodeExplanation.Device device) {
        Optional<DeviceReading> reading = device.reading();
        Optional<DeviceReading.Port> port = reading.map(DeviceReading::outcome)
                .filter(Answered.class::isInstance)
                .flatMap(outcome -> ((Answered) outcome).ports().stream().findFirst());
        NodeType type = device.found().device().nodeType();
        return new Device(
                device.found(),
                DeviceInventory.macOf(device.found().device().nodeGuid()),
                device.portState(),
                device.portSource().map(ExplainFormat::name),
                device.health().flatMap(DoctorReader::reason),
                device.link(),
                reading.map(DoctorReader::opening).orElse(new Opening.NotTried()),
                number(port, one -> 128 << one.attributes().activeMtu()),
                number(port, one -> one.attributes().gidTableLength()),
                device.gids().stream()
                        .filter(entry -> entry.port() == 1)
                        .map(entry -> gid(entry, type))
                        .toList());
    }

    private static OptionalInt number(Optional<DeviceReading.Port> port, Function<DeviceReading.Port, Integer> value) {
        return port.map(one -> OptionalInt.of(value.apply(one))).orElse(OptionalInt.empty());
    }

    private static Optional<String> reason(DeviceHealth health) {
        return health instanceof DeviceHealth.Unhealthy unhealthy ? Optional.of(unhealthy.reason()) : Optional.empty();
    }

    private static Opening opening(DeviceReading reading) {
        return switch (reading.outcome()) {
            case Answered _ -> new Opening.Opened();
            case Unanswered unanswered -> new Opening.Failed(unanswered.problem(), false);
            case Unopened unopened -> new Opening.Failed(unopened.problem(), unopened.refused());
        };
    }

    private static Gid gid(GidEntry entry, NodeType type) {
        boolean ipv4 = entry.gid().high() == 0 && entry.gid().low() >>> 32 == 0xffff;
        return new Gid(
                entry.index(), kind(entry, type), ExplainFormat.text(entry), GidText.isLinkLocal(entry.gid()), ipv4);
    }

    private static GidKind kind(GidEntry entry, NodeType type) {
        return switch (entry.type()) {
            case ROCE_V2 -> GidKind.ROCE_V2;
            case ROCE_V1 -> type == NodeType.RNIC ? GidKind.IWARP : GidKind.ROCE_V1;
            case IB -> type == NodeType.RNIC ? GidKind.IWARP : GidKind.INFINIBAND;
        };
    }
}
