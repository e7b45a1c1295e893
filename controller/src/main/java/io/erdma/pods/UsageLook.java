package io.erdma.pods;

import io.erdma.pods.FallbackCauses.NodeState;
import io.erdma.pods.FallbackCauses.Offered;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.UsageSnapshot.Finding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** One look with verdicts, for commands that don't stay to see for themselves how long something lasts. */
public final class UsageLook {
    /** How long a container may take to begin; what the agent waits, too. */
    public static final Duration PATIENCE = Duration.ofMinutes(10);

    private UsageLook() {}

    /** What is known of single processes. */
    public interface Processes {
        /** When it began; empty for one that has ended. */
        Optional<Instant> started(long pid);

        ProcessLimits limits(long pid);
    }

    /** @param offered the devices of the node; a container may have been given all of them for one share */
    public static UsageSnapshot of(UsageFacts facts, List<Offered> offered, Processes processes, Instant now) {
        List<Finding> findings = new ArrayList<>();
        for (PodShares.Holder holder : UsageRules.holders(facts.shares())) {
            ContainerName container = UsageRules.name(holder);
            List<Long> pids = UsageRules.pidsOf(facts, container);
            Optional<Instant> runningSince = pids.stream()
                    .map(processes::started)
                    .flatMap(Optional::stream)
                    .min(Comparator.naturalOrder());
            FallbackVerdict verdict = FallbackRules.judge(
                    UsageRules.evidence(facts, holder, runningSince, Optional.empty()), PATIENCE, now);
            findings.add(new Finding(
                    container,
                    verdict,
                    verdict instanceof AsksOnly
                            ? FallbackCauses.of(
                                    NodeState.of(
                                            offered,
                                            UsageRules.devicesOf(holder),
                                            offered.stream()
                                                    .map(Offered::device)
                                                    .toList()),
                                    processes.limits(pids.getFirst()))
                            : List.of()));
        }
        UsageSnapshot seen = UsageRules.once(facts, now);
        return new UsageSnapshot(seen.at(), seen.devices(), seen.processes(), seen.shares(), findings, seen.problems());
    }
}
