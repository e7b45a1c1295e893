package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.Logs;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/erdma nccl-check}, with the heap that the launcher gives it. */
class NcclCheckIT {
    private static final Path ERDMA = Path.of(System.getProperty("erdma.dist", "target/erdma"))
            .toAbsolutePath()
            .resolve("bin/erdma");

    /** More than are kept. */
    private static final int PROCESSES = 66_000;

    @TempDir
    private Path directory;

    private Run check(Path standardInput, String... words) throws IOException, InterruptedException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(ERDMA.toString(), "nccl-check")
                .redirectInput(standardInput.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.command().addAll(List.of(words));
        builder.environment().keySet().removeIf(name -> name.startsWith("ERDMA_"));
        int exitCode = builder.start().waitFor();
        return new Run(exitCode, Files.readString(out), Files.readString(err));
    }

    @Test
    void readsTheStandardInput() throws IOException, InterruptedException {
        Path log = Logs.file("socket.log").toAbsolutePath();

        Run run = check(log, "-");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
        assertThat(run.out()).isEqualTo(Run.erdma("nccl-check", log.toString()).out());
    }

    @Test
    void getsAlongWithItsHeapWhateverALogHolds() throws IOException, InterruptedException {
        Path log = directory.resolve("job.log");
        try (BufferedWriter writer = Files.newBufferedWriter(log)) {
            for (int i = 0; i < PROCESSES; i++) {
                String head = "h".repeat(50) + i + ":1:2 [0] NCCL INFO ";
                writer.write(head + "NET/IB : Using [0]erdma_" + i + ":1/RoCE [RO]; OOB eth0:" + i + "\n");
                writer.write(head + "NET/IB : No device found. " + i + "\n");
                writer.write(head + "Using network plugin" + i + "\n");
                writer.write(head + "Using network Socket\n");
                writer.write(head + "comm 0x1 rank " + i + " nranks 100000 cudaDev\n");
                writer.write(head + "Channel 00/0 : " + i + "[0] -> 1[0] [send] via NET/IB/0\n");
                writer.write(head + "Channel 00/0 : " + i + "[0] -> 1[0] [send] via NET/Socket/0\n");
                writer.write(head + "NCCL_X" + i + " set by environment to " + i + "\n");
            }
        }

        Run text = check(log);
        Run json = check(log, "--json");

        assertThat(text.err() + json.err()).isEmpty();
        assertThat(text.exitCode()).isEqualTo(1);
        assertThat(json.exitCode()).isEqualTo(1);
        assertThat(text.out()).contains("too-many-processes");
        assertThat(json.out()).contains("\"verdict\" : \"not-erdma\"");
    }
}
