package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What was found out about the use of devices at one moment.
 *
 * @param devices those of interest, by name
 * @param processes whose owners and states are known: those with RDMA objects and, where they were looked at, all of pods
 * @param openDevices of each process that was asked and answered, the devices that it has open
 * @param shares what the kubelet granted
 * @param allPodsSeen whether {@code processes} holds all processes of pods
 * @param problems what could not be found out, and why
 */
public record UsageFacts(
        List<DeviceObjects> devices,
        Map<Long, SeenProcess> processes,
        Map<Long, Set<String>> openDevices,
        PodNames names,
        PodShares.Answer shares,
        boolean allPodsSeen,
        List<String> problems) {
    /**
     * RDMA objects of a device, those of the kernel left out.
     *
     * @param queuePairs how many each process has
     * @param orphanQueuePairs how many have no known owner: their thread has ended, or can't be seen from here
     * @param contexts how many each process has; empty when the kernel doesn't tell (before 5.9)
     * @param orphanContexts how many have no known owner
     */
    public record DeviceObjects(
            String device,
            Map<Long, Integer> queuePairs,
            int orphanQueuePairs,
            Optional<Map<Long, Integer>> contexts,
            int orphanContexts) {
        public DeviceObjects {
            requireNonNull(device, "device is null");
            queuePairs = Map.copyOf(queuePairs);
            contexts = contexts.map(Map::copyOf);
        }

        static int sum(Map<Long, Integer> counts) {
            return counts.values().stream().mapToInt(Integer::intValue).sum();
        }

        /** Whether the owner of every context and queue pair is known. */
        boolean ownersTold() {
            return contexts.isPresent() && orphanContexts == 0 && orphanQueuePairs == 0;
        }
    }

    /**
     * @param container empty outside pods
     * @param status empty when the process has just ended
     */
    public record SeenProcess(Optional<ContainerId> container, Optional<ProcessStatus> status) {}

    public UsageFacts {
        devices = List.copyOf(devices);
        processes = Map.copyOf(processes);
        openDevices = Map.copyOf(openDevices);
        requireNonNull(names, "names is null");
        requireNonNull(shares, "shares is null");
        problems = List.copyOf(problems);
    }
}
