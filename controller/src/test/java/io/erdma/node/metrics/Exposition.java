package io.erdma.node.metrics;

import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a scrape tells, read from Prometheus' text format. */
public final class Exposition {
    private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");

    private Exposition() {}

    /**
     * @param labels names that any sample has; of a histogram without {@code le}
     * @param series samples; a histogram's are counted as one for each set of labels
     */
    public record Family(String type, String help, Set<String> labels, int series) {}

    /** By name, as queries write it; a histogram goes by the name that its buckets' begins with. */
    public static SortedMap<String, Family> read(String text) {
        SortedMap<String, Family> families = new TreeMap<>();
        Map<String, String> helps = new TreeMap<>();
        for (String line : text.lines().toList()) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# HELP ")) {
                helps.put(words[2], words[3]);
            } else if (line.startsWith("# TYPE ")) {
                families.put(words[2], new Family(words[3], helps.getOrDefault(words[2], ""), Set.of(), 0));
            } else if (!line.startsWith("#") && !line.isBlank()) {
                add(families, line);
            }
        }
        return families;
    }

    private static void add(SortedMap<String, Family> families, String line) {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
            throw new AssertionError("no sample: " + line);
        }
        String name = sample.group(1);
        String base = name.replaceFirst("_(bucket|sum|count)$", "");
        boolean histogram = !families.containsKey(name)
                && families.containsKey(base)
                && families.get(base).type().equals("histogram");
        String of = histogram ? base : name;
        Family family = families.get(of);
        if (family == null) {
            throw new AssertionError("no TYPE before: " + line);
        }
        Set<String> labels = new TreeSet<>(family.labels());
        if (sample.group(2) != null) {
            LABEL.matcher(sample.group(2))
                    .results()
                    .map(label -> label.group(1))
                    .forEach(labels::add);
        }
        if (histogram) {
            labels.remove("le");
        }
        int series = family.series() + (!histogram || name.endsWith("_count") ? 1 : 0);
        families.put(of, new Family(family.type(), family.help(), labels, series));
    }
}
