package io.erdma.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the kernel says about a process.
 *
 * @param rss resident bytes
 * @param pss the same with shared pages divided among those who share them
 * @param anonymous bytes that are in no file and can't be reclaimed
 * @param cpuTicks user and system time in hundredths of a second
 */
record ProcessFigures(long rss, long pss, long anonymous, int threads, int descriptors, long cpuTicks) {
    private static final long KIB = 1024;
    private static final Pattern MAPPING = Pattern.compile("[0-9a-f]+-[0-9a-f]+ ");

    static ProcessFigures of(long pid) {
        Path proc = Path.of("/proc", Long.toString(pid));
        List<String> rollup = lines(proc.resolve("smaps_rollup"));
        // The second field, the command, may hold blanks; what follows the last ")" does not.
        String stat = String.join("", lines(proc.resolve("stat")));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return new ProcessFigures(
                kib(rollup, "Rss:"),
                kib(rollup, "Pss:"),
                kib(rollup, "Anonymous:"),
                entries(proc.resolve("task")),
                entries(proc.resolve("fd")),
                Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }

    /** Resident bytes of the mappings that begin between two addresses. */
    static long residentIn(long pid, long from, long to) {
        long resident = 0;
        boolean inside = false;
        for (String line : lines(Path.of("/proc", Long.toString(pid), "smaps"))) {
            if (line.startsWith("Rss:")) {
                resident += inside ? Long.parseLong(line.replaceAll("\\D", "")) * KIB : 0;
            } else if (MAPPING.matcher(line).lookingAt()) {
                long start = Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16);
                inside = Long.compareUnsigned(start, from) >= 0 && Long.compareUnsigned(start, to) < 0;
            }
        }
        return resident;
    }

    double rssMegabytes() {
        return rss / 1e6;
    }

    double pssMegabytes() {
        return pss / 1e6;
    }

    double anonymousMegabytes() {
        return anonymous / 1e6;
    }

    private static long kib(List<String> rollup, String key) {
        return rollup.stream()
                .filter(line -> line.startsWith(key))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("smaps_rollup has no " + key));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int entries(Path directory) {
        try (Stream<Path> all = Files.list(directory)) {
            return (int) all.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
