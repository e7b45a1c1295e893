package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.AgentConfig;
import io.erdma.node.AgentConfig.Choice;
import io.erdma.node.AgentConfigReader;
import io.erdma.node.ConfigurationException;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** values.yaml, its schema, the table of docs/settings.md and the agent say the same. */
class SettingsTest {
    private static final Chart CHART = Chart.of(Golden.PROJECT);
    private static final Path DOCUMENT = Golden.PROJECT.resolve("docs/settings.md");
    private static final String BEGIN = "<!-- values -->\n";
    private static final String END = "<!-- /values -->";

    /** Those that the chart sets itself, see _settings.tpl. */
    private static final Set<String> THE_CHARTS_OWN = Set.of("probeAddress", "nodeName", "sysfsRoot", "devRoot");

    private static final Pattern LINE =
            Pattern.compile("(?m)^(?<key>\\w+): \\{value: (?<value>[\\w.]+), default: (?<default>.*)}$");

    @TempDir
    private Path directory;

    /**
     * One value of the schema.
     *
     * @param path as with --set
     */
    private record Value(String path, Map<String, Object> schema) {}

    @Test
    void everySettingOfTheAgentHasAValue() throws Exception {
        Set<String> keys = new TreeSet<>(THE_CHARTS_OWN);
        settings().keySet().forEach(keys::add);

        assertThat(keys)
                .isEqualTo(agentsChoices().stream()
                        .map(choice -> fileKey(choice.name()))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void defaultsAreTheAgents() throws Exception {
        Map<String, String> agents =
                agentsChoices().stream().collect(Collectors.toMap(choice -> fileKey(choice.name()), Choice::text));
        Map<String, Object> values = values();

        settings().forEach((key, line) -> {
            String text = line.group("default").replace("\"", "");
            // Whether it was given makes a difference there, so the chart gives none.
            if (!text.equals("null")) {
                assertThat(text.equals("[]") ? "" : text)
                        .as("default of %s in _settings.tpl", key)
                        .isEqualTo(agents.get(key));
            }
            assertThat(String.valueOf(at(values, line.group("value"))))
                    .as("%s in values.yaml", line.group("value"))
                    .isEqualTo(text);
        });
    }

    @Test
    void theSchemaHasTheDefaultsOfValuesYaml() throws IOException {
        Map<String, Object> values = values();

        for (Value value : valuesOfTheSchema()) {
            if (!hasNoEffect(value)) {
                assertThat(value.schema()).as("schema of %s", value.path()).containsKeys("description", "default");
                assertThat(at(values, value.path()))
                        .as("%s in values.yaml", value.path())
                        .isEqualTo(value.schema().get("default"));
            }
        }
        assertThat(leaves(values, "", schema()))
                .isEqualTo(valuesOfTheSchema().stream()
                        .filter(value -> !hasNoEffect(value))
                        .map(Value::path)
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void theDocumentsTableIsTheSchemas() throws Exception {
        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf(BEGIN) + BEGIN.length();
        int end = document.indexOf(END);

        Golden.compare(DOCUMENT, document.substring(0, begin) + table() + document.substring(end));
    }

    @Test
    void theAgentTakesEveryValueThatTheSchemaAllows() throws Exception {
        Map<String, Matcher> byValue = new HashMap<>();
        settings().values().forEach(line -> byValue.put(line.group("value"), line));

        for (Value value : valuesOfTheSchema()) {
            Matcher line = byValue.get(value.path());
            if (line == null) {
                continue;
            }
            for (Object allowed : samples(value.schema())) {
                assertThat(problems(line.group("key"), allowed))
                        .as("%s: %s", value.path(), allowed)
                        .isEmpty();
            }
            for (Object refused : justOutside(value.schema())) {
                assertThat(problems(line.group("key"), refused))
                        .as("%s: %s", value.path(), refused)
                        .isNotEmpty();
            }
        }
    }

    static List<String> cases() {
        return Golden.cases();
    }

    /** A typing error in a template would be found by each node's agent, when it does not start. */
    @ParameterizedTest
    @MethodSource("cases")
    void theAgentStartsWithWhatTheChartGivesIt(String name) throws Exception {
        List<HasMetadata> objects = Models.read(CHART.installed(Chart.Request.DEFAULTS.with(Golden.values(name))));

        AgentConfig config = read(objects);

        // No note: nothing was given that has no effect.
        assertThat(config.notes()).isEmpty();
        Container container = container(objects);
        assertThat(config.probeAddress().orElseThrow().getPort())
                .isEqualTo(container.getPorts().getFirst().getContainerPort());
        assertThat(container.getVolumeMounts())
                .anyMatch(mount -> mount.getMountPath().equals(config.session().kubeletRoot() + "/device-plugins"));
        assertThat(config.interfaces().nodeName()).isEqualTo("node-a");
    }

    @Test
    void theAgentsLogNamesWhatSomebodyChoseAndNothingElse() throws Exception {
        List<HasMetadata> objects = Models.read(
                CHART.installed(Chart.Request.DEFAULTS.set(Map.of("agent.sharesPerDevice", 100, "agent.cdi", "also"))));

        assertThat(read(objects).choices())
                .filteredOn(choice -> choice.source().startsWith("file "))
                .extracting(Choice::name)
                .containsExactlyInAnyOrder("shares-per-device", "cdi");
    }

    // ---- the agent ----

    private AgentConfig read(List<HasMetadata> objects) throws Exception {
        Path file = Files.writeString(
                directory.resolve("config.yaml"),
                Models.one(
                                objects.stream()
                                        .filter(object ->
                                                object.getMetadata().getName().endsWith("-agent"))
                                        .toList(),
                                ConfigMap.class)
                        .getData()
                        .get("config.yaml"));
        Container container = container(objects);
        Map<String, String> environment = container.getEnv().stream()
                .collect(Collectors.toMap(
                        EnvVar::getName,
                        variable -> Optional.ofNullable(variable.getValue()).orElse("node-a")));
        assertThat(container.getArgs()).startsWith("agent");
        List<String> args = container.getArgs().subList(1, container.getArgs().size()).stream()
                .map(arg -> arg.replace("/etc/erdma/config.yaml", file.toString()))
                .toList();
        return AgentConfigReader.read(args, environment);
    }

    private static Container container(List<HasMetadata> objects) {
        return Models.one(objects, DaemonSet.class)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst();
    }

    private static List<Choice> agentsChoices() throws ConfigurationException {
        return AgentConfigReader.read(List.of(), Map.of()).choices();
    }

    private List<String> problems(String key, Object value) throws IOException {
        String text = value instanceof List<?> list
                ? list.stream().map(item -> "\n  - \"" + item + "\"").collect(Collectors.joining())
                : value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
        Path file = Files.writeString(directory.resolve("one.yaml"), key + ": " + text + "\n");
        try {
            AgentConfigReader.read(List.of("--config=" + file), Map.of());
            return List.of();
        } catch (ConfigurationException e) {
            // That it needs others beside it is not about the value.
            return e.getMessage()
                    .lines()
                    .filter(line -> line.strip().startsWith(key + ":"))
                    .toList();
        }
    }

    private static String fileKey(String name) {
        String[] words = name.split("-", -1);
        return words[0]
                + Arrays.stream(words)
                        .skip(1)
                        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                        .collect(Collectors.joining());
    }

    // ---- the chart ----

    /** Lines of the list in _settings.tpl, by the key in the agent's file. */
    private static Map<String, Matcher> settings() throws IOException {
        String template = Files.readString(CHART.directory().resolve("templates/_settings.tpl"));
        String list = template.substring(
                template.indexOf("define \"erdma.settings\""), template.indexOf("define \"erdma.config\""));
        Map<String, Matcher> lines = new LinkedHashMap<>();
        list.lines().map(LINE::matcher).filter(Matcher::matches).forEach(line -> lines.put(line.group("key"), line));
        assertThat(lines).hasSizeGreaterThan(20);
        return lines;
    }

    private static Map<String, Object> values() throws IOException {
        return Models.tree(Files.readString(CHART.directory().resolve("values.yaml")));
    }

    private static Map<String, Object> schema() throws IOException {
        return Models.tree(Files.readString(CHART.directory().resolve("values.schema.json")));
    }

    private static List<Value> valuesOfTheSchema() throws IOException {
        List<Value> values = new ArrayList<>();
        collect(schema(), "", values);
        return values;
    }

    private static void collect(Map<String, Object> schema, String path, List<Value> values) {
        properties(schema).forEach((name, property) -> {
            String inner = path.isEmpty() ? name : path + "." + name;
            if (properties(property).isEmpty()) {
                values.add(new Value(inner, property));
            } else {
                assertThat(property).as("schema of %s", inner).containsEntry("additionalProperties", false);
                collect(property, inner, values);
            }
        });
    }

    @SuppressWarnings("unchecked") // a schema is a tree of mappings
    private static Map<String, Map<String, Object>> properties(Map<String, Object> schema) {
        return (Map<String, Map<String, Object>>) schema.getOrDefault("properties", Map.of());
    }

    private static boolean hasNoEffect(Value value) {
        return Boolean.TRUE.equals(value.schema().get("x-no-effect"));
    }

    /** Paths of values.yaml down to where the schema goes. */
    @SuppressWarnings("unchecked") // values are trees of mappings
    private static Set<String> leaves(Map<String, Object> values, String path, Map<String, Object> schema) {
        Set<String> leaves = new TreeSet<>();
        values.forEach((name, value) -> {
            String inner = path.isEmpty() ? name : path + "." + name;
            Map<String, Object> property = properties(schema).getOrDefault(name, Map.of());
            if (properties(property).isEmpty()) {
                leaves.add(inner);
            } else {
                leaves.addAll(leaves((Map<String, Object>) value, inner, property));
            }
        });
        return leaves;
    }

    private static Object at(Map<String, Object> values, String path) {
        Object value = values;
        for (String name : path.split("\\.", -1)) {
            assertThat(value).as(path).isInstanceOf(Map.class);
            assertThat(((Map<?, ?>) value).containsKey(name)).as(path).isTrue();
            value = ((Map<?, ?>) value).get(name);
        }
        return value;
    }

    private static List<Object> samples(Map<String, Object> schema) {
        List<Object> samples = new ArrayList<>();
        if (schema.get("enum") instanceof List<?> list) {
            list.forEach(samples::add);
        } else if (schema.containsKey("minimum")) {
            samples.add(schema.get("minimum"));
            samples.add(schema.get("maximum"));
        } else if ("boolean".equals(schema.get("type"))) {
            samples.addAll(List.of(true, false));
        }
        if (schema.get("default") != null && !List.of().equals(schema.get("default"))) {
            samples.add(schema.get("default"));
        }
        return samples;
    }

    private static List<Object> justOutside(Map<String, Object> schema) {
        if (schema.containsKey("enum")) {
            return List.of("nonsense");
        }
        return schema.containsKey("minimum")
                ? List.of(
                        ((Number) schema.get("minimum")).longValue() - 1,
                        ((Number) schema.get("maximum")).longValue() + 1)
                : List.of();
    }

    // ---- the document ----

    private static String table() throws IOException {
        Map<String, String> flags = new HashMap<>();
        settings()
                .forEach((key, line) -> flags.put(
                        line.group("value"),
                        "`--" + key.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT) + "`"));
        StringBuilder table = new StringBuilder(4_000)
                .append("| Value | Default | May be | Agent's flag | Meaning |\n|---|---|---|---|---|\n");
        for (Value value : valuesOfTheSchema()) {
            if (!hasNoEffect(value)) {
                table.append("| `")
                        .append(value.path())
                        .append("` | ")
                        .append(code(value.schema().get("default")))
                        .append(" | ")
                        .append(mayBe(value.schema()))
                        .append(" | ")
                        .append(flags.getOrDefault(value.path(), ""))
                        .append(" | ")
                        .append(value.schema().get("description"))
                        .append(" |\n");
            }
        }
        return table.toString();
    }

    private static String mayBe(Map<String, Object> schema) {
        if (schema.get("enum") instanceof List<?> list) {
            return list.stream()
                    .map(item -> item.equals("") ? "empty" : "`" + item + "`")
                    .collect(Collectors.joining(", "));
        }
        String type = schema.get("type") instanceof List<?> types
                ? types.stream()
                        .map(Object::toString)
                        .filter(one -> !one.equals("null"))
                        .collect(Collectors.joining(" or "))
                : schema.get("type").toString();
        String words =
                type.replace("integer", "number").replace("array", "list").replace("object", "mapping");
        return schema.containsKey("maximum")
                ? words + ", " + schema.get("minimum") + " to " + schema.get("maximum")
                : words;
    }

    private static String code(Object value) {
        if (value == null || value.equals("") || value.equals(List.of()) || value.equals(Map.of())) {
            return "";
        }
        if (value instanceof Map<?, ?> map) {
            return "`"
                    + map.entrySet().stream()
                            .map(entry -> entry.getKey() + ": " + inner(entry.getValue()))
                            .collect(Collectors.joining(", "))
                    + "`";
        }
        return "`" + inner(value) + "`";
    }

    private static String inner(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> entry.getKey() + ": " + inner(entry.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(SettingsTest::inner).collect(Collectors.joining(", ", "[", "]"));
        }
        return String.valueOf(value);
    }
}
