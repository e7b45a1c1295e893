package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERDMA_ACCESS_KEY_ID",
                "NCCL_SECRET",
                "ERDMA_STS_TOKEN",
                "ERDMA_REGISTRY_PASSWORD",
                "NCCL_AUTH",
                "ERDMA_CREDENTIALS"
            })
    void leavesOutWhatIsSecretByItsName(String name) {
        assertThat(Secrets.value(name, "hunter2")).isEqualTo(Secrets.LEFT_OUT);
    }

    @ParameterizedTest
    @CsvSource({
        "NCCL_IB_HCA,=erdma_0",
        "NCCL_SOCKET_IFNAME,eth0",
        "NCCL_DEBUG_SUBSYS,'INIT,NET,ENV'",
        "NCCL_IB_ADDR_RANGE,10.0.0.0/24",
        "NCCL_TOPO_FILE,/etc/nccl/topology-of-this-instance-family.xml",
        "ERDMA_PREFER_DRIVER,ofed",
        "ERDMA_DEVICE_SELECTOR,pci=1ded:107f"
    })
    void keepsSettingsAsTheyAre(String name, String value) {
        assertThat(Secrets.value(name, value)).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LTAI5tFakeFakeFakeFake12",
                "AKIAIOSFODNN7EXAMPLE",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
                "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "https://user:hunter2@example.test/x",
                "password=hunter2",
                "token: abcdef"
            })
    void leavesOutWhatLooksLikeASecretInAValue(String secret) {
        assertThat(Secrets.value("NCCL_EXTRA", "before " + secret + " after"))
                .contains(Secrets.LEFT_OUT, "before ")
                .doesNotContain("hunter2", "FakeFake", "EXAMPLE", "eyJ", "9f86d0", "abcdef");
    }

    @Test
    void leavesTheNamesOfWhatItMasksInTexts() {
        assertThat(Secrets.mask("""
                        Authorization: Bearer abc.def
                        {"accessKeySecret": "xyz"}
                        password=one;port=2
                        """)).isEqualTo("""
                        Authorization: Bearer (left out)
                        {"accessKeySecret": "(left out)"}
                        password=(left out);port=2
                        """);
    }

    @Test
    void leavesOutAPrivateKey() {
        assertThat(Secrets.mask("""
                        x
                        -----BEGIN RSA PRIVATE KEY-----
                        MIIE
                        -----END RSA PRIVATE KEY-----
                        y
                        """)).isEqualTo("""
                        x
                        (left out)
                        y
                        """);
    }

    @Test
    void keepsWhatSysfsAndNetlinkTell() {
        String text = """
                devices/pci0000:00/0000:00:07.0/modalias = pci:v00001DEDd0000107Fsv00001DEDsd00000000bc00scffi00
                ports/1/gids/0 = fe80:0000:0000:0000:0216:3eff:fe0a:0001
                erdma_devices{health="healthy"} 2.0
                """;
        assertThat(Secrets.mask(text)).isEqualTo(text);
    }
}
