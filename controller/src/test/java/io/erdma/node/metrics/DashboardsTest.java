package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.metrics.MetricsTable.Row;
import io.erdma.node.metrics.Shipped.Dashboard;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Grafana's dashboards, as far as can be told without Grafana. */
class DashboardsTest {
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([a-zA-Z_]+)");
    private static final Pattern VARIABLE_QUERY = Pattern.compile("label_values\\((.+), ([a-z_]+)\\)");
    private static final Set<String> GRAFANAS_OWN = Set.of("__rate_interval", "__data", "__url_time_range");

    /** What Grafana has without any plugin. */
    private static final Set<String> BUILT_IN = Set.of("row", "stat", "timeseries", "state-timeline", "table", "text");

    private final SortedMap<String, Row> table = MetricsTable.read();

    static List<Dashboard> dashboards() {
        return Shipped.dashboards();
    }

    @Test
    void thereIsOneForTheClusterANodeAndPods() {
        assertThat(dashboards())
                .<Object>map(each -> each.content().get("uid"))
                .containsExactly("erdma-cluster", "erdma-node", "erdma-pods");
        assertThat(dashboards())
                .allSatisfy(each -> assertThat(each).hasToString(each.content().get("uid") + ".json"));
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void asksForMetricsAndLabelsThatTheAgentHas(Dashboard dashboard) {
        assertThat(dashboard.queries()).isNotEmpty().allSatisfy(query -> PromQl.assertKnown(query, table));
        assertThat(dashboard.variableQueries()).isNotEmpty().allSatisfy(query -> {
            var parts = VARIABLE_QUERY.matcher(query);
            assertThat(parts.matches()).as(query).isTrue();
            PromQl.assertKnown("sum by (" + parts.group(2) + ") (" + parts.group(1) + ")", table);
        });
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void everyPanelSaysWhatItShowsAndInWhichUnit(Dashboard dashboard) {
        assertThat(dashboard.panels()).allSatisfy(panel -> {
            assertThat(panel.get("title")).as("title").asString().isNotBlank();
            assertThat(BUILT_IN).contains((String) panel.get("type"));
            if (!Set.of("row", "text").contains(panel.get("type"))) {
                assertThat(panel.get("description"))
                        .as("%s: description", panel.get("title"))
                        .asString()
                        .endsWith(".");
                Map<?, ?> config = (Map<?, ?>) panel.get("fieldConfig");
                assertThat(((Map<?, ?>) config.get("defaults")).get("unit"))
                        .as("%s: unit", panel.get("title"))
                        .asString()
                        .isNotBlank();
                assertThat(panel.get("datasource")).isEqualTo(Map.of("type", "prometheus", "uid", "${datasource}"));
            }
        });
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void noTwoPanelsLieOnEachOther(Dashboard dashboard) {
        Set<String> taken = new HashSet<>();
        for (Map<?, ?> panel : dashboard.panels()) {
            Map<?, ?> place = (Map<?, ?>) panel.get("gridPos");
            int left = (int) place.get("x");
            int top = (int) place.get("y");
            assertThat(left + (int) place.get("w"))
                    .as("%s: right edge", panel.get("title"))
                    .isLessThanOrEqualTo(24);
            for (int x = left; x < left + (int) place.get("w"); x++) {
                for (int y = top; y < top + (int) place.get("h"); y++) {
                    assertThat(taken.add(x + "," + y))
                            .as("%s at %d,%d", panel.get("title"), x, y)
                            .isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void idsOfPanelsAndQueriesDiffer(Dashboard dashboard) {
        assertThat(dashboard.panels())
                .map(panel -> panel.get("id"))
                .doesNotHaveDuplicates()
                .doesNotContainNull();
        assertThat(dashboard.panels())
                .allSatisfy(panel -> assertThat(Shipped.maps(panel.get("targets")))
                        .map(target -> target.get("refId"))
                        .doesNotHaveDuplicates());
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void everyVariableThatIsUsedIsDeclared(Dashboard dashboard) {
        Set<String> declared = new TreeSet<>(GRAFANAS_OWN);
        Shipped.maps(((Map<?, ?>) dashboard.content().get("templating")).get("list"))
                .forEach(variable -> declared.add((String) variable.get("name")));

        assertThat(declared).contains("datasource");
        assertThat(VARIABLE.matcher(dashboard.content().toString())
                        .results()
                        .map(match -> match.group(1))
                        .distinct())
                .contains("datasource")
                .isSubsetOf(declared);
    }

    /** Whoever imports one gets it as it is written, for a Grafana of today. */
    @ParameterizedTest
    @MethodSource("dashboards")
    void isNotBoundToTheGrafanaThatItWasMadeIn(Dashboard dashboard) {
        assertThat(dashboard.content().containsKey("id")).as("a database's id").isFalse();
        assertThat((int) dashboard.content().get("schemaVersion")).isGreaterThanOrEqualTo(39);
        assertThat(dashboard.content().toString()).doesNotContain("__inputs").doesNotContain("DS_PROMETHEUS");
    }
}
