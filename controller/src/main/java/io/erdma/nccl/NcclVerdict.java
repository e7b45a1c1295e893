package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a log proves.
 *
 * @param outcome of the whole: one rank that did not choose eRDMA decides it, before one of which nothing is known
 * @param ranks how many the log tells of
 * @param ranksInJob how many the job has, 0 when no line tells
 * @param failing names of the ranks that decide a bad outcome; empty for a good one
 * @param groups ranks of which the same holds, those that decide first
 * @param findings most severe first
 */
public record NcclVerdict(
        Outcome outcome,
        int ranks,
        int ranksInJob,
        Optional<RankNames.Names> failing,
        List<Group> groups,
        List<Finding> findings,
        List<JudgedVariable> variables) {
    /** What a rank's channels prove. */
    public enum Traffic {
        /** They go via NET/IB. */
        VERBS,
        /** They go via NET/Socket. */
        TCP,
        /** They stay on the host: P2P or shared memory. */
        LOCAL,
        /** The log shows no channels. */
        UNSEEN
    }

    /** Whether the device reads and writes the GPU's memory itself. */
    public enum GpuDirect {
        USED,
        /** By some of the channels. */
        PARTLY,
        UNUSED,
        /** Said to be possible; no channel shows it. */
        ENABLED,
        DISABLED,
        UNKNOWN
    }

    /** Ranks of which the same holds; the evidence is of one of them. */
    public record Group(
            RankNames.Names ranks,
            Reason reason,
            Set<String> networks,
            List<IbDevice> devices,
            Traffic traffic,
            GpuDirect gpuDirect,
            Optional<Evidence> evidence) {
        public Group {
            requireNonNull(ranks, "ranks is null");
            requireNonNull(reason, "reason is null");
        }
    }

    /**
     * Something that is wrong or worth knowing.
     *
     * @param id stable, for programs
     * @param ranks absent when it is about the log or when no line tells
     * @param cure what to do; empty when nothing has to be done
     */
    public record Finding(
            String id,
            Severity severity,
            Optional<RankNames.Names> ranks,
            Optional<Evidence> evidence,
            String meaning,
            String cure) {}

    /**
     * A variable and what to think of it.
     *
     * @param severity absent when nothing is wrong with it
     * @param meaning empty when nothing has to be said
     */
    public record JudgedVariable(
            String name,
            String value,
            VariableRules.Kind kind,
            Optional<Severity> severity,
            String meaning,
            Optional<RankNames.Names> ranks,
            Evidence evidence) {}

    public NcclVerdict {
        requireNonNull(outcome, "outcome is null");
        groups = List.copyOf(groups);
        findings = List.copyOf(findings);
        variables = List.copyOf(variables);
    }
}
