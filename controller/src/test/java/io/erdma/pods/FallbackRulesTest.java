package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.FallbackRules.Evidence;
import io.erdma.pods.FallbackVerdict.AsksOnly;
import io.erdma.pods.FallbackVerdict.NoVerdict;
import io.erdma.pods.FallbackVerdict.OnlyContext;
import io.erdma.pods.FallbackVerdict.Uses;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class FallbackRulesTest {
    private static final Instant START = Instant.parse("2026-12-01T10:00:00Z");
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final ProcessStatus PYTHON = new ProcessStatus(9, "python", false, false);
    private static final ProcessStatus STOPPED = new ProcessStatus(9, "python", true, false);
    private static final ProcessStatus PAUSE = new ProcessStatus(9, "pause", false, false);

    private static Evidence evidence(List<ProcessStatus> processes, int queuePairs, OptionalInt contexts) {
        return new Evidence(
                Optional.empty(), processes, queuePairs, contexts, false, Optional.of(START), Optional.empty());
    }

    private static FallbackVerdict after(Duration time, Evidence evidence) {
        return FallbackRules.judge(evidence, PATIENCE, START.plus(time));
    }

    @Test
    void aContainerWithQueuePairsUsesErdma() {
        assertThat(after(Duration.ZERO, evidence(List.of(PYTHON), 8, OptionalInt.of(1))))
                .isEqualTo(new Uses(8));
        assertThat(after(Duration.ZERO, evidence(List.of(PYTHON), 8, OptionalInt.empty())))
                .isEqualTo(new Uses(8));
    }

    @Test
    void aContainerWithAnOpenDeviceAloneWaits() {
        assertThat(after(PATIENCE, evidence(List.of(PYTHON), 0, OptionalInt.of(2))))
                .isEqualTo(new OnlyContext(2));
    }

    @Test
    void aContainerWithNeitherFallsBackOnceItHadTimeToBegin() {
        Evidence idle = evidence(List.of(PYTHON, PYTHON), 0, OptionalInt.of(0));
        assertThat(after(PATIENCE.minusSeconds(1), idle)).isEqualTo(new NoVerdict("it has run for 599 s only"));
        assertThat(after(PATIENCE, idle)).isEqualTo(new AsksOnly(PATIENCE));
    }

    @Test
    void nobodyIsJudgedBeforeItRunsAndBehindItsEnd() {
        assertThat(after(PATIENCE, evidence(List.of(), 0, OptionalInt.of(0))))
                .isEqualTo(new NoVerdict("no process of it runs: its pod's init containers do, or it has ended"));
    }

    @Test
    void pauseAndStoppedContainersAreNeverJudged() {
        assertThat(after(PATIENCE, evidence(List.of(PAUSE), 0, OptionalInt.of(0))))
                .isInstanceOf(NoVerdict.class);
        assertThat(after(PATIENCE, evidence(List.of(STOPPED, STOPPED), 0, OptionalInt.of(0))))
                .isInstanceOf(NoVerdict.class);
        assertThat(after(PATIENCE, evidence(List.of(STOPPED, PYTHON), 0, OptionalInt.of(0))))
                .isInstanceOf(AsksOnly.class);
    }

    @Test
    void nobodyIsJudgedWhereNeitherTheKernelNorTheProcessesTellOfOpenDevices() {
        assertThat(after(PATIENCE, evidence(List.of(PYTHON), 0, OptionalInt.empty())))
                .isInstanceOf(NoVerdict.class);
    }

    @Test
    void nobodyIsJudgedWhoseProcessesAreNotAllKnown() {
        Evidence evidence = new Evidence(
                Optional.of("logs can't be listed"),
                List.of(PYTHON),
                0,
                OptionalInt.of(0),
                false,
                Optional.of(START),
                Optional.empty());
        assertThat(after(PATIENCE, evidence)).isEqualTo(new NoVerdict("logs can't be listed"));
    }

    @Test
    void nobodyIsJudgedToWhomQueuePairsWithoutAKnownOwnerMayBelong() {
        Evidence evidence = new Evidence(
                Optional.empty(), List.of(PYTHON), 0, OptionalInt.of(1), true, Optional.of(START), Optional.empty());
        assertThat(after(PATIENCE, evidence)).isInstanceOf(NoVerdict.class);
    }

    @Test
    void aContainerThatHasUsedErdmaAndSavesItsModelNowIsNotAccused() {
        Evidence evidence = new Evidence(
                Optional.empty(),
                List.of(PYTHON),
                0,
                OptionalInt.of(0),
                false,
                Optional.of(START),
                Optional.of(START.plusSeconds(5)));
        assertThat(after(PATIENCE, evidence)).isEqualTo(new NoVerdict("it had queue pairs before"));
    }

    @Test
    void aClockThatWasSetBackAccusesNobody() {
        assertThat(after(Duration.ofDays(-1), evidence(List.of(PYTHON), 0, OptionalInt.of(0))))
                .isEqualTo(new NoVerdict("it has run for 0 s only"));
    }
}
