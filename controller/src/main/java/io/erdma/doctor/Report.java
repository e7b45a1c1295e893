package io.erdma.doctor;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What all checks say, in the order of the operator's path.
 *
 * @param vantage from where was looked
 */
public record Report(Facts.Vantage vantage, List<Row> rows) {
    /** Nothing was found to complain of. */
    public static final int PASS = 0;

    public static final int WARN = 1;
    public static final int FAIL = 2;

    /** Nothing is known to be wrong, and something that matters could not be looked at. */
    public static final int NOT_SEEN = 3;

    /** One finding of one check. */
    public record Row(Check check, Finding finding) {}

    public Report {
        requireNonNull(vantage, "vantage is null");
        rows = List.copyOf(rows);
    }

    /** Runs the checks that belong to the side from which the facts were gathered. */
    public static Report of(Facts facts) {
        List<Row> rows = new ArrayList<>();
        for (Check check : Checks.ALL) {
            if (check.sides().contains(facts.vantage().side())) {
                check.rule().judge(facts).forEach(finding -> rows.add(new Row(check, finding)));
            }
        }
        return new Report(facts.vantage(), rows);
    }

    /** Of what could not be looked at as a whole. */
    public static Report unseen(Facts.Vantage vantage, String title, String why, String next) {
        Check check = new Check("pod", title, Set.of(vantage.side()), facts -> List.of());
        return new Report(vantage, List.of(new Row(check, Finding.notSeen(why, next))));
    }

    public long count(Verdict verdict) {
        return rows.stream().filter(row -> row.finding().verdict() == verdict).count();
    }

    /** What the process ends with: a failure outweighs what could not be seen, that a warning. */
    public int exitCode() {
        if (count(Verdict.FAIL) > 0) {
            return FAIL;
        }
        if (rows.stream().map(Row::finding).anyMatch(one -> one.verdict() == Verdict.NOT_SEEN && one.matters())) {
            return NOT_SEEN;
        }
        return count(Verdict.WARN) > 0 ? WARN : PASS;
    }
}
