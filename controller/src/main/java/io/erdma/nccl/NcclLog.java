package io.erdma.nccl;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * What one log says, before it is judged.
 *
 * @param bytes read
 * @param lines of them
 * @param longLines that were read only to {@link LogReader#LONGEST_LINE} bytes
 * @param infoLines how many are from NCCL at the level INFO
 * @param processes in the order of their first lines
 * @param otherProcesses lines of processes beyond those that are kept
 * @param signs the first line of each sign of a failure, of any process or of none
 * @param versions of NCCL, as it prints them
 */
public record NcclLog(
        long bytes,
        long lines,
        long longLines,
        long infoLines,
        List<NcclProcess> processes,
        long otherProcesses,
        List<NcclVariable> variables,
        Map<Sign, Evidence> signs,
        SortedSet<String> versions,
        Training training) {
    /**
     * Lines that show a loss.
     *
     * @param last number of the last one, 0 without any
     * @param ranks of those lines whose tag names one ({@code [rank3]:}, {@code [1,3]<stdout>:}, {@code 3: })
     */
    public record Training(long steps, Optional<Evidence> first, long last, BitSet ranks) {
        public Training {
            ranks = (BitSet) ranks.clone();
        }
    }

    public NcclLog {
        processes = List.copyOf(processes);
        variables = List.copyOf(variables);
        signs = Map.copyOf(signs);
    }
}
