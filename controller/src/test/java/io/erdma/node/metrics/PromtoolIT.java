package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.metrics.Shipped.Dashboard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Prometheus' own tool says of metrics, alerts and queries. It comes with Debian's package prometheus. */
class PromtoolIT {
    @TempDir
    private Path directory;

    static List<Dashboard> dashboards() {
        return Shipped.dashboards();
    }

    /** @return what it printed; it must have nothing against the input */
    private String promtool(Path input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(directory, "promtool", ".txt");
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("promtool ends").isTrue();
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    private static Path nothing() {
        return Path.of("/dev/null");
    }

    @Test
    void alertRulesAreRules() throws Exception {
        assertThat(promtool(nothing(), "check", "rules", Shipped.RULES.toString()))
                .contains("SUCCESS: " + Shipped.alerts().size() + " rules found");
    }

    @Test
    void eachAlertFiresAfterItsTimeAndNoneWithoutReason() throws Exception {
        assertThat(promtool(nothing(), "test", "rules", Shipped.RULE_TESTS.toString()))
                .contains("SUCCESS");
    }

    @Test
    void hasNothingAgainstNamesAndHelpOfAnyMetric() throws Exception {
        Path scrape = directory.resolve("scrape.txt");
        try (AllMetrics all = new AllMetrics(Files.createDirectory(directory.resolve("node")))) {
            Files.writeString(scrape, all.scrape());
        }

        assertThat(promtool(scrape, "check", "metrics")).isBlank();
    }

    @ParameterizedTest
    @MethodSource("dashboards")
    void everyQueryOfADashboardIsOne(Dashboard dashboard) throws Exception {
        StringBuilder rules = new StringBuilder("groups:\n  - name: queries\n    rules:\n");
        List<String> queries = dashboard.queries();
        for (int i = 0; i < queries.size(); i++) {
            rules.append("      - record: query:%d\n        expr: '%s'\n"
                    .formatted(i, Dashboard.filledIn(queries.get(i)).replace("'", "''")));
        }
        Path file = Files.writeString(directory.resolve("queries.yaml"), rules);

        assertThat(promtool(nothing(), "check", "rules", file.toString()))
                .contains("SUCCESS: " + queries.size() + " rules found");
    }
}
