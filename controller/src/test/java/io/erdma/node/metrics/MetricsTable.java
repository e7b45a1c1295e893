package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** The table of docs/metrics.md. */
public final class MetricsTable {
    static final Path FILE = Path.of("../docs/metrics.md");
    private static final String BEGIN = "<!-- metrics -->";
    private static final String END = "<!-- /metrics -->";

    private MetricsTable() {}

    /**
     * @param unit a word, or empty for a plain count
     * @param meaning the metric's HELP
     * @param absent when it has no series; empty: it always has
     */
    public record Row(String name, String type, String unit, Set<String> labels, String meaning, String absent) {}

    public static SortedMap<String, Row> read() {
        String text;
        try {
            text = Files.readString(FILE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(text).containsOnlyOnce(BEGIN).containsOnlyOnce(END);
        SortedMap<String, Row> rows = new TreeMap<>();
        text.substring(text.indexOf(BEGIN), text.indexOf(END))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .forEach(line -> {
                    List<String> cells = Arrays.stream(line.split("\\|", -1))
                            .map(String::strip)
                            .toList();
                    assertThat(cells).as(line).hasSize(8);
                    Row row = new Row(
                            cells.get(1).replace("`", ""),
                            cells.get(2),
                            cells.get(3),
                            labels(cells.get(4)),
                            cells.get(5),
                            cells.get(6));
                    assertThat(rows.put(row.name(), row))
                            .as("%s is in the table once", row.name())
                            .isNull();
                });
        return rows;
    }

    private static Set<String> labels(String cell) {
        Set<String> labels = new TreeSet<>(List.of(cell.replace("`", "").split("[, ]+", -1)));
        labels.remove("");
        return labels;
    }
}
