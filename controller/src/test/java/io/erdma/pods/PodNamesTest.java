package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.ContainerName.PodName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodNamesTest {
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final String ID = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

    @TempDir
    private Path directory;

    @Test
    void readsThemFromTheNamesOfTheKubeletsLogs() throws IOException {
        Files.createDirectories(directory.resolve("pods/training_job-master-0_" + UID + "/pytorch"));
        Path links = Files.createDirectories(directory.resolve("containers"));
        // The target is the runtime's and may be unreadable from here.
        Files.createSymbolicLink(
                links.resolve("job-master-0_training_pytorch-" + ID + ".log"), Path.of("/nowhere/0.log"));

        PodNames names = new PodLogs(directory).read();

        assertThat(names.problem()).isEmpty();
        assertThat(names.owner(new ContainerId(UID, ID)))
                .isEqualTo(new Owner.Named(new ContainerName("training", "job-master-0", "pytorch")));
        String other = ID.replace('c', 'd');
        assertThat(names.owner(new ContainerId(UID, other)))
                .isEqualTo(new Owner.Unnamed(
                        new ContainerId(UID, other), Optional.of(new PodName("training", "job-master-0"))));
        ContainerId foreign = new ContainerId(UID.replace('5', '6'), other);
        assertThat(names.owner(foreign)).isEqualTo(new Owner.Unnamed(foreign, Optional.empty()));
    }

    @Test
    void splitsNamesWithDotsAndDashesWhereTheKubeletPutsUnderscores() {
        PodNames names = PodNames.of(
                List.of("kube-system_my.pod-0_" + UID.replace("-", "")),
                List.of("my.pod-0_kube-system_side-car-" + ID + ".log"));
        assertThat(names.pods()).containsValue(new PodName("kube-system", "my.pod-0"));
        assertThat(names.containers()).containsEntry(ID, new ContainerName("kube-system", "my.pod-0", "side-car"));
    }

    @Test
    void passesOverWhateverElseLiesThere() {
        PodNames names = PodNames.of(List.of("", "_", "a_b", "a_b_c", "lost+found"), List.of("", "x.log", "a_b_c.log"));
        assertThat(names.pods()).isEmpty();
        assertThat(names.containers()).isEmpty();
    }

    @Test
    void saysSoWhereTheLogsAreNotToBeSeen() {
        assertThat(new PodLogs(directory.resolve("none")).read().problem())
                .hasValueSatisfying(problem -> assertThat(problem)
                        .contains(directory.resolve("none/pods").toString())
                        .contains("mount the host's /var/log"));
    }
}
