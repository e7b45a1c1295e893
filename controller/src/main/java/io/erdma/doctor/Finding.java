package io.erdma.doctor;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one check says about one subject.
 *
 * @param subject a device, where a check looks at each
 * @param statement one line: what is so, or why it could not be seen or is not looked at
 * @param evidence what that rests on, one line each
 * @param next what to do about it
 * @param matters of one that was not seen: whether the node can be called healthy all the same (false), or not (true)
 */
public record Finding(
        Optional<String> subject,
        Verdict verdict,
        String statement,
        List<String> evidence,
        Optional<String> next,
        boolean matters) {
    public Finding {
        requireNonNull(subject, "subject is null");
        requireNonNull(verdict, "verdict is null");
        requireNonNull(statement, "statement is null");
        evidence = List.copyOf(evidence);
        requireNonNull(next, "next is null");
    }

    static Finding pass(String statement) {
        return of(Verdict.PASS, statement, Optional.empty(), false);
    }

    static Finding warn(String statement, String next) {
        return of(Verdict.WARN, statement, Optional.of(next), false);
    }

    static Finding fail(String statement, String next) {
        return of(Verdict.FAIL, statement, Optional.of(next), false);
    }

    /** Without it nobody can say that all is well. */
    static Finding notSeen(String why, String next) {
        return of(Verdict.NOT_SEEN, why, Optional.of(next), true);
    }

    /** Worth a look, but its absence proves nothing. */
    static Finding notSeenAndNotNeeded(String why) {
        return of(Verdict.NOT_SEEN, why, Optional.empty(), false);
    }

    static Finding skipped(String why) {
        return of(Verdict.SKIPPED, why, Optional.empty(), false);
    }

    private static Finding of(Verdict verdict, String statement, Optional<String> next, boolean matters) {
        return new Finding(Optional.empty(), verdict, statement, List.of(), next, matters);
    }

    Finding about(String name) {
        return new Finding(Optional.of(name), verdict, statement, evidence, next, matters);
    }

    Finding because(String... lines) {
        return because(List.of(lines));
    }

    Finding because(List<String> lines) {
        List<String> all = new ArrayList<>(evidence);
        all.addAll(lines);
        return new Finding(subject, verdict, statement, all, next, matters);
    }
}
