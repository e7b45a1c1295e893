package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaDevice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * Chooses shares among those the kubelet offers. One share comes from the device with the fewest in use; several come
 * from as many devices as there are, on one NUMA node where it can be. The kubelet has narrowed the offer to a NUMA node
 * already when the Topology Manager asked it to.
 *
 * <p>Its answer is advice and an error would fail the pod, so it answers everything: too large a request with all there
 * is, unknown ids like those of a device without shares to spare.
 */
public final class PreferredAllocation {
    private final PluginSettings settings;

    public PreferredAllocation(PluginSettings settings) {
        this.settings = requireNonNull(settings, "settings is null");
    }

    /**
     * @param available ids that are free, and those of {@code mustInclude}
     * @param mustInclude ids that the container has already; all of them are in the answer
     * @param size how many ids the answer has: fewer if there are fewer, more if {@code mustInclude} has more
     */
    public List<String> choose(
            Collection<String> available, Collection<String> mustInclude, int size, AdvertisedDevices offer) {
        Map<String, Candidate> candidates = new TreeMap<>();
        Set<String> must = new HashSet<>(mustInclude);
        for (String id : new HashSet<>(available)) {
            if (!must.contains(id)) {
                candidate(id, candidates, offer).free.add(Share.of(id));
            }
        }
        List<Share> held = new ArrayList<>();
        for (String id : must) {
            held.add(Share.of(id));
            candidate(id, candidates, offer).chosen++;
        }
        held.sort(Share.ORDER);

        Set<String> answer = new LinkedHashSet<>();
        held.forEach(share -> answer.add(share.id));
        Collection<Candidate> healthy = candidates.values().stream()
                .filter(candidate -> candidate.healthy)
                .toList();
        Collection<Candidate> others = candidates.values().stream()
                .filter(candidate -> !candidate.healthy)
                .toList();
        spread(healthy, candidates.values(), size, answer);
        spread(others, candidates.values(), size, answer);
        return List.copyOf(answer);
    }

    /** Adds shares, each time from the devices that have the fewest in the answer, until it has the size. */
    private void spread(Collection<Candidate> devices, Collection<Candidate> all, int size, Set<String> answer) {
        List<Candidate> left = new ArrayList<>(devices);
        left.forEach(Candidate::sort);
        left.removeIf(candidate -> candidate.free.isEmpty());
        while (answer.size() < size && !left.isEmpty()) {
            int fewest =
                    left.stream().mapToInt(candidate -> candidate.chosen).min().getAsInt();
            List<Candidate> level = left.stream()
                    .filter(candidate -> candidate.chosen == fewest)
                    .toList();
            for (Candidate candidate : order(level, all, size - answer.size())) {
                if (answer.size() == size) {
                    break;
                }
                answer.add(candidate.take());
            }
            left.removeIf(candidate -> candidate.free.isEmpty());
        }
    }

    /** The devices by the order in which to take one share from each, if {@code wanted} are wanted. */
    private List<Candidate> order(List<Candidate> level, Collection<Candidate> all, int wanted) {
        Comparator<Candidate> leastUsed =
                Comparator.comparingInt(this::used).thenComparing(candidate -> candidate.name);
        Map<Integer, Group> byNode = new HashMap<>();
        List<Group> groups = new ArrayList<>();
        for (Candidate candidate : level.stream().sorted(leastUsed).toList()) {
            Group group;
            if (candidate.numaNode.isPresent()) {
                group = byNode.get(candidate.numaNode.getAsInt());
                if (group == null) {
                    group = new Group();
                    byNode.put(candidate.numaNode.getAsInt(), group);
                    groups.add(group);
                }
            } else {
                // Nothing says that it is near any other device.
                group = new Group();
                groups.add(group);
            }
            group.devices.add(candidate);
        }
        for (Candidate candidate : all) {
            if (candidate.numaNode.isPresent()) {
                Group group = byNode.get(candidate.numaNode.getAsInt());
                if (group != null) {
                    group.chosen += candidate.chosen;
                }
            }
        }
        for (Group group : groups) {
            group.serves = Math.min(wanted, group.devices.size());
            for (Candidate candidate : group.devices.subList(0, group.serves)) {
                group.used += used(candidate);
            }
        }
        // The node that has most of the answer already, then the one that can give most of the rest, then the idlest.
        groups.sort(Comparator.comparingLong((Group group) -> -group.chosen)
                .thenComparingInt(group -> -group.serves)
                .thenComparingLong(group -> group.used)
                .thenComparing(group -> group.devices.getFirst().name));
        return groups.stream().flatMap(group -> group.devices.stream()).toList();
    }

    private int used(Candidate candidate) {
        return settings.sharesPerDevice() - candidate.free.size();
    }

    private static Candidate candidate(String id, Map<String, Candidate> candidates, AdvertisedDevices offer) {
        // Ids that aren't ours share one candidate; its empty name is no device's.
        String name = ShareId.parse(id).map(ShareId::device).orElse("");
        return candidates.computeIfAbsent(name, unknown -> {
            Optional<AdvertisedDevices.Entry> entry = offer.find(name);
            return new Candidate(
                    name,
                    entry.map(AdvertisedDevices.Entry::device)
                            .map(RdmaDevice::numaNode)
                            .orElse(OptionalInt.empty()),
                    entry.filter(found -> found.health().isHealthy()).isPresent());
        });
    }

    private record Share(String id, String device, int number) {
        static final Comparator<Share> ORDER = Comparator.comparing(Share::device)
                .thenComparingInt(Share::number)
                .thenComparing(Share::id);

        static Share of(String id) {
            return ShareId.parse(id)
                    .map(share -> new Share(id, share.device(), share.number()))
                    .orElse(new Share(id, "", 0));
        }
    }

    /** One device with its free shares and how many of it are in the answer. */
    private static final class Candidate {
        final String name;
        final OptionalInt numaNode;
        final boolean healthy;
        final List<Share> free = new ArrayList<>();
        int chosen;

        Candidate(String name, OptionalInt numaNode, boolean healthy) {
            this.name = name;
            this.numaNode = numaNode;
            this.healthy = healthy;
        }

        /** Takes the lowest number, which {@link #sort} put last. */
        String take() {
            chosen++;
            return free.removeLast().id;
        }

        void sort() {
            free.sort(Share.ORDER.reversed());
        }
    }

    private static final class Group {
        final List<Candidate> devices = new ArrayList<>();
        long chosen;
        int serves;
        long used;
    }
}
