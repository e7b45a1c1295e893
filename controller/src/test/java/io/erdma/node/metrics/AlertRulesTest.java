package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.doctor.Check;
import io.erdma.doctor.Checks;
import io.erdma.node.metrics.MetricsTable.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the alerts say; when they fire is tested by promtool. */
class AlertRulesTest {
    private static final Path TROUBLESHOOTING = Path.of("../docs/troubleshooting.md");
    private static final Pattern ANCHOR = Pattern.compile("docs/troubleshooting\\.md#([a-z0-9-]+)");
    private static final Pattern LINE = Pattern.compile("line \"([^\"{]+?)(?: of \\{\\{[^\"]*)?\"");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

    private final List<Map<?, ?>> alerts = Shipped.alerts();
    private final SortedMap<String, Row> table = MetricsTable.read();

    private static String annotation(Map<?, ?> alert, String name) {
        return (String) ((Map<?, ?>) alert.get("annotations")).get(name);
    }

    @Test
    void askForMetricsAndLabelsThatTheAgentHas() {
        assertThat(alerts).isNotEmpty().allSatisfy(alert -> PromQl.assertKnown((String) alert.get("expr"), table));
    }

    @Test
    void sayHowBadItIsAndWhere() {
        assertThat(alerts).allSatisfy(alert -> {
            assertThat((String) alert.get("alert")).startsWith("Erdma");
            assertThat(((Map<?, ?>) alert.get("labels")).get("severity")).isIn("info", "warning", "critical");
            boolean ofTheCluster = ((String) alert.get("expr")).startsWith("absent(");
            for (String text : List.of("summary", "description")) {
                assertThat(annotation(alert, text))
                        .as("%s of %s", text, alert.get("alert"))
                        .isNotBlank();
            }
            if (!ofTheCluster) {
                assertThat(annotation(alert, "description")).contains("{{ or $labels.node $labels.instance }}");
            }
            for (String label : Set.of("device", "pod", "interface")) {
                if (hasLabel((String) alert.get("expr"), label)) {
                    assertThat(annotation(alert, "summary")).contains("$labels." + label);
                }
            }
        });
        assertThat(alerts).map(alert -> alert.get("alert")).doesNotHaveDuplicates();
    }

    private boolean hasLabel(String expression, String label) {
        Set<String> metrics = PromQl.metrics(expression);
        return !expression.contains("without (" + label + ")")
                && table.values().stream()
                        .anyMatch(row ->
                                metrics.contains(row.name()) && row.labels().contains(label));
    }

    @Test
    void nameALineOfTheDoctorThatIsThere() {
        List<String> titles = Checks.ALL.stream().map(Check::title).toList();
        assertThat(alerts).allSatisfy(alert -> {
            String runbook = annotation(alert, "runbook");
            assertThat(runbook).as("runbook of %s", alert.get("alert")).contains("erdma ");
            assertThat(LINE.matcher(runbook).results().map(line -> line.group(1)))
                    .isSubsetOf(titles);
        });
        assertThat(alerts)
                .anySatisfy(alert -> assertThat(annotation(alert, "runbook")).containsPattern(LINE));
    }

    @Test
    void leadToAPartOfTheTroubleshootingGuide() throws IOException {
        List<String> anchors = HEADING.matcher(Files.readString(TROUBLESHOOTING))
                .results()
                .map(heading -> heading.group(1).strip().toLowerCase(Locale.ROOT))
                .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                .toList();
        assertThat(alerts).allSatisfy(alert -> {
            List<MatchResult> named =
                    ANCHOR.matcher(annotation(alert, "runbook")).results().toList();
            assertThat(named).as("runbook of %s", alert.get("alert")).hasSize(1);
            assertThat(anchors).contains(named.getFirst().group(1));
        });
    }

    /** promtool tests only what it is told to. */
    @Test
    void eachHasATestInWhichItFires() {
        String tests = Shipped.yaml(Shipped.RULE_TESTS).toString();
        assertThat(alerts)
                .allSatisfy(alert -> assertThat(tests)
                        .contains("ALERTS{alertname=\"" + alert.get("alert") + "\", alertstate=\"firing\""));
    }

    @Test
    void areAllInTheTableOfTheDocuments() throws IOException {
        String text = Files.readString(MetricsTable.FILE);
        String rows = text.substring(text.indexOf("<!-- alerts -->"), text.indexOf("<!-- /alerts -->"));
        assertThat(rows.lines()
                        .filter(line -> line.startsWith("| `"))
                        .map(line -> List.of(line.split("\\s*\\|\\s*", -1))))
                .map(cells -> List.of(cells.get(1).replace("`", ""), cells.get(2), cells.get(3)))
                .containsExactlyElementsOf(alerts.stream()
                        .map(alert -> List.of(
                                (String) alert.get("alert"),
                                (String) ((Map<?, ?>) alert.get("labels")).get("severity"),
                                alert.get("for") == null ? "at once" : (String) alert.get("for")))
                        .toList());
    }
}
