package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.libc.NativeException;
import io.erdma.pods.UsageFacts.DeviceObjects;
import io.erdma.pods.UsageFacts.SeenProcess;
import io.erdma.sysfs.SysfsTree;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Gathers who uses which device: from RDMA netlink, the processes, the pods' logs and the kubelet. Changes nothing. */
public final class UsageReader {
    private static final String UNSEEN =
            "processes of pods can't be seen from this pid namespace, so use is counted for"
                    + " each device only; run it in the host's (hostPID: true)";

    /** What the problem begins with when the kubelet did not tell who holds shares. */
    static final String SHARES_UNKNOWN = "shares of pods are not known: ";

    /** Where RDMA objects are known. */
    @FunctionalInterface
    public interface Objects {
        /** All or none: half a picture would accuse those whose half is missing. */
        List<DeviceObjects> of(Predicate<String> wanted) throws NativeException;
    }

    private final Objects objects;
    private final ProcTree processes;
    private final SysfsTree sysfs;
    private final PodLogs logs;
    private final Supplier<PodShares.Answer> shares;

    /**
     * @param objects of this machine, {@link NetlinkObjects#list}
     * @param shares asks the kubelet; may wait for its answer
     */
    public UsageReader(
            Objects objects, ProcTree processes, SysfsTree sysfs, PodLogs logs, Supplier<PodShares.Answer> shares) {
        this.objects = requireNonNull(objects, "objects is null");
        this.processes = requireNonNull(processes, "processes is null");
        this.sysfs = requireNonNull(sysfs, "sysfs is null");
        this.logs = requireNonNull(logs, "logs is null");
        this.shares = requireNonNull(shares, "shares is null");
    }

    public ProcTree processes() {
        return processes;
    }

    /**
     * Never fails: what could not be found out is among the problems.
     *
     * @param wanted which devices, by name
     * @param allOfPods whether to look at every process of the machine, as judging pods that use nothing needs
     */
    public UsageFacts read(Predicate<String> wanted, boolean allOfPods) {
        List<String> problems = new ArrayList<>();
        List<DeviceObjects> devices = new ArrayList<>();
        try {
            devices.addAll(objects.of(wanted));
        } catch (NativeException e) {
            problems.add("queue pairs are not known: " + e.getMessage());
        }
        boolean seesAll = processes.seesAllProcesses();
        if (!seesAll) {
            problems.add(UNSEEN);
        }
        Map<Long, SeenProcess> found = new HashMap<>();
        devices.replaceAll(device -> ofProcesses(device, found));
        boolean ask = !devices.stream().allMatch(DeviceObjects::ownersTold);
        List<Long> all = seesAll && (allOfPods || ask) ? processes.pids() : List.of();
        Map<Long, Set<String>> open = seesAll && ask ? openDevices(all) : Map.of();
        for (long pid : all) {
            Optional<ContainerId> container = processes.container(pid);
            if (container.isPresent() || !open.getOrDefault(pid, Set.of()).isEmpty()) {
                found.computeIfAbsent(pid, _ -> new SeenProcess(container, processes.status(pid)));
            }
        }
        PodNames names = logs.read();
        names.problem().filter(_ -> seesAll).ifPresent(problems::add);
        PodShares.Answer granted = shares.get();
        if (granted instanceof PodShares.Answer.Unreadable(var reason)) {
            problems.add(SHARES_UNKNOWN + reason);
        }
        return new UsageFacts(devices, found, open, names, granted, seesAll && allOfPods, problems);
    }

    /** The same by processes, where the kernel told threads; they are noted down on the way. */
    private DeviceObjects ofProcesses(DeviceObjects device, Map<Long, SeenProcess> found) {
        Map<Long, Integer> pairs = ofProcesses(device.queuePairs(), found);
        Optional<Map<Long, Integer>> contexts = device.contexts().map(threads -> ofProcesses(threads, found));
        return new DeviceObjects(
                device.device(),
                pairs,
                device.orphanQueuePairs() + DeviceObjects.sum(device.queuePairs()) - DeviceObjects.sum(pairs),
                contexts,
                device.orphanContexts()
                        + DeviceObjects.sum(device.contexts().orElse(Map.of()))
                        - DeviceObjects.sum(contexts.orElse(Map.of())));
    }

    /** Without those of threads that have ended since the kernel named them. */
    private Map<Long, Integer> ofProcesses(Map<Long, Integer> threads, Map<Long, SeenProcess> found) {
        Map<Long, Integer> counts = new HashMap<>();
        threads.forEach((thread, count) -> {
            processes.status(thread).map(ProcessStatus::process).ifPresent(pid -> {
                found.computeIfAbsent(pid, _ -> new SeenProcess(processes.container(pid), processes.status(pid)));
                counts.merge(pid, count, Integer::sum);
            });
        });
        return counts;
    }

    private Map<Long, Set<String>> openDevices(List<Long> pids) {
        Map<String, String> devices = sysfs.uverbsDevices().stream()
                .collect(Collectors.toMap(
                        UverbsClassDevice::name, UverbsClassDevice::rdmaDevice, (first, second) -> first));
        Map<Long, Set<String>> open = new HashMap<>();
        for (long pid : pids) {
            processes
                    .openUverbs(pid)
                    .ifPresent(nodes -> open.put(
                            pid,
                            nodes.stream()
                                    .filter(devices::containsKey)
                                    .map(devices::get)
                                    .collect(Collectors.toSet())));
        }
        return open;
    }
}
