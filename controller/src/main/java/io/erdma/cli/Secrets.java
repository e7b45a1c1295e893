package io.erdma.cli;

import java.util.regex.Pattern;

/** Keeps keys, tokens and passwords out of what is handed to others. Leaves out too much rather than too little. */
final class Secrets {
    static final String LEFT_OUT = "(left out)";

    private static final Pattern SECRET_NAME =
            Pattern.compile("(?i).*(key|token|secret|passw|passphrase|credential|cookie|session|signature|auth).*");

    /** What is secret wherever it stands: access key ids of clouds, JSON web tokens, private keys. */
    private static final Pattern KNOWN_FORM = Pattern.compile(
            "\\b(?:LTAI|AKIA|ASIA|STS\\.)[A-Za-z0-9.]{10,}|\\beyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]+)*"
                    + "|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?");

    /** {@code password=…}, {@code "token": "…"}, {@code Authorization: Bearer …}: the name stays. */
    private static final Pattern NAMED = Pattern.compile(
            "(?i)((?:password|passwd|passphrase|secret|token|signature|api[-_]?key|access[-_]?key(?:[-_]?(?:id|secret))?|credential"
                    + "|bearer|authorization)\"?\\s*(?:[=:]\\s*|\\s)\"?(?:bearer\\s+|basic\\s+)?)[^\\s\"',;&]+");

    /** {@code https://user:password@host}. */
    private static final Pattern IN_URL = Pattern.compile("(://)[^/\\s@]+@");

    /** What looks like a key: long, of letters and digits without any word or number in it that one could read. */
    private static final Pattern LONG_RUN = Pattern.compile("[A-Za-z0-9+=_-]{24,}");

    private Secrets() {}

    /** A text of any length, for example a log: only what is surely a secret is left out. */
    static String mask(String text) {
        String masked = KNOWN_FORM.matcher(text).replaceAll(LEFT_OUT);
        masked = NAMED.matcher(masked).replaceAll("$1" + LEFT_OUT);
        return IN_URL.matcher(masked).replaceAll("$1" + LEFT_OUT + "@");
    }

    /** The value of a variable, or as much of it as may be shown. */
    static String value(String name, String value) {
        if (SECRET_NAME.matcher(name).matches()) {
            return LEFT_OUT;
        }
        return LONG_RUN.matcher(mask(value)).replaceAll(run -> looksRandom(run.group()) ? LEFT_OUT : run.group());
    }

    private static boolean looksRandom(String run) {
        boolean digits = run.chars().anyMatch(c -> c >= '0' && c <= '9');
        boolean letters = run.chars().anyMatch(Character::isLetter);
        return digits && letters;
    }
}
