package io.erdma.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ReportTest {
    private static final Finding PASS = Finding.pass("good");
    private static final Finding WARN = Finding.warn("doubtful", "look");
    private static final Finding FAIL = Finding.fail("bad", "mend");
    private static final Finding DARK = Finding.notSeen("dark", "light");
    private static final Finding UNNEEDED = Finding.notSeenAndNotNeeded("dark");
    private static final Finding SKIPPED = Finding.skipped("not here");

    static Stream<Arguments> combinations() {
        return Stream.of(
                arguments(List.of(), 0),
                arguments(List.of(PASS, SKIPPED), 0),
                arguments(List.of(PASS, UNNEEDED), 0),
                arguments(List.of(PASS, WARN), 1),
                arguments(List.of(WARN, UNNEEDED), 1),
                arguments(List.of(PASS, FAIL), 2),
                arguments(List.of(FAIL, WARN), 2),
                arguments(List.of(DARK, FAIL, WARN), 2),
                arguments(List.of(PASS, DARK), 3),
                arguments(List.of(WARN, DARK), 3));
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void endsWith2Before3Before1Before0(List<Finding> findings, int exitCode) {
        Check check = new Check("id", "title", Set.of(Side.NODE), facts -> findings);
        Report report = new Report(
                new Facts.Vantage(Side.NODE, "so"),
                findings.stream().map(finding -> new Report.Row(check, finding)).toList());
        assertThat(report.exitCode()).isEqualTo(exitCode);
    }

    @Test
    void aHealthyNodeHasNothingToComplainOfButTheReservedPorts() {
        Report report = Report.of(new Situation().facts());
        assertThat(report.rows())
                .filteredOn(row -> row.finding().verdict() != Verdict.PASS)
                .extracting(row -> row.check().id())
                .containsExactly("rdma-cm", "terway", "reserved-ports", "nccl-variables", "node-object");
        assertThat(report.exitCode()).isEqualTo(Report.WARN);
    }

    @Test
    void aHealthyPodHasNothingToComplainOf() {
        Situation situation = new Situation();
        situation.side = Side.POD;
        assertThat(Report.of(situation.facts()).exitCode()).isEqualTo(Report.PASS);
    }
}
