package io.erdma.pods;

import io.erdma.pods.UsageSnapshot.Finding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/** One look with verdicts, for commands that don't stay to see for themselves how long something lasts. */
public final class UsageLook {
    /** How long a container may take to begin; what the agent waits, too. */
    public static final Duration PATIENCE = Duration.ofMinutes(10);

    private UsageLook() {}

    /** @param started when a process began; empty for one that has ended */
    public static UsageSnapshot of(UsageFacts facts, LongFunction<Optional<Instant>> started, Instant now) {
        List<Finding> findings = new ArrayList<>();
        for (PodShares.Holder holder : UsageRules.holders(facts.shares())) {
            ContainerName container = UsageRules.name(holder);
            Optional<Instant> runningSince = UsageRules.pidsOf(facts, container).stream()
                    .map(started::apply)
                    .flatMap(Optional::stream)
                    .min(Comparator.naturalOrder());
            findings.add(new Finding(
                    container,
                    FallbackRules.judge(
                            UsageRules.evidence(facts, holder, runningSince, Optional.empty()), PATIENCE, now),
                    List.of()));
        }
        UsageSnapshot seen = UsageRules.once(facts, now);
        return new UsageSnapshot(seen.at(), seen.devices(), seen.processes(), seen.shares(), findings, seen.problems());
    }
}
