package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.github.dockerjava.api.model.Capability;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The agent's container as the chart writes it into its DaemonSet.
 *
 * @param words the container's arguments
 * @param configuration the file that its ConfigMap holds
 */
record ChartedAgent(ContainerShape shape, List<String> words, String configuration) {
    private static final String CONFIGURATION = "config.yaml";

    /**
     * Without the host's network, process table and mounts, which a test gives as it can.
     *
     * @param values a values file's content
     * @param directory an empty one, in which the values and the configuration are put
     */
    static ChartedAgent render(String values, Path directory) {
        try {
            Path file = Files.writeString(directory.resolve("values.yaml"), values);
            Map<String, JsonNode> objects = new LinkedHashMap<>();
            try (MappingIterator<JsonNode> documents =
                    new YAMLMapper().readerFor(JsonNode.class).readValues(render(file))) {
                documents.forEachRemaining(
                        object -> objects.put(object.path("kind").asText(), object));
            }
            JsonNode container = objects.get("DaemonSet").at("/spec/template/spec/containers/0");
            String configuration =
                    objects.get("ConfigMap").at("/data/" + CONFIGURATION).asText();
            Files.writeString(
                    Files.createDirectory(directory.resolve("configuration")).resolve(CONFIGURATION), configuration);
            ContainerShape shape = shape(container)
                    .mounting(directory.resolve("configuration"), "/etc/erdma")
                    .with("NODE_NAME", "node-a");
            return new ChartedAgent(shape, texts(container.path("args")), configuration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ContainerShape shape(JsonNode container) {
        JsonNode security = container.path("securityContext");
        assertThat(security.path("readOnlyRootFilesystem").asBoolean()).isTrue();
        assertThat(security.path("privileged").asBoolean(true)).isFalse();
        assertThat(texts(security.at("/capabilities/drop"))).containsExactly("ALL");
        return new ContainerShape(
                "none",
                texts(security.at("/capabilities/add")).stream()
                        .map(Capability::valueOf)
                        .toList(),
                !security.path("allowPrivilegeEscalation").asBoolean(true),
                Quantity.getAmountInBytes(new Quantity(
                                container.at("/resources/limits/memory").asText()))
                        .longValueExact(),
                Map.of(),
                Map.of());
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private static String render(Path values) throws IOException {
        Process process = new ProcessBuilder(
                        Image.PROJECT.resolve("build/render-chart.sh").toString(), values.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String rendered = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("the chart refuses " + Files.readString(values));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the chart was rendered", e);
        }
        return rendered;
    }
}
