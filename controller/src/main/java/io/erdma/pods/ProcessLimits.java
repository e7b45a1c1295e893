package io.erdma.pods;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What may keep a process from using RDMA; absent is what it doesn't let us read.
 *
 * @param lockedMemory the soft limit of memory that it may lock
 * @param mayLockMemory the limit does not hold for it
 * @param variables those of NCCL that choose or refuse devices, as far as they are set
 * @param provider whether its image holds libibverbs' provider for eRDMA in a usual place
 */
public record ProcessLimits(
        Optional<LockedMemory> lockedMemory,
        boolean mayLockMemory,
        Optional<Map<String, String>> variables,
        Optional<Boolean> provider) {
    /** @param bytes absent when unlimited */
    public record LockedMemory(OptionalLong bytes) {}

    private static final Pattern LOCKED_MEMORY =
            Pattern.compile("(?m)^Max locked memory\\s+(unlimited|[0-9]{1,18})\\s");

    public ProcessLimits {
        variables = variables.map(Map::copyOf);
    }

    /** @param text a whole {@code /proc/PID/limits} */
    static Optional<LockedMemory> lockedMemory(String text) {
        Matcher line = LOCKED_MEMORY.matcher(text);
        if (!line.find()) {
            return Optional.empty();
        }
        return Optional.of(new LockedMemory(
                line.group(1).equals("unlimited")
                        ? OptionalLong.empty()
                        : OptionalLong.of(Long.parseLong(line.group(1)))));
    }
}
