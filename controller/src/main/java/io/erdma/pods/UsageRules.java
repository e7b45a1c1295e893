package io.erdma.pods;

import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.FallbackRules.Evidence;
import io.erdma.pods.UsageFacts.DeviceObjects;
import io.erdma.pods.UsageFacts.SeenProcess;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/** Joins what was found out into who uses what. */
public final class UsageRules {
    private UsageRules() {}

    /** Use of each device, by name. */
    static List<DeviceUse> devices(UsageFacts facts) {
        return facts.devices().stream()
                .map(device -> new DeviceUse(
                        device.device(),
                        DeviceObjects.sum(device.queuePairs()) + device.orphanQueuePairs(),
                        device.orphanQueuePairs(),
                        device.contexts()
                                .map(contexts -> OptionalInt.of(DeviceObjects.sum(contexts) + device.orphanContexts()))
                                .orElseGet(() -> opened(facts, device.device()))))
                .toList();
    }

    private static OptionalInt opened(UsageFacts facts, String device) {
        return facts.openDevices().isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of((int) facts.openDevices().values().stream()
                        .filter(names -> names.contains(device))
                        .count());
    }

    /** Each process with RDMA objects, by device and pid. */
    static List<ProcessUse> processes(UsageFacts facts) {
        List<ProcessUse> uses = new ArrayList<>();
        for (DeviceObjects device : facts.devices()) {
            Set<Long> pids = new TreeSet<>(device.queuePairs().keySet());
            device.contexts().ifPresent(contexts -> pids.addAll(contexts.keySet()));
            facts.openDevices().forEach((pid, names) -> {
                if (names.contains(device.device())) {
                    pids.add(pid);
                }
            });
            for (long pid : pids) {
                Optional<SeenProcess> process =
                        Optional.ofNullable(facts.processes().get(pid));
                uses.add(new ProcessUse(
                        device.device(),
                        pid,
                        process.flatMap(SeenProcess::status)
                                .map(ProcessStatus::name)
                                .orElse(""),
                        process.flatMap(SeenProcess::container)
                                .map(facts.names()::owner)
                                .orElseGet(Owner.Host::new),
                        device.queuePairs().getOrDefault(pid, 0),
                        contexts(facts, device, pid)));
            }
        }
        return uses;
    }

    /**
     * By the kernel where it knows the owners of all, or else by the process's open device nodes: one for a device that is
     * open.
     */
    private static OptionalInt contexts(UsageFacts facts, DeviceObjects device, long pid) {
        int told = device.contexts().orElse(Map.of()).getOrDefault(pid, 0);
        if (told > 0 || device.ownersTold()) {
            return OptionalInt.of(told);
        }
        Optional<Set<String>> open = Optional.ofNullable(facts.openDevices().get(pid));
        return open.isPresent() ? OptionalInt.of(open.get().contains(device.device()) ? 1 : 0) : OptionalInt.empty();
    }

    /** Shares that containers hold, each device apart. */
    static List<ShareHold> shares(PodShares.Answer answer) {
        List<ShareHold> holds = new ArrayList<>();
        for (PodShares.Holder holder : holders(answer)) {
            Map<String, Integer> perDevice = new LinkedHashMap<>();
            holder.deviceIds().forEach(id -> perDevice.merge(deviceOf(id), 1, Integer::sum));
            perDevice.forEach((device, shares) -> holds.add(new ShareHold(name(holder), device, shares)));
        }
        return holds;
    }

    static List<PodShares.Holder> holders(PodShares.Answer answer) {
        return switch (answer) {
            case PodShares.Answer.Known known -> known.holders();
            case PodShares.Answer.Unreadable _ -> List.of();
        };
    }

    static ContainerName name(PodShares.Holder holder) {
        return new ContainerName(holder.namespace(), holder.pod(), holder.container());
    }

    static List<String> devicesOf(PodShares.Holder holder) {
        return holder.deviceIds().stream().map(UsageRules::deviceOf).distinct().toList();
    }

