package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.FallbackVerdict.NoVerdict;
import io.erdma.pods.FallbackVerdict.OnlyContext;
import io.erdma.pods.FallbackVerdict.Uses;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Who asked for eRDMA and does not use it. A wrong accusation costs more than a late one, so whatever is not known for
 * certain is no verdict.
 */
public final class FallbackRules {
    /**
     * What is known of a container that holds shares.
     *
     * @param obstacle why its processes can't be known for certain, in a few words
     * @param processes its processes; none before it starts (its pod's init containers run) and behind its end
     * @param queuePairs those of its processes, of any device
     * @param contexts open verbs contexts of its processes, by the kernel or else by their open device nodes; absent when
     *     neither tells
     * @param mayOwnMore whether queue pairs that the kernel names no owner of can be those of its processes
     * @param runningSince when a process of it was first seen
     * @param lastUse when it was last seen to have a queue pair
     */
    public record Evidence(
            Optional<String> obstacle,
            List<ProcessStatus> processes,
            int queuePairs,
            OptionalInt contexts,
            boolean mayOwnMore,
            Optional<Instant> runningSince,
            Optional<Instant> lastUse) {
        public Evidence {
            requireNonNull(obstacle, "obstacle is null");
            processes = List.copyOf(processes);
            requireNonNull(contexts, "contexts is null");
            requireNonNull(runningSince, "runningSince is null");
            requireNonNull(lastUse, "lastUse is null");
        }
    }

    private FallbackRules() {}

    /** @param patience how long a container may take to begin */
    public static FallbackVerdict judge(Evidence evidence, Duration patience, Instant now) {
        if (evidence.queuePairs() > 0) {
            return new Uses(evidence.queuePairs());
        }
        if (evidence.obstacle().isPresent()) {
            return new NoVerdict(evidence.obstacle().get());
        }
        if (evidence.processes().isEmpty()) {
            return new NoVerdict("no process of it runs: its pod's init containers do, or it has ended");
        }
        if (evidence.processes().stream().allMatch(ProcessStatus::isPause)) {
            return new NoVerdict("it only keeps its pod's namespaces open");
        }
        if (evidence.processes().stream().allMatch(ProcessStatus::stopped)) {
            return new NoVerdict("its processes are stopped");
        }
        if (evidence.contexts().isEmpty()) {
            return new NoVerdict("neither the kernel nor its processes tell whether it has a device open");
        }
        if (evidence.mayOwnMore()) {
            return new NoVerdict("it has a device open whose queue pairs the kernel names no owner of");
        }
        if (evidence.contexts().getAsInt() > 0) {
            return new OnlyContext(evidence.contexts().getAsInt());
        }
        if (evidence.lastUse().isPresent()) {
            return new NoVerdict("it had queue pairs before");
        }
        Duration running = evidence.runningSince()
                .map(since -> Duration.between(since, now))
                .filter(time -> !time.isNegative())
                .orElse(Duration.ZERO);
        if (running.compareTo(patience) < 0) {
            return new NoVerdict("it has run for " + running.toSeconds() + " s only");
        }
        return new AsksOnly(running);
    }
}
