package io.erdma.node.http;

import java.util.List;

/**
 * The answer to a probe.
 *
 * @param failures which conditions do not hold, one line each; none means yes
 */
public record Verdict(List<String> failures) {
    public static final Verdict YES = new Verdict(List.of());

    public Verdict {
        failures = List.copyOf(failures);
    }

    public boolean holds() {
        return failures.isEmpty();
    }
}
