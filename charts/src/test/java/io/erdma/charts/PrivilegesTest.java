package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The agent gets the rights that its settings need, and no more. */
class PrivilegesTest {
    private static final Chart CHART = Chart.of(Golden.PROJECT);

    @Test
    void isPrivilegedOnlyToOpenDevices() {
        assertThat(security(Map.of()).getPrivileged()).isTrue();
        assertThat(security(Map.of("agent.verbsAccess", "listing")).getPrivileged())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "false | false | false |",
                "true  | false | false | NET_ADMIN",
                "false | true  | false | SYS_MODULE SYS_ADMIN SYS_CHROOT SYS_PTRACE",
                "false | false | true  | SYS_PTRACE DAC_READ_SEARCH",
                "true  | true  | true  | NET_ADMIN SYS_MODULE SYS_ADMIN SYS_CHROOT SYS_PTRACE DAC_READ_SEARCH",
            })
    void addsTheCapabilitiesOfWhatIsSwitchedOn(boolean interfaces, boolean driver, boolean pods, String capabilities) {
        SecurityContext security = security(Map.of(
                "agent.verbsAccess",
                "listing",
                "agent.manageInterfaces",
                interfaces,
                "agent.manageDriver",
                driver,
                "agent.podMetrics",
                pods));

        assertThat(security.getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(security.getCapabilities().getAdd())
                .containsExactlyElementsOf(capabilities == null ? List.of() : List.of(capabilities.split(" ", -1)));
        assertThat(security.getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
        // The API refuses it beside SYS_ADMIN.
        assertThat(security.getAllowPrivilegeEscalation()).isEqualTo(driver ? null : Boolean.FALSE);
    }

    @ParameterizedTest
    @CsvSource({"true,false,true", "false,true,true", "false,false,false"})
    void seesTheHostsProcessesOnlyForDriverAndAttribution(boolean driver, boolean pods, boolean hostPid) {
        PodSpec pod = agent(Map.of("agent.manageDriver", driver, "agent.podMetrics", pods));

        assertThat(Boolean.TRUE.equals(pod.getHostPID())).isEqualTo(hostPid);
        assertThat(mounts(pod, "/var/log")).isEqualTo(hostPid);
    }

    @Test
    void mountsAllOfTheHostsDevicesSinceTheKernelMakesTheirDirectoryAnew() {
        for (String access : List.of("privileged", "listing")) {
            PodSpec pod = agent(Map.of("agent.verbsAccess", access));

            assertThat(pod.getVolumes())
                    .filteredOn(volume -> volume.getHostPath() != null)
                    .extracting(volume -> volume.getHostPath().getPath())
                    .containsExactly(
                            "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources", "/dev", "/var/log");
            assertThat(container(pod).getTerminationMessagePath()).doesNotStartWith("/dev");
        }
    }

    @Test
    void writesWhereItMustAlone() {
        PodSpec pod = agent(Map.of("agent.cdi", "also", "agent.podMetrics", true));

        assertThat(container(pod).getSecurityContext().getReadOnlyRootFilesystem())
                .isTrue();
        assertThat(container(pod).getVolumeMounts())
                .filteredOn(mount -> Boolean.TRUE.equals(mount.getReadOnly()))
                .extracting(VolumeMount::getMountPath)
                .containsExactly("/etc/erdma", "/var/log");
    }

    @Test
    void hasNoRightsInTheClusterByDefault() {
        List<HasMetadata> objects = Models.read(CHART.installed(Chart.Request.DEFAULTS));

        assertThat(agent(Map.of()).getAutomountServiceAccountToken()).isFalse();
        assertThat(Models.one(objects, ServiceAccount.class).getAutomountServiceAccountToken())
                .isFalse();
        assertThat(Models.all(objects, ClusterRole.class)).isEmpty();
    }

    @Test
    void readsErdmaDevicesWithoutLocalDiscovery() {
        assertThat(rights(Map.of("config.localERIDiscovery", false, "config.externalController", true)))
                .containsExactly("network.alibabacloud.com erdmadevices get,list,watch");
    }

    @Test
    void readsItsNodeForRulesThatNameInstances() {
        assertThat(rights(Map.of("agent.exposedLocalERIs[0]", "i-bp1abc erdma_0")))
                .containsExactly(" nodes get");
        assertThat(agent(Map.of("agent.exposedLocalERIs[0]", "i-* erdma_0")).getAutomountServiceAccountToken())
                .isFalse();
    }

    static List<String> cases() {
        return Golden.cases();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theAgentsPodsAreThoseOfANodesDaemon(String name) {
        PodSpec pod = pod(Chart.Request.DEFAULTS.with(Golden.values(name)));

        assertThat(pod.getHostNetwork()).isTrue();
        assertThat(pod.getEnableServiceLinks()).isFalse();
        assertThat(pod.getPriorityClassName()).isEqualTo("system-node-critical");
        Container container = container(pod);
        assertThat(container.getLivenessProbe().getExec()).isNull();
        assertThat(container.getLivenessProbe().getHttpGet().getPath()).isEqualTo("/healthz");
        assertThat(container.getReadinessProbe().getHttpGet().getPath()).isEqualTo("/readyz");
        assertThat(container.getStartupProbe().getHttpGet().getPath()).isEqualTo("/healthz");
        assertThat(container.getResources().getLimits()).containsKey("memory").doesNotContainKey("cpu");
    }

    @Test
    void replacesOneAgentAfterTheOther() {
        DaemonSet set = Models.one(Models.read(CHART.installed(Chart.Request.DEFAULTS)), DaemonSet.class);

        assertThat(set.getSpec()
                        .getUpdateStrategy()
                        .getRollingUpdate()
                        .getMaxUnavailable()
                        .getIntVal())
                .isEqualTo(1);
        assertThat(set.getSpec()
                        .getUpdateStrategy()
                        .getRollingUpdate()
                        .getMaxSurge()
                        .getIntVal())
                .isZero();
    }

    @Test
    void anotherConfigurationMeansNewPodsAndTheSameOneDoesNot() {
        String before = checksum(Map.of());

        assertThat(checksum(Map.of("agent.sharesPerDevice", 100))).isNotEqualTo(before);
        assertThat(checksum(Map.of("agent.sharesPerDevice", 200))).isEqualTo(before);
    }

    @Test
    void cleansNodesWithTheRightForInterfacesAlone() {
        List<HasMetadata> hooks = Models.read(CHART.hooks(Chart.Request.DEFAULTS));
        PodSpec cleanup =
                Models.one(hooks, DaemonSet.class).getSpec().getTemplate().getSpec();
        PodSpec waits = Models.one(hooks, Job.class).getSpec().getTemplate().getSpec();

        assertThat(cleanup.getHostPID()).isNull();
        assertThat(cleanup.getAutomountServiceAccountToken()).isFalse();
        Container init = cleanup.getInitContainers().getFirst();
        assertThat(init.getSecurityContext().getPrivileged()).isNull();
        assertThat(init.getSecurityContext().getCapabilities().getAdd()).containsExactly("NET_ADMIN");
        assertThat(waits.getHostNetwork()).isNull();
        assertThat(waits.getTolerations()).isEmpty();
        assertThat(Models.one(hooks, Role.class).getRules())
                .extracting(PrivilegesTest::text)
                .containsExactly("apps daemonsets get", " pods list");
    }

    @Test
    void cleansTheNodesThatHadAnAgent() {
        Chart.Request request = Chart.Request.DEFAULTS.with(Golden.values("gpu-nodes"));
        PodSpec cleanup = Models.one(Models.read(CHART.hooks(request)), DaemonSet.class)
                .getSpec()
                .getTemplate()
                .getSpec();
        PodSpec agent = pod(request);

        assertThat(cleanup.getNodeSelector()).isEqualTo(agent.getNodeSelector());
        assertThat(cleanup.getTolerations()).isEqualTo(agent.getTolerations());
        assertThat(cleanup.getAffinity()).isEqualTo(agent.getAffinity());
    }

    private static List<String> rights(Map<String, Object> values) {
        List<HasMetadata> objects = Models.read(CHART.installed(Chart.Request.DEFAULTS.set(values)));
        assertThat(Models.one(objects, DaemonSet.class)
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getAutomountServiceAccountToken())
                .isTrue();
        return Models.one(objects, ClusterRole.class).getRules().stream()
                .map(PrivilegesTest::text)
                .toList();
    }

    private static String text(PolicyRule rule) {
        return String.join(",", rule.getApiGroups()) + " " + String.join(",", rule.getResources()) + " "
                + String.join(",", rule.getVerbs());
    }

    private static String checksum(Map<String, Object> values) {
        return Models.one(Models.read(CHART.installed(Chart.Request.DEFAULTS.set(values))), DaemonSet.class)
                .getSpec()
                .getTemplate()
                .getMetadata()
                .getAnnotations()
                .get("checksum/config");
    }

    private static PodSpec agent(Map<String, Object> values) {
        return pod(Chart.Request.DEFAULTS.set(values));
    }

    private static PodSpec pod(Chart.Request request) {
        return Models.one(Models.read(CHART.installed(request)), DaemonSet.class)
                .getSpec()
                .getTemplate()
                .getSpec();
    }

    private static Container container(PodSpec pod) {
        return pod.getContainers().getFirst();
    }

    private static SecurityContext security(Map<String, Object> values) {
        return container(agent(values)).getSecurityContext();
    }

    private static boolean mounts(PodSpec pod, String path) {
        return container(pod).getVolumeMounts().stream()
                .anyMatch(mount -> mount.getMountPath().equals(path));
    }
}