    /** "erdma_0/17" is a share of erdma_0. */
    static String deviceOf(String share) {
        int slash = share.lastIndexOf('/');
        return slash < 0 ? share : share.substring(0, slash);
    }

    /** Processes of a container, by pid. */
    static List<Long> pidsOf(UsageFacts facts, ContainerName container) {
        return facts.processes().entrySet().stream()
                .filter(entry -> entry.getValue()
                        .container()
                        .map(facts.names()::owner)
                        .filter(new Owner.Named(container)::equals)
                        .isPresent())
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /**
     * What is known of a container that holds shares. Where a process ended between two looks at it, its part is missing,
     * which the next time mends.
     */
    static Evidence evidence(
            UsageFacts facts, PodShares.Holder holder, Optional<Instant> runningSince, Optional<Instant> lastUse) {
        ContainerName container = name(holder);
        List<Long> pids = pidsOf(facts, container);
        return new Evidence(
                obstacle(facts, holder),
                pids.stream()
                        .map(pid -> facts.processes().get(pid).status())
                        .flatMap(Optional::stream)
                        .toList(),
                facts.devices().stream()
                        .mapToInt(device -> pids.stream()
                                .mapToInt(pid -> device.queuePairs().getOrDefault(pid, 0))
                                .sum())
                        .sum(),
                contexts(facts, pids),
                mayOwnMore(facts, pids),
                runningSince,
                lastUse);
    }

    /** Absent as soon as a single process does not tell. */
    private static OptionalInt contexts(UsageFacts facts, List<Long> pids) {
        int sum = 0;
        for (DeviceObjects device : facts.devices()) {
            for (long pid : pids) {
                OptionalInt held = contexts(facts, device, pid);
                if (held.isEmpty()) {
                    return OptionalInt.empty();
                }
                sum += held.getAsInt();
            }
        }
        return OptionalInt.of(sum);
    }

    /** Whether queue pairs without a known owner are those of a device that one of the processes has open. */
    private static boolean mayOwnMore(UsageFacts facts, List<Long> pids) {
        return facts.devices().stream()
                .filter(device -> device.orphanQueuePairs() > 0)
                .anyMatch(device -> pids.stream()
                        .anyMatch(pid -> contexts(facts, device, pid).orElse(0) > 0));
    }

    private static Optional<String> obstacle(UsageFacts facts, PodShares.Holder holder) {
        if (!facts.allPodsSeen()) {
            return Optional.of("not all processes can be seen from here");
        }
        if (facts.names().problem().isPresent()) {
            return facts.names().problem();
        }
        for (String share : holder.deviceIds()) {
            String device = deviceOf(share);
            if (facts.devices().stream().noneMatch(known -> known.device().equals(device))) {
                return Optional.of("the kernel does not tell who uses " + device);
            }
        }
        PodName pod = name(holder).podName();
        boolean mixed = facts.processes().values().stream()
                .filter(process -> !process.status().map(ProcessStatus::isPause).orElse(true))
                .map(SeenProcess::container)
                .flatMap(Optional::stream)
                .map(facts.names()::owner)
                .anyMatch(owner -> isUnnamedIn(pod, owner));
        return mixed
                ? Optional.of("a process of its pod can't be given to any of the pod's containers")
                : Optional.empty();
    }

    /** Whether its container has no log by which it could be known. */
    private static boolean isUnnamedIn(PodName pod, Owner owner) {
        return switch (owner) {
            case Owner.Unnamed unnamed -> unnamed.pod().filter(pod::equals).isPresent();
            case Owner.Named _, Owner.Host _ -> false;
        };
    }

    /** One look, without verdicts. */
    public static UsageSnapshot once(UsageFacts facts, Instant now) {
        return new UsageSnapshot(
                now, devices(facts), processes(facts), shares(facts.shares()), List.of(), facts.problems());
    }
}
