package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that can't be meant are refused, in words that say what to write instead. */
class RefusalsTest {
    private static final Chart CHART = Chart.of(Golden.PROJECT);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "agent: {preferDriver: ofde}         | /agent/preferDriver    | '', 'default', 'compat', 'ofed'",
                "agent: {verbsAccess: full}          | /agent/verbsAccess     | 'privileged', 'listing'",
                "agent: {logLevel: trace}            | /agent/logLevel        | 'debug', 'info', 'warn', 'error'",
                "agent: {logFormat: xml}             | /agent/logFormat       | 'text', 'json'",
                "agent: {image: {pullPolicy: never}} | /agent/image/pullPolicy | 'Always', 'IfNotPresent', 'Never'",
                "agent: {allocateAllDevices: \"true\"} | /agent/allocateAllDevices | want boolean",
                "agent: {sharesPerDevice: 0}         | /agent/sharesPerDevice | minimum: got 0, want 1",
                "agent: {sharesPerDevice: 1001}      | /agent/sharesPerDevice | maximum: got 1,001, want 1,000",
                "agent: {sharesPerDevice: many}      | /agent/sharesPerDevice | want integer",
                "agent: {jumboFrameMTU: 9601}        | /agent/jumboFrameMTU   | want 9,600",
                "agent: {probePort: 0}               | /agent/probePort       | want 1",
                "agent: {routeMetric: 0}             | /agent/routeMetric     | want 1",
                "agent: {maxUnavailable: 0}          | /agent/maxUnavailable  | want 1",
                "agent: {maxUnavailable: half}       | /agent/maxUnavailable  | %",
                "agent: {healthInterval: 5}          | /agent/healthInterval  | want string",
                "agent: {healthInterval: 5 seconds}  | /agent/healthInterval  | ms|s|m|h",
                "agent: {kubeletRootDir: var/lib}    | /agent/kubeletRootDir  | '^/",
                "agent: {resourceName: erdma}        | /agent/resourceName    | does not match",
                "agent: {deviceSelector: [erdma_0]}  | /agent/deviceSelector/0 | driver=",
                "agent: {exposedLocalERIs: [i-XXX]}  | /agent/exposedLocalERIs/0 | erdma_",
                "agent: {driverSha256: abc}          | /agent/driverSha256    | {64}",
                "agent: {metadataAddress: metadata}  | /agent/metadataAddress | http://",
                "agent: {preferdriver: ofed}         | /agent                 | 'preferdriver' not allowed",
                "config: {localEriDiscovery: true}   | /config                | 'localEriDiscovery' not allowed",
                "webhook: {enabled: true}            | ''                     | 'webhook' not allowed",
                "cleanup: {timeoutSeconds: 5}        | /cleanup/timeoutSeconds | want 10",
                "serviceAccount: {name: 7}           | /serviceAccount/name   | want string",
                "nodeSelector: {a: 1}                | /nodeSelector/a        | want string",
                "monitoring: {podMonitor: true}      | /monitoring/podMonitor | want object",
            })
    void namesTheValueAndWhatItMayBe(String values, String where, String words) throws IOException {
        assertThatThrownBy(() -> render(values))
                .hasMessageContaining("at '" + where.replace("''", "") + "'")
                .hasMessageContaining(words);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "config: {localERIDiscovery: false} | set config.externalController=true if another one or a person does",
                "agent: {installDriver: true} | needs agent.driverUrl",
                "agent: {installDriver: true} | needs agent.driverSha256",
                "agent: {installDriver: true, verbsAccess: listing} | needs agent.verbsAccess=privileged",
                "agent: {installDriver: true, manageDriver: false} | needs agent.manageDriver=true",
                "agent: {installDriver: true, driverUrl: \"https://a/{version}\"} | set agent.erdmaInstallerVersion",
                "monitoring: {podMonitor: {enabled: true}, serviceMonitor: {enabled: true}} | enable one of them",
                "config: {enableWebhook: true} | this chart has no webhook; set it to false",
                "config: {enableDevicePlugin: false} | leave it true",
                "{agent: {exposedLocalERIs: [i-* erdma_*]}, config: {localERIDiscovery: false, externalController: true}}"
                        + " | set only one of them",
            })
    void saysWhatGoesTogether(String values, String words) {
        assertThatThrownBy(() -> render(values))
                .hasMessageContaining("of the values can't be used")
                .hasMessageContaining(words);
    }

    @Test
    void namesAllProblemsAtOnce() {
        assertThatThrownBy(() -> render("agent: {installDriver: true, manageDriver: false, verbsAccess: listing}"))
                .hasMessageContaining("4 of the values can't be used");
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "kube-public"})
    void wantsANamespaceOfItsOwn(String namespace) {
        assertThatThrownBy(() -> CHART.installed(Chart.Request.DEFAULTS.in(namespace)))
                .hasMessageContaining("--namespace ack-erdma-controller --create-namespace");
    }

    @Test
    void anyOtherNamespaceWillDo() {
        assertThatCode(() -> CHART.installed(Chart.Request.DEFAULTS.in("kube-system")))
                .doesNotThrowAnyException();
    }

    @Test
    void takesTheGoControllersValuesAndSaysWhichHaveNoEffect() throws IOException {
        Path values = Files.writeString(directory.resolve("values.yaml"), """
                controller: {replicaCount: 2, image: {repository: r, tag: t, pullPolicy: Always}}
                agent: {preferDriver: ofed, allocateAllDevices: false, nameOverride: "", fullnameOverride: ""}
                webhookFailurePolicy: Ignore
                webhookTimeoutSeconds: 10
                config:
                  region: cn-beijing
                  manageNonOwnedENIs: true
                  clusterDomain: ""
                  enableDevicePlugin: true
                  enableWebhook: false
                  enableInitContainerInject: true
                  smcInitImage: ""
                credentials: {type: access_key, accessKeyID: id, accessKeySecret: key}
                """);
        Chart.Request request = Chart.Request.DEFAULTS.with(values);

        assertThat(CHART.notes(request))
                .contains("These values are for the Go controller and have no effect here: controller, credentials,"
                        + " webhookFailurePolicy, webhookTimeoutSeconds, config.region, config.manageNonOwnedENIs,")
                .contains("take it out of the values");
        assertThat(CHART.installed(request) + CHART.hooks(request))
                .doesNotContain("accessKey", "cn-beijing", "Deployment", "Webhook");
    }

    @Test
    void saysTheNextThreeCommands() {
        List<String> commands = CHART.notes(Chart.Request.DEFAULTS)
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("kubectl "))
                .toList();

        assertThat(commands)
                .containsExactly(
                        "kubectl -n ack-erdma-controller rollout status daemonset/erdma-controller-agent",
                        "kubectl get nodes -o custom-columns='NODE:.metadata.name,ERDMA:.status.allocatable.aliyun/erdma'",
                        "kubectl -n ack-erdma-controller exec daemonset/erdma-controller-agent -- erdma doctor");
    }

    @Test
    void explainsWhoWritesTheObjectsWithoutLocalDiscovery() {
        assertThat(CHART.notes(Chart.Request.DEFAULTS.with(Golden.values("external-controller"))))
                .contains("This chart installs nobody who writes these objects")
                .contains("kubectl get erdmadevices");
    }

    private void render(String values) throws IOException {
        CHART.installed(Chart.Request.DEFAULTS.with(
                Files.writeString(directory.resolve("values.yaml"), values.strip() + "\n")));
    }
}
