package io.erdma.node.interfaces;

import io.erdma.device.RdmaDevice;
import io.erdma.log.Quote;
import io.erdma.netlink.MacAddress;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterClient;
import io.erdma.node.kube.ClusterException;
import io.erdma.node.net.WantedInterfaces;
import io.erdma.plugin.BackOff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The node's own devices, by rules. */
final class LocalSource implements InterfaceSource.Kind {
    private static final String SOURCE = "local discovery";

    private final InterfaceSettings settings;
    private final Optional<ClusterAccess> cluster;
    private final Supplier<List<RdmaDevice>> found;
    private final MetadataFacts metadata;
    private final OptionalInt mtu;
    private final BackOff pauses = new BackOff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private InstanceIdentity identity = new InstanceIdentity.Unknown("not asked for yet");
    private long nextAsk = System.nanoTime();
    private Set<MacAddress> macs = Set.of();

    LocalSource(
            InterfaceSettings settings,
            Optional<ClusterAccess> cluster,
            Supplier<List<RdmaDevice>> found,
            MetadataFacts metadata) {
        this.settings = settings;
        this.cluster = cluster;
        this.found = found;
        this.metadata = metadata;
        this.mtu = settings.jumboFrameMtuGiven() ? OptionalInt.of(settings.jumboFrameMtu()) : OptionalInt.empty();
    }

    @Override
    public InterfacesStatus initial() {
        return status(WantedInterfaces.NONE, List.of());
    }

    private InterfacesStatus status(WantedInterfaces wanted, List<String> problems) {
        String source = identity instanceof InstanceIdentity.Known(String id, String teller)
                ? SOURCE + " on " + id + ", by " + teller
                : SOURCE;
        return new InterfacesStatus(source, !identityIsWanted(), offered(), wanted, problems);
    }

    private OfferedDevices offered() {
        return OfferedDevices.byRules(settings.rules(), identity);
    }

    private boolean identityIsWanted() {
        return settings.rules().nameInstances() && identity instanceof InstanceIdentity.Unknown;
    }

    @Override
    public InterfacesStatus turn(InterfaceSource.Publisher publisher) {
        if (identityIsWanted() && System.nanoTime() - nextAsk >= 0) {
            identity = identify();
            nextAsk = System.nanoTime() + pauses.next().toNanos();
        }
        OfferedDevices offered = offered();
        List<RdmaDevice> devices = found.get();
        List<Candidate> candidates = LocalDiscovery.candidates(devices, offered);
        macs = candidates.stream().map(Candidate::mac).collect(Collectors.toUnmodifiableSet());
        List<String> unclear = LocalDiscovery.problems(devices, offered);
        publisher.publish(status(candidates, unclear, metadata.known(macs)));
        return status(candidates, unclear, metadata.read(macs));
    }

    private InterfacesStatus status(List<Candidate> candidates, List<String> unclear, MetadataReading reading) {
        ManagedInterfaces managed = ManagedInterfaces.of(candidates, Optional.empty(), reading, mtu);
        List<String> problems = new ArrayList<>(unclear);
        problems.addAll(reading.problems());
        problems.addAll(managed.problems());
        return status(managed.wanted(), problems);
    }

    /** The Node object first, since the cluster's word is what the rules were written by. */
    private InstanceIdentity identify() {
        List<String> reasons = new ArrayList<>();
        if (cluster.isPresent()) {
            try (ClusterClient client = ClusterClient.open(cluster.get())) {
                Optional<String> providerId = client.providerId(settings.nodeName());
                Optional<String> id = providerId.flatMap(InstanceIdentity::inProviderId);
                if (id.isPresent()) {
                    return new InstanceIdentity.Known(id.get(), "the Node object's providerID");
                }
                reasons.add("the Node object " + settings.nodeName() + " has "
                        + providerId
                                .map(text -> "the providerID " + Quote.of(text))
                                .orElse("no providerID"));
            } catch (ClusterException e) {
                reasons.add(e.getMessage());
            }
        }
        try {
            return new InstanceIdentity.Known(metadata.instanceId(), "the metadata service");
        } catch (MetadataException e) {
            reasons.add(e.getMessage());
        }
        return new InstanceIdentity.Unknown(String.join("; ", reasons));
    }

    @Override
    public Duration due() {
        Duration metadataDue = metadata.due(macs);
        if (!identityIsWanted()) {
            return metadataDue;
        }
        Duration ask = Duration.ofNanos(Math.max(0, nextAsk - System.nanoTime()));
        return ask.compareTo(metadataDue) < 0 ? ask : metadataDue;
    }

    @Override
    public void interrupt() {
        metadata.close();
    }

    @Override
    public void close() {
        metadata.close();
    }
}
