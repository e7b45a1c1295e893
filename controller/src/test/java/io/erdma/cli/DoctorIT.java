package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code erdma doctor} as it is installed, on the machine that runs the tests: there is no RDMA, cluster or agent. */
class DoctorIT {
    private static final Path LAUNCHER = Path.of("target/erdma/bin/erdma").toAbsolutePath();

    @TempDir
    private Path directory;

    private record Finished(int exitCode, String out, String err) {}

    private Finished doctor(List<String> before, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(LAUNCHER.toString(), "doctor", "--probe-address=127.0.0.1:1"));
        command.addAll(List.of(options));
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment()
                .keySet()
                .removeIf(name ->
                        name.startsWith("NCCL_") || name.startsWith("ERDMA_") || name.startsWith("KUBERNETES_"));
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Finished(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    @Test
    void saysWhereToBeginOnThisMachine() throws Exception {
        assumeThat(Path.of("/sys/class/infiniband")).doesNotExist();
        assumeThat(Path.of("/var/lib/kubelet")).doesNotExist();

        Finished run = doctor(List.of());

        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out().lines().toList())
                .startsWith("The node's side: nothing here looks like a pod")
                .contains(
                        "FAIL  PCI function: this machine has no 1ded:107f",
                        "FAIL  RDMA devices: the kernel has no RDMA device",
                        "FAIL  agent: no agent answers at http://127.0.0.1:1/readyz")
                .anyMatch(line -> line.matches("(pass|warn)  verbs library: .*"))
                .anyMatch(line -> line.matches("[?]{4}  kubelet socket: no /var/lib/kubelet/device-plugins here.*"));
        assertThat(run.out()).endsWith(" not looked at\n");
    }

    /** As an unprivileged user, which is refused much. */
    @Test
    void worksWithoutAnyRight() throws Exception {
        assumeThat(Path.of("/usr/bin/setpriv")).exists();
        Finished run =
                doctor(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"));
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).contains("doctor: ");
    }

    @Test
    void saysWithoutCredentialsThatItCannotCompareWithANodeObject() throws Exception {
        Finished run = doctor(List.of(), "--node=node-1");
        assertThat(run.out()).contains("????  Node object: there are no credentials here for the cluster's API\n");
    }

    @Test
    void bundlesThisMachine() throws Exception {
        Path bundle = directory.resolve("bundle.zip");
        doctor(List.of(), "--bundle=" + bundle);
        try (ZipFile zip = new ZipFile(bundle.toFile())) {
            assertThat(zip.stream().map(ZipEntry::getName))
                    .containsExactlyInAnyOrder(
                            "report.txt",
                            "report.json",
                            "versions.txt",
                            "environment.txt",
                            "sysfs.txt",
                            "netlink.txt",
                            "agent-readyz.txt",
                            "agent-metrics.txt",
                            "agent-plans.txt");
        }
        assertThat(doctor(List.of(), "--bundle=" + bundle).exitCode()).isEqualTo(64);
    }
}
