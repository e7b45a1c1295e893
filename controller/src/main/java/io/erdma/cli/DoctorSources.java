package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.Network;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodeSources;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RtNetlink;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterClient;
import io.erdma.node.kube.ClusterException;
import io.erdma.node.kube.TerwayWhitelist;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.AllocatableShares;
import io.erdma.pods.FallbackCauses.Offered;
import io.erdma.pods.NetlinkObjects;
import io.erdma.pods.PodLogs;
import io.erdma.pods.PodShares;
import io.erdma.pods.ProcTree;
import io.erdma.pods.ProcessLimits;
import io.erdma.pods.UsageLook;
import io.erdma.pods.UsageReader;
import io.erdma.pods.UsageSnapshot;
import io.erdma.sysfs.SysfsTree;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What the doctor asks beside files.
 *
 * @param verbsLibrary name or path of libibverbs
 * @param files what is installed of it
 * @param node opens the sources of the inventory
 * @param network reads links, addresses and routes
 * @param usage who holds shares and who uses RDMA, of the devices named
 * @param allocatable what the kubelet could allocate, by device
 * @param nodeObject what the Node object of that name has of the resource
 * @param terway which interfaces the Terway network plugin takes
 */
record DoctorSources(
        String verbsLibrary,
        VerbsFiles files,
        Supplier<NodeSources> node,
        Supplier<Fact<Network>> network,
        Function<List<Offered>, Fact<UsageSnapshot>> usage,
        Supplier<Fact<Map<String, Integer>>> allocatable,
        Function<String, Fact<OptionalLong>> nodeObject,
        Supplier<Fact<TerwayWhitelist>> terway) {
    DoctorSources {
        requireNonNull(verbsLibrary, "verbsLibrary is null");
        requireNonNull(files, "files is null");
        requireNonNull(node, "node is null");
        requireNonNull(network, "network is null");
        requireNonNull(usage, "usage is null");
        requireNonNull(allocatable, "allocatable is null");
        requireNonNull(nodeObject, "nodeObject is null");
        requireNonNull(terway, "terway is null");
    }

    /** @param resource the extended resource that pods ask for */
    static DoctorSources live(
            String verbsLibrary, DoctorPaths paths, String resource, Map<String, String> environment) {
        return new DoctorSources(
                verbsLibrary,
                VerbsFiles.here(verbsLibrary, environment),
                () -> new LiveSources(verbsLibrary, paths.node()),
                DoctorSources::readNetwork,
                devices -> usage(paths, resource, devices),
                () -> allocatable(paths, resource),
                node -> nodeObject(node, resource, ClusterAccess.find(environment, ClusterAccess.SERVICE_ACCOUNT)),
                () -> terway(ClusterAccess.find(environment, ClusterAccess.SERVICE_ACCOUNT)));
    }

    static Fact<OptionalLong> nodeObject(String node, String resource, Optional<ClusterAccess> access) {
        return ask(access, client -> client.allocatable(node, resource));
    }

    static Fact<TerwayWhitelist> terway(Optional<ClusterAccess> access) {
        return ask(access, ClusterClient::terwayWhitelist);
    }

    @FunctionalInterface
    private interface Question<T> {
        T ask(ClusterClient client) throws ClusterException;
    }

    private static <T> Fact<T> ask(Optional<ClusterAccess> access, Question<T> question) {
        if (access.isEmpty()) {
            return Fact.unknown("there are no credentials here for the cluster's API");
        }
        try (ClusterClient client = ClusterClient.open(access.get())) {
            return Fact.known(question.ask(client));
        } catch (ClusterException e) {
            return Fact.unknown(e.getMessage());
        }
    }

    private static Fact<UsageSnapshot> usage(DoctorPaths paths, String resource, List<Offered> devices) {
        Set<String> names = devices.stream().map(Offered::device).collect(Collectors.toSet());
        try (UnixTransport transport = UnixTransport.open()) {
            UsageReader reader = new UsageReader(
                    NetlinkObjects::list,
                    new ProcTree(paths.proc()),
                    new SysfsTree(paths.sys()),
                    new PodLogs(paths.logs()),
                    new PodShares(transport, paths.kubelet(), resource)::list);
            return Fact.known(UsageLook.of(
                    reader.read(names::contains, true),
                    devices,
                    new UsageLook.Processes() {
                        @Override
                        public Optional<Instant> started(long pid) {
                            return ProcessHandle.of(pid)
                                    .flatMap(process -> process.info().startInstant());
                        }

                        @Override
                        public ProcessLimits limits(long pid) {
                            return reader.processes().limits(pid);
                        }
                    },
                    Clock.systemUTC().instant()));
        }
    }

    private static Fact<Map<String, Integer>> allocatable(DoctorPaths paths, String resource) {
        try (UnixTransport transport = UnixTransport.open()) {
            return switch (new AllocatableShares(transport, paths.kubelet(), resource).ask()) {
                case AllocatableShares.Answer.Known known -> Fact.known(known.perDevice());
                case AllocatableShares.Answer.Unreadable unreadable -> Fact.unknown(unreadable.reason());
            };
        }
    }

    private static Fact<Network> readNetwork() {
        try (RtNetlink netlink = RtNetlink.open()) {
            return Fact.known(new Network(netlink.links(), netlink.addresses(), netlink.routes()));
        } catch (NativeException e) {
            return Fact.unknown(e.getMessage());
        }
    }
}
