package io.erdma.node.net;

import static java.util.Objects.requireNonNull;

/**
 * What the operator should know about an interface beside the changes.
 *
 * @param subject the interface's name, else the card's address
 * @param text what is so, and what to do where something is to be done
 */
public record Note(String subject, Severity severity, String text) {
    /** Whether somebody has to do something. */
    public enum Severity {
        INFO,
        WARNING
    }

    public Note {
        requireNonNull(subject, "subject is null");
        requireNonNull(severity, "severity is null");
        requireNonNull(text, "text is null");
    }

    @Override
    public String toString() {
        return subject + ": " + text;
    }
}
