package io.erdma.node;

import java.util.List;

/** A configuration that cannot be used; it names everything that is wrong with it, not only the first thing. */
public final class ConfigurationException extends Exception {
    private static final long serialVersionUID = 1L;

    private final List<String> problems;

    public ConfigurationException(List<String> problems) {
        super("configuration has " + (problems.size() == 1 ? "1 problem" : problems.size() + " problems") + ":\n  "
                + String.join("\n  ", problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
