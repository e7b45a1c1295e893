package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.metrics.Exposition.Family;
import io.erdma.node.metrics.MetricsTable.Row;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/metrics.md tells all metrics, and no others. PrometheusIT compares it with a running agent besides. */
class MetricsTableTest {
    /** Parts of a name that say its unit, by Prometheus' conventions. */
    private static final Set<String> BASE_UNITS = Set.of("seconds", "bytes");

    @TempDir
    private Path directory;

    private SortedMap<String, Family> exposed() {
        try (AllMetrics all = new AllMetrics(directory)) {
            return Exposition.read(all.scrape());
        }
    }

    @Test
    void namesAllMetricsAndNoOthers() {
        assertThat(MetricsTable.read().keySet()).isEqualTo(exposed().keySet());
    }

    @Test
    void tellsTypeLabelsAndMeaningAsAScrapeDoes() {
        SortedMap<String, Family> exposed = exposed();
        assertThat(MetricsTable.read().values()).allSatisfy(row -> {
            Family family = exposed.get(row.name());
            assertThat(row.type()).as("type of %s", row.name()).isEqualTo(family.type());
            assertThat(row.labels()).as("labels of %s", row.name()).isEqualTo(family.labels());
            assertThat(row.meaning()).as("meaning of %s", row.name()).isEqualTo(family.help());
        });
    }

    @Test
    void everyNameFollowsPrometheusConventions() {
        assertThat(MetricsTable.read().values()).isNotEmpty().allSatisfy(row -> {
            assertThat(row.name()).matches("(erdma|process|jvm)(_[a-z0-9]+)+").doesNotContain("erdma_0");
            assertThat(row.name().endsWith("_total"))
                    .as(row.name())
                    .isEqualTo(row.type().equals("counter"));
            assertThat(BASE_UNITS.stream().filter(row.name()::contains).toList())
                    .as("unit in the name of %s", row.name())
                    .isEqualTo(row.unit().isEmpty() ? List.of() : List.of(row.unit()));
            assertThat(row.meaning()).as(row.name()).isNotBlank().doesNotEndWith(".");
        });
    }

    /** Whoever adds a group of metrics to the agent adds it to {@link AllMetrics}, and its rows to the table. */
    @Test
    void noGroupOfMetricsIsLeftOut() {
        assertThat(Arrays.stream(AgentMetrics.class.getDeclaredMethods())
                        .filter(method -> Modifier.isPublic(method.getModifiers()))
                        .map(Method::getName)
                        .filter(name -> !AllMetrics.WITHOUT_METRICS_OF_THEIR_OWN.contains(name)))
                .containsExactlyInAnyOrderElementsOf(AllMetrics.GROUPS);
    }

    @Test
    void saysOfEachSeriesThatMayBeAbsentWhen() {
        try (var fresh = new AgentMetrics("1.2.3", 200)) {
            Set<String> always = Exposition.read(fresh.scrape()).keySet();
            assertThat(MetricsTable.read().values().stream()
                            .filter(row -> always.contains(row.name()))
                            .filter(row -> !row.absent().isEmpty())
                            .map(Row::name))
                    .isEmpty();
        }
    }
}
