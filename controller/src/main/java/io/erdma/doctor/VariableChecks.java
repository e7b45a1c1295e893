package io.erdma.doctor;

import io.erdma.doctor.Facts.Device;
import io.erdma.nccl.Expectation;
import io.erdma.nccl.Severity;
import io.erdma.nccl.VariableRules;
import io.erdma.nccl.VariableRules.Judgement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The variables that tell NCCL what to do. */
final class VariableChecks {
    /** Judged by the device's own table. */
    private static final String GID_INDEX = "NCCL_IB_GID_INDEX";

    private VariableChecks() {}

    static List<Finding> variables(Facts facts) {
        Map<String, String> variables = new TreeMap<>(facts.nccl());
        variables.remove(GID_INDEX);
        if (variables.isEmpty()) {
            return List.of(Finding.skipped("none is set"));
        }
        Set<String> devices =
                facts.devices().content().map(all -> DeviceChecks.ours(facts, all)).orElse(List.of()).stream()
                        .map(Device::name)
                        .collect(Collectors.toSet());
        Expectation expected = new Expectation(devices, Optional.empty(), "");
        List<Finding> findings = new ArrayList<>();
        List<String> fine = new ArrayList<>();
        variables.forEach((name, value) -> {
            Judgement judgement = VariableRules.judge(name, value, expected);
            String setting = name + "=" + value;
            Optional<Severity> severity = judgement.severity();
            if (severity.isEmpty() || severity.get() == Severity.NOTE) {
                // Of what is not ours to judge the value may be anything, also a secret.
                fine.add(
                        judgement.kind() == VariableRules.Kind.OTHER
                                ? name + " is set"
                                : setting + (judgement.meaning().isEmpty() ? "" : ": " + judgement.meaning()));
            } else {
                findings.add(complaint(severity.get(), setting, judgement.meaning()));
            }
        });
        if (!fine.isEmpty()) {
            findings.addFirst(Finding.pass(fine.size() == 1 ? fine.getFirst() : fine.size() + " are set, and well")
                    .because(fine));
        }
        return findings;
    }

    /** What is wrong stands before the last semicolon, what to do behind it. */
    private static Finding complaint(Severity severity, String setting, String meaning) {
        int semicolon = meaning.lastIndexOf("; ");
        String wrong = setting + ": " + (semicolon < 0 ? meaning : meaning.substring(0, semicolon));
        String next =
                "in the job's environment: " + (semicolon < 0 ? "leave it unset" : meaning.substring(semicolon + 2));
        return severity == Severity.FAILURE ? Finding.fail(wrong, next) : Finding.warn(wrong, next);
    }
}
