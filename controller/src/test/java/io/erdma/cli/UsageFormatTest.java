package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.ContainerId;
import io.erdma.pods.ContainerName;
import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class UsageFormatTest {
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final ContainerName NAME = new ContainerName("training", "job-0", "pytorch");
    private static final ContainerId ID = new ContainerId(UID, "c0ffee".repeat(10) + "c0ff");

    private static final UsageSnapshot SNAPSHOT = new UsageSnapshot(
            Instant.EPOCH,
            List.of(
                    new DeviceUse("erdma_0", 12, 2, OptionalInt.of(3)),
                    new DeviceUse("erdma_1", 0, 0, OptionalInt.empty())),
            List.of(
                    new ProcessUse("erdma_0", 41, "ib_write_bw", new Owner.Host(), 1, OptionalInt.of(1)),
                    new ProcessUse("erdma_0", 4711, "python\u001b[2J", new Owner.Named(NAME), 8, OptionalInt.of(1)),
                    new ProcessUse(
                            "erdma_0",
                            5000,
                            "",
                            new Owner.Unnamed(ID, Optional.of(new PodName("a", "b"))),
                            1,
                            OptionalInt.empty()),
                    new ProcessUse(
                            "erdma_0", 5001, "sh", new Owner.Unnamed(ID, Optional.empty()), 0, OptionalInt.of(1))),
            List.of(new ShareHold(NAME, "erdma_0", 2)),
            List.of(),
            List.of("something is not known"));

    @Test
    void saysInASentenceThatThereIsNoDevice() {
        assertThat(UsageFormat.text(
                        new UsageSnapshot(Instant.EPOCH, List.of(), List.of(), List.of(), List.of(), List.of()),
                        Map.of()))
                .isEqualTo("There is no device of which the kernel tells who uses it.\n");
    }

    @Test
    void linesUpWhoUsesWhat() {
        assertThat(UsageFormat.text(SNAPSHOT, Map.of("erdma_0", 1024))).isEqualTo("""
                DEVICE   QUEUE PAIRS  OF AT MOST  OWNER UNKNOWN  CONTEXTS
                erdma_0  12           1024        2              3
                erdma_1  0            -           0              -

                DEVICE   QUEUE PAIRS  CONTEXTS  PID   PROGRAM        WHOSE
                erdma_0  1            1         41    ib_write_bw    no pod
                erdma_0  8            1         4711  python\\x1b[2J  training/job-0/pytorch
                erdma_0  1            -         5000  -              a/b/container c0ffeec0ffee
                erdma_0  0            1         5001  sh             pod 5f3c2a10-9b7e-4c1d-8a2f-0123456789ab, container c0ffeec0ffee

                DEVICE   SHARES  HELD BY
                erdma_0  2       training/job-0/pytorch
                """);
    }

    @Test
    void tellsProgramsTheSame() throws IOException {
        String json = Json.line(generator -> UsageFormat.json(generator, SNAPSHOT, Map.of("erdma_0", 1024)));
        assertThat(json)
                .contains(
                        "{\"device\":\"erdma_0\",\"queuePairs\":12,\"queuePairBudget\":1024,\"queuePairsOfUnknownOwner\":2,\"contexts\":3}")
                .contains(
                        "{\"device\":\"erdma_1\",\"queuePairs\":0,\"queuePairBudget\":null,\"queuePairsOfUnknownOwner\":0,\"contexts\":null}")
                .contains("\"pid\":41,\"program\":\"ib_write_bw\",\"queuePairs\":1,\"contexts\":1,\"namespace\":null,"
                        + "\"pod\":null,\"container\":null,\"podUid\":null,\"containerId\":null}")
                .contains("\"namespace\":\"training\",\"pod\":\"job-0\",\"container\":\"pytorch\",\"podUid\":null")
                .contains("\"podUid\":\"" + UID + "\"")
                .contains("{\"namespace\":\"training\",\"pod\":\"job-0\",\"container\":\"pytorch\","
                        + "\"device\":\"erdma_0\",\"shares\":2}")
                .contains("\"problems\":[\"something is not known\"]");
    }
}
