package io.erdma.cluster.crd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ErdmaDeviceTest {
    private static final KubernetesSerialization JSON = new KubernetesSerialization();

    private static ErdmaDevice read(String text) {
        return JSON.unmarshal(text, ErdmaDevice.class);
    }

    /** As the Go controller writes it. */
    private static final String WRITTEN = """
            apiVersion: network.alibabacloud.com/v1
            kind: ERdmaDevice
            metadata:
              name: node-a
              labels: {alibabacloud.com/instance-id: i-bp1abc, alibabacloud.com/nodename: node-a}
              ownerReferences: [{apiVersion: v1, kind: Node, name: node-a, uid: 1-2-3}]
            spec:
              jumboFrame: true
              devices:
                - {instanceID: i-bp1abc, mac: "00:16:3e:00:00:01", isPrimaryENI: true, id: eni-1, networkCardIndex: 0, queuePair: 1}
                - {instanceID: i-bp1abc, mac: "00:16:3E:00:00:02", isPrimaryENI: false, id: eni-2, networkCardIndex: 1, queuePair: 2}
            status:
              devices:
                - {id: eni-1, status: Ready, message: ""}
                - {id: eni-2, status: Pending, message: attaching}
            """;

    @Test
    void isNamedAsTheGoControllerNamedIt() {
        assertThat(HasMetadata.getApiVersion(ErdmaDevice.class)).isEqualTo("network.alibabacloud.com/v1");
        assertThat(HasMetadata.getKind(ErdmaDevice.class)).isEqualTo("ERdmaDevice");
        assertThat(HasMetadata.getFullResourceName(ErdmaDevice.class))
                .isEqualTo("erdmadevices.network.alibabacloud.com");
    }

    @Test
    void readsEachFieldThatTheGoControllerWrites() {
        ErdmaDevice object = read(WRITTEN);

        assertThat(object.getSpec().jumboFrame()).isTrue();
        assertThat(object.getSpec().devices())
                .containsExactly(
                        new ErdmaDeviceSpec.Device("i-bp1abc", "00:16:3e:00:00:01", true, "eni-1", 0, 1, Map.of()),
                        new ErdmaDeviceSpec.Device("i-bp1abc", "00:16:3E:00:00:02", false, "eni-2", 1, 2, Map.of()));
        assertThat(object.getStatus().devices())
                .containsExactly(
                        new ErdmaDeviceStatus.Device("eni-1", "Ready", "", Map.of()),
                        new ErdmaDeviceStatus.Device("eni-2", "Pending", "attaching", Map.of()));
    }

    @Test
    void writesItWithTheSameNames() {
        Map<?, ?> written = JSON.unmarshal(WRITTEN, Map.class);
        Map<?, ?> again = JSON.unmarshal(JSON.asYaml(read(WRITTEN)), Map.class);

        assertThat(again.get("spec")).isEqualTo(written.get("spec"));
        assertThat(again.get("status")).isEqualTo(written.get("status"));
    }

    @Test
    void takesWhatIsMissingOrNullAsEmpty() {
        assertThat(read("{\"spec\":{\"devices\":[{\"id\":null},null]},\"status\":{}}")
                        .getSpec())
                .isEqualTo(new ErdmaDeviceSpec(
                        List.of(new ErdmaDeviceSpec.Device("", "", false, "", 0, 0, Map.of())), false, Map.of()));
        assertThat(read("{\"spec\":{\"devices\":null}}").getSpec().devices()).isEmpty();
        assertThat(read("{\"status\":{}}").getStatus().devices()).isEmpty();
        assertThat(read("{}").getSpec()).isNull();
    }

    @Test
    void keepsFieldsOfALaterVersion() {
        String later = "{\"spec\":{\"devices\":[{\"id\":\"eni-1\",\"speed\":400}],\"policy\":{\"a\":[1]}},"
                + "\"status\":{\"phase\":\"New\",\"devices\":[{\"id\":\"eni-1\",\"since\":\"now\"}]}}";

        assertThat(JSON.unmarshal(JSON.asJson(read(later)), Map.class).toString())
                .contains("speed=400", "policy={a=[1]}", "phase=New", "since=now");
    }
}
