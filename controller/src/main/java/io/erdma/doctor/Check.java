package io.erdma.doctor;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Set;

/**
 * One thing that must be right for eRDMA to work.
 *
 * @param id stable, for programs
 * @param title for people, such that "title of subject" reads well
 * @param sides from where it can be looked at
 * @param rule pure
 */
public record Check(String id, String title, Set<Side> sides, Rule rule) {
    /** Facts in, findings out; at least one. */
    @FunctionalInterface
    public interface Rule {
        List<Finding> judge(Facts facts);
    }

    public Check {
        requireNonNull(id, "id is null");
        requireNonNull(title, "title is null");
        sides = Set.copyOf(sides);
        requireNonNull(rule, "rule is null");
    }
}
