package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Who uses which device, and who only asked for it, at one moment.
 *
 * @param shares of each container and device, in the kubelet's order
 * @param findings a verdict for each container that holds shares; empty where nobody was judged
 * @param problems what could not be found out, and why
 */
public record UsageSnapshot(
        Instant at,
        List<DeviceUse> devices,
        List<ProcessUse> processes,
        List<ShareHold> shares,
        List<Finding> findings,
        List<String> problems) {
    /**
     * All use of a device by processes.
     *
     * @param orphans how many of the queue pairs have no known owner: their thread has ended, or can't be seen from here
     */
    public record DeviceUse(String device, int queuePairs, int orphans, OptionalInt contexts) {}

    /**
     * What a process has of a device.
     *
     * @param contexts absent when neither the kernel nor the process tells
     */
    public record ProcessUse(
            String device, long pid, String program, Owner owner, int queuePairs, OptionalInt contexts) {}

    /** How many shares of a device a container holds. */
    public record ShareHold(ContainerName container, String device, int shares) {}

    /**
     * @param causes of a container that does not use what it asked for, the likely ones first
     * @param podUid of its pod, as its processes tell; absent while none runs
     */
    public record Finding(
            ContainerName container, FallbackVerdict verdict, List<FallbackCause> causes, Optional<String> podUid) {
        public Finding {
            requireNonNull(container, "container is null");
            requireNonNull(verdict, "verdict is null");
            causes = List.copyOf(causes);
            requireNonNull(podUid, "podUid is null");
        }

        public Finding(ContainerName container, FallbackVerdict verdict, List<FallbackCause> causes) {
            this(container, verdict, causes, Optional.empty());
        }
    }

    public UsageSnapshot {
        requireNonNull(at, "at is null");
        devices = List.copyOf(devices);
        processes = List.copyOf(processes);
        shares = List.copyOf(shares);
        findings = List.copyOf(findings);
        problems = List.copyOf(problems);
    }

    /** Whether the kubelet told who holds shares; otherwise that nobody seems to says nothing. */
    public boolean sharesKnown() {
        return problems.stream().noneMatch(problem -> problem.startsWith(UsageReader.SHARES_UNKNOWN));
    }
}
