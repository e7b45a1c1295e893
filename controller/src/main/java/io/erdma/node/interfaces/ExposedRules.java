package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Quote;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which of a node's own eRDMA devices are offered, on which instance.
 *
 * <p>A rule is an instance and the names of its devices, {@code i-bp1abc erdma_0/erdma_1}; several stand one behind the
 * other with commas between them. The instance {@code i-*} is every one that no other rule names, the device
 * {@code erdma_*} every one whose name begins so. White space of any kind may stand around each part. Several rules for
 * one instance add up.
 */
public record ExposedRules(List<Rule> rules) {
    /** Without any rule: every device is offered, on every instance. */
    public static final ExposedRules NONE = new ExposedRules(List.of());

    private static final String INSTANCE_PREFIX = "i-";
    private static final String ANY_INSTANCE = "i-*";
    private static final String DEVICE_PREFIX = "erdma_";
    private static final String ANY_DEVICE = DEVICE_PREFIX + "*";
    private static final String AN_INSTANCE = "an instance, i-* or for example i-bp1abc";
    private static final String A_DEVICE = "a device, for example erdma_0, or erdma_*";

    /**
     * One rule.
     *
     * @param instance absent: every instance that no other rule names
     */
    public record Rule(Optional<String> instance, Devices devices) {
        public Rule {
            requireNonNull(instance, "instance is null");
            requireNonNull(devices, "devices is null");
        }

        @Override
        public String toString() {
            return instance.orElse(ANY_INSTANCE) + " " + devices;
        }
    }

    /**
     * Names of devices.
     *
     * @param all also every name that begins with {@code erdma_}
     */
    public record Devices(Set<String> names, boolean all) {
        public Devices {
            names = Set.copyOf(names);
        }

        public boolean contains(String name) {
            return names.contains(name) || (all && name.startsWith(DEVICE_PREFIX));
        }

        private Devices and(Devices more) {
            Set<String> both = new LinkedHashSet<>(names);
            both.addAll(more.names);
            return new Devices(both, all || more.all);
        }

        /** As in a rule: {@code erdma_0/erdma_1}. */
        @Override
        public String toString() {
            List<String> sorted = new ArrayList<>(names.stream().sorted().toList());
            if (all) {
                sorted.add(ANY_DEVICE);
            }
            return String.join("/", sorted);
        }
    }

    public ExposedRules {
        rules = List.copyOf(rules);
    }

    public boolean isEmpty() {
        return rules.isEmpty();
    }

    /** Whether one cannot tell which rule holds without knowing the instance. */
    public boolean nameInstances() {
        return rules.stream().anyMatch(rule -> rule.instance().isPresent());
    }

    /** What the rules that name this instance offer, else what those for all instances do; empty when there is neither. */
    public Optional<Devices> forInstance(String id) {
        Optional<Devices> explicit = sum(Optional.of(id));
        return explicit.isPresent() ? explicit : forAnyInstance();
    }

    /** What the rules for all instances offer. */
    public Optional<Devices> forAnyInstance() {
        return sum(Optional.empty());
    }

    private Optional<Devices> sum(Optional<String> instance) {
        return rules.stream()
                .filter(rule -> rule.instance().equals(instance))
                .map(Rule::devices)
                .reduce(Devices::and);
    }

    @Override
    public String toString() {
        return rules.stream().map(Rule::toString).collect(Collectors.joining(","));
    }

    /**
     * Reads rules with commas between them; nothing at all is no rule.
     *
     * @throws IllegalArgumentException names every mistake in one line: number of the rule, column in it, what was
     *     expected there
     */
    public static ExposedRules parse(String text) {
        List<Rule> rules = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        int number = 0;
        for (String part : text.split(",", -1)) {
            String rule = strip(part);
            if (!rule.isEmpty()) {
                number++;
                var reader = new RuleReader(rule);
                reader.read().ifPresent(rules::add);
                if (!reader.problems.isEmpty()) {
                    problems.add("rule " + number + ", " + Quote.of(rule) + ": " + String.join(", ", reader.problems));
                }
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
        return new ExposedRules(rules);
    }

    private static String strip(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && isBlank(text.charAt(start))) {
            start++;
        }
        while (end > start && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }

    /** Also the blanks that do not break a line, which text copied from a web page has. */
    private static boolean isBlank(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }

    /** Reads one rule from left to right. */
    private static final class RuleReader {
        private final String text;
        private final List<String> problems = new ArrayList<>();
        private int at;

        RuleReader(String text) {
            this.text = text;
        }

        /** Empty when there are problems. */
        Optional<Rule> read() {
            Optional<String> instance = instance();
            if (!problems.isEmpty() && at == text.length()) {
                return Optional.empty();
            }
            Set<String> names = new LinkedHashSet<>();
            boolean all = false;
            boolean more;
            do {
                skipBlanks();
                int start = at;
                String device = word("/");
                if (device.equals(ANY_DEVICE)) {
                    all = true;
                } else if (isDevice(device, start)) {
                    names.add(device);
                }
                skipBlanks();
                more = at < text.length() && text.charAt(at) == '/';
                if (more) {
                    at++;
                } else if (at < text.length()) {
                    expected("/ and another device, or a comma and another rule", at);
                }
            } while (more);
            return problems.isEmpty() ? Optional.of(new Rule(instance, new Devices(names, all))) : Optional.empty();
        }

        private Optional<String> instance() {
            String word = word("");
            if (word.equals(ANY_INSTANCE)) {
                return Optional.empty();
            }
            if (!word.startsWith(INSTANCE_PREFIX) || word.length() == INSTANCE_PREFIX.length()) {
                expected(AN_INSTANCE, 0);
                return Optional.empty();
            }
            for (int i = INSTANCE_PREFIX.length(); i < word.length(); i++) {
                if (!isLetterOrDigit(word.charAt(i))) {
                    expected("letters and digits only, or i-*", i);
                    break;
                }
            }
            return Optional.of(word);
        }

        private boolean isDevice(String word, int start) {
            if (word.isEmpty()) {
                expected(A_DEVICE, start);
                return false;
            }
            for (int i = 0; i < word.length(); i++) {
                char c = word.charAt(i);
                if (!isLetterOrDigit(c) && c != '_' && c != '-' && c != '.') {
                    expected(c == '*' ? "* only as erdma_*" : A_DEVICE, start + i);
                    return false;
                }
            }
            return true;
        }

        /** Up to the next blank, or one of these. */
        private String word(String ends) {
            int start = at;
            while (at < text.length() && !isBlank(text.charAt(at)) && ends.indexOf(text.charAt(at)) < 0) {
                at++;
            }
            return text.substring(start, at);
        }

        private void skipBlanks() {
            while (at < text.length() && isBlank(text.charAt(at))) {
                at++;
            }
        }

        private void expected(String what, int index) {
            problems.add("column " + (index + 1) + ": expected " + what);
        }

        private static boolean isLetterOrDigit(char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        }
    }
}
