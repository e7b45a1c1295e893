package io.erdma.node;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One setting of the agent: its name in all spellings, how its text is read, and its line in the help.
 *
 * @param name as on the command line, without dashes: {@code shares-per-device}
 * @param kind what may be given
 * @param hint the value's place holder in the help, for example {@code FILE}
 * @param defaultText the value when nobody sets it, as one would write it; empty for "none"
 * @param parser text → value
 * @param help one sentence
 */
record Setting<T>(String name, Kind kind, String hint, String defaultText, Parser<T> parser, String help) {
    /** What a setting takes. */
    enum Kind {
        /** One value; the last one given counts. */
        VALUE,
        /** As VALUE, and the empty text has a meaning of its own instead of standing for "not set". */
        VALUE_OR_EMPTY,
        /** As VALUE_OR_EMPTY; a list in the file means the same with commas between its values. */
        VALUE_OR_LIST,
        /** True or false; on the command line the name alone means true. */
        FLAG,
        /** Any number of values. */
        LIST
    }

    /** Reads one value. */
    @FunctionalInterface
    interface Parser<T> {
        T parse(String text) throws InvalidValueException;
    }

    /** A text that is no value of a setting; the message says what is wrong and what to write. */
    static final class InvalidValueException extends Exception {
        private static final long serialVersionUID = 1L;

        InvalidValueException(String message) {
            super(message);
        }
    }

    String environmentName() {
        return "ERDMA_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    String fileKey() {
        String[] words = name.split("-");
        return words[0]
                + Arrays.stream(words)
                        .skip(1)
                        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                        .collect(Collectors.joining());
    }

    boolean isFlag() {
        return kind == Kind.FLAG;
    }

    boolean isList() {
        return kind == Kind.LIST;
    }

    /** Whether the file may give it as a list. */
    boolean takesLists() {
        return isList() || kind == Kind.VALUE_OR_LIST;
    }

    /** What is wrong with a text; empty when it is a value. */
    Optional<String> problemWith(String text) {
        try {
            parser.parse(text);
            return Optional.empty();
        } catch (InvalidValueException e) {
            return Optional.of(e.getMessage());
        }
    }
}
