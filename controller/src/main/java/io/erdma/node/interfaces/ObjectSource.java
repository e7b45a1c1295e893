package io.erdma.node.interfaces;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.netlink.MacAddress;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterClient;
import io.erdma.node.kube.ClusterException;
import io.erdma.node.kube.ErdmaDeviceWatch;
import io.erdma.node.kube.ErdmaDeviceWatch.Seen;
import io.erdma.node.net.WantedInterfaces;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** What the node's ERdmaDevice object names. */
final class ObjectSource implements InterfaceSource.Kind {
    private static final Log LOG = Log.of(ObjectSource.class);

    private final InterfaceSettings settings;
    private final Optional<ClusterAccess> cluster;
    private final MetadataFacts metadata;
    private final Runnable wakeUp;
    private final ErdmaDeviceWatch.Pace pace;
    private final String source;

    private Optional<Connection> connection = Optional.empty();
    private Set<MacAddress> macs = Set.of();
    /** Whether the object was there when it was last looked at. */
    private boolean present;

    private record Connection(ClusterClient client, ErdmaDeviceWatch watch) {}

    ObjectSource(
            InterfaceSettings settings,
            Optional<ClusterAccess> cluster,
            MetadataFacts metadata,
            Runnable wakeUp,
            ErdmaDeviceWatch.Pace pace) {
        this.settings = settings;
        this.cluster = cluster;
        this.metadata = metadata;
        this.wakeUp = wakeUp;
        this.pace = pace;
        this.source = "the ERdmaDevice object " + settings.nodeName();
    }

    @Override
    public InterfacesStatus initial() {
        return cluster.isPresent()
                ? nothing(false, "the ERdmaDevice object " + settings.nodeName() + " has not been read yet", List.of())
                : nothing(
                        true,
                        "no access to the cluster's API, where the ERdmaDevice object " + settings.nodeName()
                                + " is; give the agent's pod a service account, or use --local-eri-discovery",
                        List.of());
    }

    private InterfacesStatus nothing(boolean decided, String reason, List<String> problems) {
        return new InterfacesStatus(
                source, decided, new OfferedDevices.Nothing(reason), WantedInterfaces.NONE, problems);
    }

    @Override
    public InterfacesStatus turn(InterfaceSource.Publisher publisher) {
        if (cluster.isEmpty()) {
            return initial();
        }
        if (connection.isEmpty()) {
            try {
                ClusterClient client = ClusterClient.open(cluster.get());
                connection = Optional.of(
                        new Connection(client, new ErdmaDeviceWatch(client, settings.nodeName(), wakeUp, pace)));
            } catch (ClusterException e) {
                return unread(Optional.of(e.getMessage()));
            }
        }
        ErdmaDeviceWatch watch = connection.get().watch();
        watch.turn();
        List<String> problems = watch.problem().map(List::of).orElse(List.of());
        return switch (watch.seen()) {
            case Seen.NotYet() ->
                nothing(
                        false,
                        "the ERdmaDevice object " + settings.nodeName() + " could not be read yet"
                                + watch.problem().map(problem -> ": " + problem).orElse(""),
                        List.of());
            case Seen.Absent() -> absent(problems);
            case Seen.Present object -> present(object, problems, publisher);
        };
    }

    private InterfacesStatus unread(Optional<String> problem) {
        return nothing(
                false,
                "the ERdmaDevice object " + settings.nodeName() + " could not be read yet"
                        + problem.map(why -> ": " + why).orElse(""),
                List.of());
    }

    private InterfacesStatus absent(List<String> problems) {
        if (present) {
            present = false;
            LOG.warn(
                    "the ERdmaDevice object of this node was deleted: its devices are offered no longer; running pods"
                            + " keep what they have",
                    Field.of("node", settings.nodeName()));
        }
        macs = Set.of();
        return nothing(
                true,
                "there is no ERdmaDevice object " + settings.nodeName()
                        + "; a controller or a person has to write it, or use --local-eri-discovery",
                problems);
    }

    private InterfacesStatus present(Seen.Present object, List<String> problems, InterfaceSource.Publisher publisher) {
        present = true;
        AssignedInterfaces assigned = AssignedInterfaces.of(settings.nodeName(), object.spec(), object.status(), macs);
        macs = assigned.macs();
        publisher.publish(status(assigned, metadata.known(macs), problems));
        return status(assigned, metadata.read(macs), problems);
    }

    private InterfacesStatus status(AssignedInterfaces assigned, MetadataReading reading, List<String> more) {
        ManagedInterfaces managed = ManagedInterfaces.of(
                assigned.interfaces(),
                assigned.primary(),
                reading,
                assigned.jumboFrame() ? OptionalInt.of(settings.jumboFrameMtu()) : OptionalInt.empty());
        List<String> problems = new ArrayList<>(more);
        problems.addAll(assigned.problems());
        problems.addAll(reading.problems());
        problems.addAll(managed.problems());
        return new InterfacesStatus(
                source, true, assigned.offered(), managed.wanted(), assigned.queuePairs(), problems);
    }

    @Override
    public Duration due() {
        if (connection.isEmpty()) {
            return cluster.isPresent() ? pace.longest() : Duration.ofDays(1);
        }
        Duration look = connection.get().watch().due();
        Duration ask = metadata.due(macs);
        return look.compareTo(ask) < 0 ? look : ask;
    }

    @Override
    public void interrupt() {
        metadata.close();
    }

    @Override
    public void close() {
        metadata.close();
        connection.ifPresent(open -> {
            open.watch().close();
            open.client().close();
        });
    }
}
