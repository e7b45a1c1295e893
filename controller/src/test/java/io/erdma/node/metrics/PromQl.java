package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which metrics and labels a query names; whether it is one at all is up to promtool. */
final class PromQl {
    /** What Prometheus adds to each series by the scrape configuration of docs/metrics.md. */
    private static final Set<String> OF_THE_TARGET = Set.of("node", "instance", "job");

    private static final Map<String, Set<String>> OF_PROMETHEUS = Map.of(
            "up", Set.of(),
            "ALERTS", Set.of("alertname", "alertstate", "severity", "device", "namespace", "pod"));

    private static final Pattern STRING = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");
    private static final Pattern RANGE = Pattern.compile("\\[[^]]*]");
    private static final Pattern GROUPING =
            Pattern.compile("\\b(by|without|on|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");
    private static final Pattern SELECTOR =
            Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)\\b\\s*(?:\\{([^}]*)}|(?!\\s*\\())");
    private static final Set<String> WORDS =
            Set.of("and", "or", "unless", "bool", "offset", "sum", "count", "max", "min");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)\\s*(?:=~|!~|!=|=)");

    private PromQl() {}

    /** One selector: a metric by its name in the table, and the labels that it is selected by. */
    private record Selector(String metric, Set<String> labels) {}

    /** Fails unless all that the query names is in the table. */
    static void assertKnown(String query, SortedMap<String, MetricsTable.Row> table) {
        String bare = RANGE.matcher(STRING.matcher(query).replaceAll("\"\"")).replaceAll("");
        List<MatchResult> groupings = GROUPING.matcher(bare).results().toList();
        List<Selector> selectors = selectors(GROUPING.matcher(bare).replaceAll(""));
        assertThat(selectors).as("metrics of %s", query).isNotEmpty();

        Set<String> known = new TreeSet<>(OF_THE_TARGET);
        for (Selector selector : selectors) {
            Set<String> labels = new TreeSet<>(OF_THE_TARGET);
            labels.addAll(labelsOf(selector.metric(), table, query));
            assertThat(labels)
                    .as("labels of %s in %s", selector.metric(), query)
                    .containsAll(selector.labels());
            known.addAll(labels);
        }
        for (MatchResult grouping : groupings) {
            Set<String> labels = new TreeSet<>(List.of(grouping.group(2).strip().split("\\s*,\\s*", -1)));
            labels.remove("");
            assertThat(known).as("%s in %s", grouping.group(), query).containsAll(labels);
        }
    }

    static Set<String> metrics(String query) {
        String bare = RANGE.matcher(STRING.matcher(query).replaceAll("\"\"")).replaceAll("");
        Set<String> names = new TreeSet<>();
        selectors(GROUPING.matcher(bare).replaceAll("")).forEach(selector -> names.add(selector.metric()));
        return names;
    }

    private static List<Selector> selectors(String bare) {
        List<Selector> found = new ArrayList<>();
        Matcher matcher = SELECTOR.matcher(bare);
        while (matcher.find()) {
            boolean word = WORDS.contains(matcher.group(1));
            // "by", "on" and their like went with their brackets, functions have one behind them.
            if (!word) {
                Set<String> labels = new TreeSet<>();
                if (matcher.group(2) != null) {
                    LABEL.matcher(matcher.group(2)).results().forEach(label -> labels.add(label.group(1)));
                }
                found.add(new Selector(matcher.group(1), labels));
            }
        }
        return found;
    }

    private static Set<String> labelsOf(String metric, SortedMap<String, MetricsTable.Row> table, String query) {
        if (OF_PROMETHEUS.containsKey(metric)) {
            return OF_PROMETHEUS.get(metric);
        }
        SortedMap<String, Set<String>> labels = new TreeMap<>();
        table.values().forEach(row -> {
            if (row.type().equals("histogram")) {
                Set<String> ofBuckets = new TreeSet<>(row.labels());
                ofBuckets.add("le");
                labels.put(row.name() + "_bucket", ofBuckets);
                labels.put(row.name() + "_count", row.labels());
                labels.put(row.name() + "_sum", row.labels());
            } else {
                labels.put(row.name(), row.labels());
            }
        });
        assertThat(labels.keySet()).as("metrics of %s", query).contains(metric);
        return labels.get(metric);
    }
}
