package io.erdma.cli;

import io.erdma.nccl.Evidence;
import io.erdma.nccl.Expectation;
import io.erdma.nccl.IbDevice;
import io.erdma.nccl.NcclLog;
import io.erdma.nccl.NcclLog.Training;
import io.erdma.nccl.NcclVerdict;
import io.erdma.nccl.NcclVerdict.Finding;
import io.erdma.nccl.NcclVerdict.GpuDirect;
import io.erdma.nccl.NcclVerdict.Group;
import io.erdma.nccl.NcclVerdict.JudgedVariable;
import io.erdma.nccl.NcclVerdict.Traffic;
import io.erdma.nccl.Outcome;
import io.erdma.nccl.RankNames;
import io.erdma.nccl.Severity;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The verdict for people: what holds, for whom, by which line, and what to do. */
final class NcclCheckFormat {
    private static final int WIDTH = 100;
    private static final int MOST_GROUPS = 20;
    private static final int MOST_VARIABLES = 40;

    private final StringBuilder text = new StringBuilder(2_048);

    private NcclCheckFormat() {}

    static String format(NcclLog log, Expectation expected, NcclVerdict verdict) {
        NcclCheckFormat format = new NcclCheckFormat();
        format.line(headline(verdict));
        format.groups(verdict.groups(), expected);
        for (Severity severity : Severity.values()) {
            verdict.findings().stream()
                    .filter(finding -> finding.severity() == severity)
                    .forEach(format::finding);
            verdict.variables().stream()
                    .filter(variable -> variable.severity().equals(Optional.of(severity)))
                    .limit(MOST_VARIABLES)
                    .forEach(variable -> format.variable(severity, variable));
        }
        format.others(verdict.variables());
        format.log(log);
        return format.text.toString();
    }

    private static String headline(NcclVerdict verdict) {
        String failures = verdict.findings().stream().anyMatch(finding -> finding.severity() == Severity.FAILURE)
                ? "; but the log shows failures"
                : "";
        String ranks = verdict.failing()
                .map(names -> names.text() + ", " + names.count() + " of " + verdict.ranks() + " in the log")
                .orElse("");
        return switch (verdict.outcome()) {
            case ERDMA ->
                "eRDMA: selected by "
                        + (verdict.ranks() == 1 ? "the one rank" : "all " + verdict.ranks() + " ranks") + " in the log"
                        + (isProven(verdict) ? ", with channels via NET/IB" : "; traffic not proven")
                        + failures;
            case NOT_ERDMA -> "NOT over eRDMA: " + ranks;
            case UNKNOWN ->
                "cannot tell whether it is eRDMA"
                        + (ranks.isEmpty() ? ": the log does not say which network NCCL uses" : ": " + ranks);
        };
    }

    private static boolean isProven(NcclVerdict verdict) {
        return verdict.groups().stream().allMatch(group -> group.traffic() == Traffic.VERBS);
    }

    private void groups(List<Group> groups, Expectation expected) {
        for (Group group : groups.subList(0, Math.min(groups.size(), MOST_GROUPS))) {
            line("");
            wrapped(group.ranks().text() + ": " + group.reason().text());
            line("  devices " + devices(group.devices()) + "; network " + network(group) + "; channels "
                    + name(group.traffic()) + "; GPUDirect " + name(group.gpuDirect()));
            if (group.reason().outcome() != Outcome.UNKNOWN && expected.mode().isPresent()) {
                line("  driver mode: " + expected.modeSource());
            }
            evidence(group.evidence());
            cure(group.reason().cure());
        }
        if (groups.size() > MOST_GROUPS) {
            line("");
            line("and " + (groups.size() - MOST_GROUPS) + " more groups of ranks; --json has them");
        }
    }

    private static String network(Group group) {
        return group.networks().isEmpty()
                ? "unknown"
                : group.networks().stream().sorted().collect(Collectors.joining(" and "));
    }

    private static String devices(List<IbDevice> devices) {
        return devices.isEmpty()
                ? "none"
                : devices.stream().map(IbDevice::toString).collect(Collectors.joining(" "));
    }

    private static String name(Traffic traffic) {
        return switch (traffic) {
            case VERBS -> "via NET/IB";
            case TCP -> "via NET/Socket";
            case LOCAL -> "within the host only";
            case UNSEEN -> "not in the log";
        };
    }

    private static String name(GpuDirect gpuDirect) {
        return switch (gpuDirect) {
            case USED -> "used";
            case PARTLY -> "used by some channels";
            case UNUSED -> "not used";
            case ENABLED -> "enabled, not seen in use";
            case DISABLED -> "disabled";
            case UNKNOWN -> "unknown";
        };
    }

    private void finding(Finding finding) {
        line("");
        wrapped(finding.severity().name() + " " + finding.id() + of(finding.ranks()) + ": " + finding.meaning());
        evidence(finding.evidence());
        cure(finding.cure());
    }

    private void variable(Severity severity, JudgedVariable variable) {
        line("");
        wrapped(severity.name() + " " + variable.name() + "=" + variable.value() + of(variable.ranks()) + ": "
                + variable.meaning());
        evidence(Optional.of(variable.evidence()));
    }

    /** Variables that nothing is wrong with. */
    private void others(List<JudgedVariable> variables) {
        String fine = variables.stream()
                .filter(variable -> variable.severity().isEmpty())
                .limit(MOST_VARIABLES)
                .map(variable -> variable.name() + "=" + variable.value()
                        + (variable.meaning().isEmpty() ? "" : " (" + variable.meaning() + ")"))
                .collect(Collectors.joining(", "));
        if (!fine.isEmpty()) {
            line("");
            wrapped("other variables: " + fine);
        }
    }

    private void log(NcclLog log) {
        Training training = log.training();
        line("");
        line(
                training.first().isEmpty()
                        ? "training: no line shows a loss"
                        : "training: " + training.steps() + (training.steps() == 1 ? " line shows" : " lines show")
                                + " a loss, the last one is line " + training.last());
        evidence(training.first());
        line(String.format(
                Locale.ROOT,
                "log: %,d lines, NCCL %s",
                log.lines(),
                log.versions().isEmpty() ? "of unknown version" : String.join(", ", log.versions())));
    }

    private static String of(Optional<RankNames.Names> ranks) {
        return ranks.map(names -> " (" + names.text() + ")").orElse("");
    }

    private void evidence(Optional<Evidence> evidence) {
        evidence.ifPresent(
                found -> line("  line " + found.line() + (found.text().isEmpty() ? "" : ": " + found.text())));
    }

    private void cure(String cure) {
        if (!cure.isEmpty()) {
            wrapped("  do: " + cure);
        }
    }

    /** Text of ours, broken at blanks; what the log says stays on its line. */
    private void wrapped(String text) {
        String words = text.stripLeading();
        StringBuilder line = new StringBuilder(" ".repeat(text.length() - words.length()));
        boolean begins = true;
        for (String word : words.split(" ", -1)) {
            if (!begins && line.length() + word.length() >= WIDTH) {
                line(line.toString());
                line.setLength(0);
                line.append("    ");
                begins = true;
            }
            line.append(begins ? "" : " ").append(word);
            begins = false;
        }
        line(line.toString());
    }

    private void line(String line) {
        text.append(TerminalText.escape(line.replace('\t', ' '))).append('\n');
    }
}
