package io.erdma.node;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what somebody may have meant who mistyped a name. */
public final class Spelling {
    /** A name that long is none of ours; the work stays bounded. */
    private static final int LONGEST = 100;

    private Spelling() {}

    /** The known name that is nearest, if it is near enough. */
    public static Optional<String> nearest(String name, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String candidate) -> distance(name, candidate))
                        .thenComparing(candidate -> candidate))
                .filter(candidate -> distance(name, candidate) <= Math.max(2, candidate.length() / 5));
    }

    /** Number of single-character edits between two names, without regard to case. */
    private static int distance(String one, String other) {
        if (one.length() > LONGEST) {
            return Integer.MAX_VALUE;
        }
        int[] previous = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int[] current = new int[other.length() + 1];
            current[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                boolean same = Character.toLowerCase(one.charAt(i - 1)) == Character.toLowerCase(other.charAt(j - 1));
                current[j] = Math.min(Math.min(current[j - 1], previous[j]) + 1, previous[j - 1] + (same ? 0 : 1));
            }
            previous = current;
        }
        return previous[other.length()];
    }
}
