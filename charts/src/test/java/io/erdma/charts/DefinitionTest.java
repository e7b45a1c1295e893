package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.cluster.crd.ErdmaDevice;
import io.erdma.cluster.crd.ErdmaNames;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the API server takes as an ERdmaDevice object. */
class DefinitionTest {
    private static final String DEFINITION = Chart.of(Golden.PROJECT).definitions();

    /** As the Go controller writes one for a node with a converted primary interface and a second card. */
    private static final String OF_THE_GO_CONTROLLER = """
            apiVersion: network.alibabacloud.com/v1
            kind: ERdmaDevice
            metadata:
              name: cn-hangzhou.10.0.0.4
              labels:
                alibabacloud.com/instance-id: i-bp1abcdefgh
                alibabacloud.com/nodename: cn-hangzhou.10.0.0.4
            spec:
              jumboFrame: true
              devices:
                - instanceID: i-bp1abcdefgh
                  mac: 00:16:3e:0a:00:01
                  isPrimaryENI: true
                  id: eni-bp1aaaa
                  queuePair: 1024
                - instanceID: i-bp1abcdefgh
                  mac: 00:16:3e:0a:00:02
                  id: eni-bp1bbbb
                  networkCardIndex: 1
            status:
              devices:
                - {id: eni-bp1aaaa, status: Ready}
                - {id: eni-bp1bbbb, status: Pending, message: attaching}
            """;

    @Test
    void acceptsWhatTheGoControllerWrites() {
        assertThat(problems(OF_THE_GO_CONTROLLER)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spec: {devices: []}",
                "spec: {devices: null}",
                "spec: {devices: [{}]}",
                "spec: {devices: [{mac: '', id: '', instanceID: ''}]}",
                "spec: {devices: [{mac: 00-16-3E-0A-00-01}]}",
                "spec: {devices: [], later: {field: 1}}",
                "{spec: {devices: []}, status: {devices: [{id: eni-1, status: '', message: ''}]}}",
                "{spec: {devices: []}, status: {devices: [{id: eni-1, status: Failed, message: why}]}}",
            })
    void acceptsSparseObjectsAndLaterFields(String object) {
        assertThat(problems(object)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "metadata: {name: a} | lacks spec",
                "spec: {} | .spec lacks devices",
                "spec: {devices: erdma_0} | .spec.devices is not of type array",
                "spec: {devices: [{mac: 00:16:3e}]} | .spec.devices[0].mac does not match",
                "spec: {devices: [{mac: '00:16:3e:0a:00:0g'}]} | .spec.devices[0].mac does not match",
                "spec: {devices: [{mac: 95148429313}]} | .spec.devices[0].mac is not of type string",
                "spec: {devices: [{id: 10.0.0.4}]} | .spec.devices[0].id does not match",
                "spec: {devices: [{instanceID: ecs-1}]} | .spec.devices[0].instanceID does not match",
                "spec: {devices: [{networkCardIndex: -1}]} | .spec.devices[0].networkCardIndex is less than 0",
                "spec: {devices: [{queuePair: -1}]} | .spec.devices[0].queuePair is less than 0",
                "spec: {devices: [{queuePair: '8'}]} | .spec.devices[0].queuePair is not of type integer",
                "spec: {devices: [{isPrimaryENI: 'yes'}]} | .spec.devices[0].isPrimaryENI is not of type boolean",
                "spec: {devices: [], jumboFrame: 9000} | .spec.jumboFrame is not of type boolean",
                "{spec: {devices: []}, status: {devices: [{status: Done}]}} | .status.devices[0].status is none of",
            })
    void refusesWhatNoNodeCanHave(String object, String problem) {
        assertThat(problems(object)).anyMatch(found -> found.strip().startsWith(problem.strip()));
    }

    @Test
    void isTheKindThatTheAgentReads() {
        CustomResourceDefinition definition = Models.one(Models.read(DEFINITION), CustomResourceDefinition.class);

        assertThat(definition.getMetadata().getName()).isEqualTo(ErdmaNames.PLURAL + "." + ErdmaNames.GROUP);
        assertThat(definition.getSpec().getScope()).isEqualTo("Cluster");
        assertThat(definition.getSpec().getNames().getKind()).isEqualTo(ErdmaNames.KIND);
        assertThat(definition.getSpec().getVersions().getFirst().getName()).isEqualTo(ErdmaNames.VERSION);
        assertThat(definition.getMetadata().getAnnotations()).containsEntry("helm.sh/resource-policy", "keep");
    }

    @Test
    void describesEveryFieldThatTheAgentKnows() {
        ErdmaDevice object = Serialization.unmarshal(OF_THE_GO_CONTROLLER, ErdmaDevice.class);
        Map<String, Object> written = Models.tree(Serialization.asYaml(object));

        assertThat(unknown(schema(), Map.of("spec", written.get("spec"), "status", written.get("status")), ""))
                .isEmpty();
        assertThat(object.getSpec().devices().getFirst().more()).isEmpty();
        assertThat(object.getStatus().more()).isEmpty();
    }

    /** Fields of the value that the schema says nothing about. */
    @SuppressWarnings("unchecked") // trees of mappings
    private static Set<String> unknown(Map<String, Object> schema, Object value, String path) {
        Set<String> names = new TreeSet<>();
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> properties = (Map<String, Object>) schema.getOrDefault("properties", Map.of());
            map.forEach((name, entry) -> {
                if (properties.containsKey(name)) {
                    names.addAll(unknown((Map<String, Object>) properties.get(name), entry, path + "." + name));
                } else {
                    names.add(path + "." + name);
                }
            });
        } else if (value instanceof List<?> list) {
            list.forEach(item -> names.addAll(unknown((Map<String, Object>) schema.get("items"), item, path + "[]")));
        }
        return names;
    }

    private static List<String> problems(String object) {
        return Schema.problems(schema(), Models.tree(object));
    }

    @SuppressWarnings("unchecked") // a definition is a tree of mappings
    private static Map<String, Object> schema() {
        Map<String, Object> spec = (Map<String, Object>) Models.tree(DEFINITION).get("spec");
        Map<String, Object> version = ((List<Map<String, Object>>) spec.get("versions")).getFirst();
        return (Map<String, Object>) ((Map<String, Object>) version.get("schema")).get("openAPIV3Schema");
    }
}
