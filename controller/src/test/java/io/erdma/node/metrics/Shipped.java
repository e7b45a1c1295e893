package io.erdma.node.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The dashboards and alerts that come with the chart, as maps and lists. */
public final class Shipped {
    public static final Path RULES = Path.of("../charts/erdma-controller/alerts/erdma.rules.yaml");
    static final Path RULE_TESTS = Path.of("src/test/resources/alerts/erdma.test.yaml");
    private static final Path DASHBOARDS = Path.of("../charts/erdma-controller/dashboards");

    private Shipped() {}

    /** @param content as Grafana reads it */
    public record Dashboard(Path file, Map<?, ?> content) {
        /** All panels but rows, which hold nothing when they are not collapsed. */
        List<Map<?, ?>> panels() {
            return maps(content.get("panels"));
        }

        /** Each query of each panel. */
        public List<String> queries() {
            return panels().stream()
                    .flatMap(panel -> maps(panel.get("targets")).stream())
                    .map(target -> (String) target.get("expr"))
                    .toList();
        }

        /** The query as Grafana would send it, with all nodes, namespaces and pods chosen. */
        public static String filledIn(String query) {
            return query.replace("$__rate_interval", "10s")
                    .replaceAll("=\"\\$[a-z]+\"", "=~\".*\"")
                    .replaceAll("\\$[a-z]+", ".*");
        }

        /** The queries that fill the lists of the variables. */
        List<String> variableQueries() {
            return maps(((Map<?, ?>) content.get("templating")).get("list")).stream()
                    .map(variable -> variable.get("definition"))
                    .filter(Objects::nonNull)
                    .map(String.class::cast)
                    .toList();
        }

        @Override
        public String toString() {
            return file.getFileName().toString();
        }
    }

    public static List<Dashboard> dashboards() {
        try (Stream<Path> files = Files.list(DASHBOARDS)) {
            return files.sorted()
                    .map(file -> new Dashboard(file, (Map<?, ?>) yaml(file)))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All alerts of all groups. */
    static List<Map<?, ?>> alerts() {
        List<Map<?, ?>> alerts = new ArrayList<>();
        maps(((Map<?, ?>) yaml(RULES)).get("groups")).forEach(group -> alerts.addAll(maps(group.get("rules"))));
        return alerts;
    }

    /** JSON is YAML, too. */
    static Object yaml(Path file) {
        try {
            return new Load(LoadSettings.builder().setCodePointLimit(10_000_000).build())
                    .loadFromString(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A list of maps; none for null. */
    static List<Map<?, ?>> maps(Object list) {
        return list == null
                ? List.of()
                : ((List<?>) list)
                        .stream().<Map<?, ?>>map(each -> (Map<?, ?>) each).toList();
    }
}
