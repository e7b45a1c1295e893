package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class UseRowTest {
    private static final ContainerName BUSY = new ContainerName("training", "a", "main");
    private static final ContainerName ASKING = new ContainerName("training", "b", "main");
    private static final DeviceUse ERDMA_0 = new DeviceUse("erdma_0", 5, 0, OptionalInt.of(2));

    private static List<UseRow> rows(
            List<DeviceUse> devices, List<ProcessUse> processes, List<ShareHold> shares, Finding... findings) {
        return UseRow.of(new UsageSnapshot(Instant.EPOCH, devices, processes, shares, List.of(findings), List.of()));
    }

    private static ProcessUse process(long pid, Owner owner, int queuePairs) {
        return new ProcessUse("erdma_0", pid, "python3", owner, queuePairs, OptionalInt.of(1));
    }

    @Test
    void countsTheQueuePairsOfAllProcessesOfAContainer() {
        assertThat(rows(
                        List.of(ERDMA_0),
                        List.of(process(1, new Owner.Named(BUSY), 2), process(2, new Owner.Named(BUSY), 3)),
                        List.of(new ShareHold(BUSY, "erdma_0", 1)),
                        new Finding(BUSY, new FallbackVerdict.Uses(5), List.of())))
                .containsExactly(new UseRow(
                        "training/a/main", "erdma_0", OptionalInt.of(1), OptionalInt.of(5), UseRow.Kind.USES, ""));
    }

    @Test
    void listsThoseFirstThatAskedAndDoNotUseIt() {
        assertThat(rows(
                        List.of(ERDMA_0),
                        List.of(process(1, new Owner.Named(BUSY), 2)),
                        List.of(new ShareHold(BUSY, "erdma_0", 1), new ShareHold(ASKING, "erdma_0", 1)),
                        new Finding(BUSY, new FallbackVerdict.Uses(2), List.of()),
                        new Finding(ASKING, new FallbackVerdict.AsksOnly(Duration.ofMinutes(11)), List.of())))
                .extracting(UseRow::whose)
                .containsExactly("training/b/main", "training/a/main");
    }

    @Test
    void namesAProcessOfNoPod() {
        assertThat(rows(List.of(ERDMA_0), List.of(process(318, new Owner.Host(), 1)), List.of()))
                .containsExactly(new UseRow(
                        "no pod: python3, pid 318",
                        "erdma_0",
                        OptionalInt.empty(),
                        OptionalInt.of(1),
                        UseRow.Kind.USES,
                        ""));
    }

    @Test
    void countsNothingWhereTheKernelToldNothing() {
        assertThat(rows(List.of(), List.of(), List.of(new ShareHold(BUSY, "erdma_0", 1))))
                .containsExactly(new UseRow(
                        "training/a/main",
                        "erdma_0",
                        OptionalInt.of(1),
                        OptionalInt.empty(),
                        UseRow.Kind.NO_VERDICT,
                        ""));
    }
}
