package io.erdma.nccl;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Names processes as people know them: by their rank's number where the log tells it for each of them and no two share one
 * (as they do after a restart, or where a job has no communicator of all), else by host and process id.
 */
public final class RankNames {
    private static final int MOST_RANGES = 16;
    private static final int MOST_PROCESSES = 8;

    /**
     * Names of some ranks.
     *
     * @param count of the ranks
     * @param text for example "rank 3", "ranks 0-15,17" or "vm:739, vm:740 and 3 more"
     */
    public record Names(int count, String text) {}

    private final List<NcclProcess> processes;
    private final boolean numbered;

    RankNames(List<NcclProcess> processes) {
        this.processes = processes;
        this.numbered = areUnique(processes);
    }

    private static boolean areUnique(List<NcclProcess> processes) {
        BitSet seen = new BitSet();
        for (NcclProcess process : processes) {
            if (process.ranks().isEmpty()) {
                return false;
            }
            for (int rank : process.ranks()) {
                if (seen.get(rank)) {
                    return false;
                }
                seen.set(rank);
            }
        }
        return true;
    }

    boolean isNumbered() {
        return numbered;
    }

    static int count(NcclProcess process) {
        return Math.max(1, process.ranks().size());
    }

    /** @param chosen of the processes, by their places in the list */
    Names of(BitSet chosen) {
        int count = chosen.stream().map(i -> count(processes.get(i))).sum();
        return new Names(count, numbered ? numbers(chosen, count) : processes(chosen));
    }

    private String numbers(BitSet chosen, int count) {
        BitSet ranks = new BitSet();
        chosen.stream().forEach(i -> processes.get(i).ranks().forEach(ranks::set));
        List<String> ranges = new ArrayList<>();
        int shown = 0;
        for (int from = ranks.nextSetBit(0); from >= 0 && ranges.size() < MOST_RANGES; ) {
            int to = ranks.nextClearBit(from) - 1;
            ranges.add(from == to ? Integer.toString(from) : from + "-" + to);
            shown += to - from + 1;
            from = ranks.nextSetBit(to + 1);
        }
        return (count == 1 ? "rank " : "ranks ") + String.join(",", ranges) + more(count - shown);
    }

    private String processes(BitSet chosen) {
        List<String> names = chosen.stream()
                .limit(MOST_PROCESSES)
                .mapToObj(processes::get)
                .map(RankNames::name)
                .toList();
        return String.join(", ", names) + more(chosen.cardinality() - names.size());
    }

    private static String name(NcclProcess process) {
        String name = process.host() + ":" + process.pid();
        return process.ranks().size() == 1 ? name + " (rank " + process.ranks().getFirst() + ")" : name;
    }

    private static String more(int count) {
        return count == 0 ? "" : " and " + count + " more";
    }
}
