package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.RelabelConfig;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the chart makes for Prometheus and Grafana, when it is asked to. */
class MonitoringTest {
    private static final Chart CHART = Chart.of(Golden.PROJECT);

    @Test
    void nothingOfItIsThereByDefault() {
        assertThat(CHART.installed(Chart.Request.DEFAULTS))
                .doesNotContain("monitoring.coreos.com", "grafana", "kind: Service\n");
    }

    @Test
    void theAlertsReachPrometheusAsTheyAre() {
        Map<String, Object> values =
                Map.of("monitoring.prometheusRule.enabled", true, "monitoring.labels.release", "p");
        List<PrometheusRule> rules = Models.all(objects(values), PrometheusRule.class);

        Map<String, String> files = files("alerts");
        assertThat(rules).hasSameSizeAs(files.values());
        assertThat(rules)
                .allSatisfy(rule -> assertThat(rule.getMetadata().getLabels()).containsEntry("release", "p"));
        assertThat(rules.stream()
                        .map(rule -> Models.tree(Serialization.asYaml(rule.getSpec())))
                        .toList())
                .containsExactlyInAnyOrderElementsOf(
                        files.values().stream().map(Models::tree).toList());
    }

    @Test
    void eachDashboardIsAConfigMapOfItsOwn() {
        Map<String, Object> values =
                Map.of("monitoring.dashboards.enabled", true, "monitoring.dashboards.annotations.folder", "eRDMA");
        List<ConfigMap> maps = Models.all(objects(values), ConfigMap.class).stream()
                .filter(map -> map.getMetadata().getLabels().containsKey("grafana_dashboard"))
                .toList();

        Map<String, String> files = files("dashboards");
        assertThat(maps).hasSameSizeAs(files.values());
        files.forEach((name, text) -> {
            ConfigMap map = maps.stream()
                    .filter(one -> one.getData().containsKey(name))
                    .findFirst()
                    .orElseThrow();
            assertThat(map.getData().get(name).strip()).isEqualTo(text.strip());
            assertThat(map.getMetadata().getAnnotations()).containsEntry("folder", "eRDMA");
        });
    }

    @Test
    void thePodMonitorFindsTheAgentsAndNamesTheirNodes() {
        List<HasMetadata> objects = objects(Map.of("monitoring.podMonitor.enabled", true));
        PodMonitor monitor = Models.one(objects, PodMonitor.class);
        var endpoint = monitor.getSpec().getPodMetricsEndpoints().getFirst();

        assertThat(agent(objects).getMetadata().getLabels())
                .containsAllEntriesOf(monitor.getSpec().getSelector().getMatchLabels());
        assertThat(monitor.getSpec().getNamespaceSelector().getMatchNames()).containsExactly(Chart.NAMESPACE);
        assertThat(ports(objects)).contains(endpoint.getPort());
        assertThat(endpoint.getPath()).isEqualTo("/metrics");
        assertThat(endpoint.getHonorLabels()).isTrue();
        assertThat(labels(endpoint.getRelabelings())).containsExactly("node", "job");
    }

    @Test
    void theServiceMonitorDoesTheSameByAService() {
        List<HasMetadata> objects = objects(Map.of("monitoring.serviceMonitor.enabled", true));
        ServiceMonitor monitor = Models.one(objects, ServiceMonitor.class);
        Service service = Models.one(objects, Service.class);
        var endpoint = monitor.getSpec().getEndpoints().getFirst();

        assertThat(service.getMetadata().getLabels())
                .containsAllEntriesOf(monitor.getSpec().getSelector().getMatchLabels());
        assertThat(agent(objects).getMetadata().getLabels())
                .containsAllEntriesOf(service.getSpec().getSelector());
        assertThat(service.getSpec().getClusterIP()).isEqualTo("None");
        assertThat(service.getSpec().getPorts().getFirst().getName()).isEqualTo(endpoint.getPort());
        assertThat(ports(objects))
                .contains(
                        service.getSpec().getPorts().getFirst().getTargetPort().getStrVal());
        assertThat(endpoint.getHonorLabels()).isTrue();
        assertThat(labels(endpoint.getRelabelings())).containsExactly("node", "job");
    }

    private static List<HasMetadata> objects(Map<String, Object> values) {
        return Models.read(CHART.installed(Chart.Request.DEFAULTS.set(values)));
    }

    private static List<String> labels(List<RelabelConfig> relabelings) {
        return relabelings.stream().map(RelabelConfig::getTargetLabel).toList();
    }

    /** A pod as the DaemonSet makes it. */
    private static Pod agent(List<HasMetadata> objects) {
        var template = Models.one(objects, DaemonSet.class).getSpec().getTemplate();
        return new PodBuilder()
                .withMetadata(template.getMetadata())
                .withSpec(template.getSpec())
                .build();
    }

    private static List<String> ports(List<HasMetadata> objects) {
        return agent(objects).getSpec().getContainers().getFirst().getPorts().stream()
                .map(port -> port.getName())
                .toList();
    }

    /** Texts by file name; at least one. */
    private static Map<String, String> files(String directory) {
        try (Stream<Path> files = Files.list(CHART.directory().resolve(directory))) {
            Map<String, String> texts =
                    files.collect(Collectors.toMap(file -> file.getFileName().toString(), MonitoringTest::read));
            assertThat(texts).isNotEmpty();
            return texts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
