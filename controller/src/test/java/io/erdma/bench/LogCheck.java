package io.erdma.bench;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * {@code erdma nccl-check} as it is installed, on a log that is made for it: the start of 64 ranks, then the lines of a
 * long training, with a fifth of NCCL's among them.
 */
final class LogCheck {
    private static final int RANKS = 64;
    private static final int BLOCK_LINES = 20_000;
    private static final int RUNS = 3;
    private static final double AIM_MEGABYTES_PER_SECOND = 300;
    private static final double AIM_HEAP_MEGABYTES = 64;
    private static final Pattern BEFORE_COLLECTION = Pattern.compile("(\\d+)M->\\d+M\\(\\d+M\\)");

    private final Path tree;
    private final Path directory;
    private final int megabytes;

    LogCheck(Path tree, Path directory, int megabytes) {
        this.tree = tree;
        this.directory = directory;
        this.megabytes = megabytes;
    }

    List<Figure> measure() throws IOException, InterruptedException {
        Path log = directory.resolve("nccl.log");
        Path collections = directory.resolve("nccl-check-gc.log");
        try {
            write(log);
            Samples took = new Samples();
            for (int run = 0; run < RUNS; run++) {
                took.add(check(log, collections));
            }
            double heap = BEFORE_COLLECTION
                    .matcher(Files.readString(collections))
                    .results()
                    .map(MatchResult::group)
                    .mapToDouble(text -> Double.parseDouble(text.substring(0, text.indexOf('M'))))
                    .max()
                    .orElse(0);
            String name = "nccl-check, a log of " + megabytes + " MB: ";
            return List.of(
                    Figure.p50(name + "exec → verdict", 1, took).aim(megabytes / AIM_MEGABYTES_PER_SECOND * 1_000),
                    Figure.of(name + "heap", 1, heap, "MB").aim(AIM_HEAP_MEGABYTES));
        } finally {
            Files.deleteIfExists(log);
        }
    }

    /** @return nanoseconds from exec to exit, start of the JVM included */
    private long check(Path log, Path collections) throws IOException, InterruptedException {
        Path verdict = directory.resolve("nccl-check.out");
        ProcessBuilder builder = new ProcessBuilder(
                        tree.toAbsolutePath().resolve("bin/erdma").toString(), "nccl-check", log.toString())
                .redirectErrorStream(true)
                .redirectOutput(verdict.toFile());
        builder.environment().keySet().removeIf(variable -> variable.startsWith("ERDMA_"));
        builder.environment().put("ERDMA_JAVA_OPTS", "-Xlog:gc:file=" + collections.toAbsolutePath());
        long start = System.nanoTime();
        int exitCode = builder.start().waitFor();
        long took = System.nanoTime() - start;
        if (exitCode != 0) {
            throw new IllegalStateException("nccl-check ended with " + exitCode + " instead of 0; see " + verdict);
        }
        return took;
    }

    private void write(Path log) throws IOException {
        byte[] block = block().getBytes(StandardCharsets.US_ASCII);
        try (OutputStream out = Files.newOutputStream(log)) {
            long left = megabytes * 1_000_000L;
            byte[] start = start().getBytes(StandardCharsets.US_ASCII);
            out.write(start);
            left -= start.length;
            while (left > 0) {
                int length = (int) Math.min(left, block.length);
                out.write(block, 0, length);
                left -= length;
            }
        }
    }

    private static String head(int rank) {
        return "worker-%d:%d:%d [%d] NCCL INFO ".formatted(rank / 8, 1_000 + rank % 8, 2_000 + rank % 8, rank % 8);
    }

    private static String start() {
        StringBuilder text = new StringBuilder();
        for (int rank = 0; rank < RANKS; rank++) {
            text.append(head(rank))
                    .append("NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n")
                    .append(head(rank))
                    .append("Using network IB\n")
                    .append(head(rank))
                    .append("ncclCommInitRankConfig comm 0x1f rank %d nranks %d cudaDev 0 - Init START\n"
                            .formatted(rank, RANKS));
        }
        return text.toString();
    }

    private static String block() {
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < BLOCK_LINES; line++) {
            int rank = line % RANKS;
            if (line % 5 == 0) {
                text.append(head(rank))
                        .append("Channel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/0/GDRDMA\n"
                                .formatted(line % 32, rank, rank % 8, (rank + 1) % RANKS, (rank + 1) % 8));
            } else {
                text.append("2026-11-30T23:36:15.%03dZ [rank%d]: Train Epoch: 1 [%d/60000 (%d%%)]\tloss=2.%04d\n"
                        .formatted(line % 1_000, rank, line, line % 100, line % 10_000));
            }
        }
        return text.toString();
    }
}
