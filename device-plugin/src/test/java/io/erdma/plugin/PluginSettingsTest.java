package io.erdma.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSettingsTest {
    @ParameterizedTest
    @ValueSource(strings = {"aliyun/erdma", "aliyun.com/erdma", "a/B", "x-1.y/eRDMA_shared.v1"})
    void acceptsWhatTheKubeletRegisters(String name) {
        assertThat(PluginSettings.isExtendedResource(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "erdma",
                "/erdma",
                "aliyun/",
                "aliyun//erdma",
                "a/b/c",
                "kubernetes.io/erdma",
                "node.kubernetes.io/x",
                "requests.aliyun/erdma",
                "Aliyun/erdma",
                "ali_yun/erdma",
                "aliyun/-erdma",
                "aliyun/erdma ",
                "aliyun/er\ndma",
                "aliyun/erdma\n"
            })
    void refusesWhatTheKubeletRefuses(String name) {
        assertThat(PluginSettings.isExtendedResource(name)).isFalse();
    }

    @Test
    void limitsTheLengthOfBothPartsAsTheKubeletDoes() {
        assertThat(PluginSettings.isExtendedResource("aliyun/" + "e".repeat(63)))
                .isTrue();
        assertThat(PluginSettings.isExtendedResource("aliyun/" + "e".repeat(64)))
                .isFalse();
        assertThat(PluginSettings.isExtendedResource("a".repeat(244) + "/erdma"))
                .isTrue();
        assertThat(PluginSettings.isExtendedResource("a".repeat(245) + "/erdma"))
                .isFalse();
    }

    @Test
    void namesAllProblemsAtOnce() {
        assertThatThrownBy(() -> new PluginSettings("erdma", 0, false, CdiMode.OFF, Path.of("cdi"), false, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"erdma\" is no extended resource")
                .hasMessageContaining("shares per device is 0; use 1 to 1000")
                .hasMessageContaining("CDI directory cdi is relative");
    }

    @Test
    void defaultsAreTheGoAgentsResourceAndShares() {
        assertThat(PluginSettings.defaults().resourceName()).isEqualTo("aliyun/erdma");
        assertThat(PluginSettings.defaults().sharesPerDevice()).isEqualTo(200);
    }
}
