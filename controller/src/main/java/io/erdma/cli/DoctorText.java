package io.erdma.cli;

import io.erdma.doctor.Check;
import io.erdma.doctor.Finding;
import io.erdma.doctor.Report;
import io.erdma.doctor.Side;
import io.erdma.doctor.Verdict;

/** The report for people: a line for each finding, below it what it rests on and what to do; at last the sum. */
final class DoctorText {
    private static final String INDENT = "      ";

    private DoctorText() {}

    /** @param all also the evidence of what passed, and what is not there to be looked at */
    static String format(Report report, boolean all) {
        StringBuilder text = new StringBuilder(4096);
        text.append(side(report.vantage().side()))
                .append(TerminalText.escape(report.vantage().why()))
                .append('\n');
        for (Report.Row row : report.rows()) {
            if (all || row.finding().verdict() != Verdict.SKIPPED) {
                append(text, row, all);
            }
        }
        return text.append(summary(report)).append('\n').toString();
    }

    private static String side(Side side) {
        return switch (side) {
            case NODE -> "The node's side: ";
            case POD -> "The pod's side: ";
            case OTHER_POD -> "The pod's side, seen from its node: ";
        };
    }

    private static void append(StringBuilder text, Report.Row row, boolean all) {
        Finding finding = row.finding();
        text.append(word(finding.verdict()))
                .append("  ")
                .append(TerminalText.escape(title(row.check(), finding) + ": " + finding.statement()))
                .append('\n');
        boolean passed = finding.verdict() == Verdict.PASS || finding.verdict() == Verdict.SKIPPED;
        if (all || !passed) {
            for (String line : finding.evidence()) {
                text.append(INDENT).append(TerminalText.escape(line)).append('\n');
            }
        }
        finding.next()
                .ifPresent(next -> text.append(INDENT)
                        .append("next: ")
                        .append(TerminalText.escape(next))
                        .append('\n'));
    }

    private static String title(Check check, Finding finding) {
        return check.title()
                + finding.subject().map(subject -> " of " + subject).orElse("");
    }

    private static String word(Verdict verdict) {
        return switch (verdict) {
            case PASS -> "pass";
            case WARN -> "warn";
            case FAIL -> "FAIL";
            case NOT_SEEN -> "????";
            case SKIPPED -> "skip";
        };
    }

    static String summary(Report report) {
        long warnings = report.count(Verdict.WARN);
        return "doctor: " + report.count(Verdict.FAIL) + " failed, " + warnings
                + (warnings == 1 ? " warning, " : " warnings, ") + report.count(Verdict.PASS) + " passed, "
                + report.count(Verdict.NOT_SEEN) + " not looked at";
    }
}
