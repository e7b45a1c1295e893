package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the chart makes of a matrix of values. */
class GoldenTest {
    private static final Chart CHART = Chart.of(Golden.PROJECT);

    static List<String> cases() {
        return Golden.cases();
    }

    @Test
    void helmHasNothingToSay() {
        // The engine's own failures are information only; there is an icon to be wished for, and that is all.
        assertThat(CHART.lint().isFailed()).isFalse();
        assertThat(CHART.lint().getMessages()).allMatch(message -> message.contains("icon is recommended"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void rendersAsItWasReviewed(String name) {
        Chart.Request request = Chart.Request.DEFAULTS.with(Golden.values(name));

        Golden.compare(
                Golden.DIRECTORY.resolve(name + ".yaml"),
                CHART.installed(request) + "# ---- when the release is uninstalled ----\n" + CHART.hooks(request));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyFieldIsOneThatKubernetesKnows(String name) {
        Chart.Request request = Chart.Request.DEFAULTS.with(Golden.values(name));

        assertThat(Models.read(CHART.installed(request))).isNotEmpty();
        boolean cleans = !name.equals("rules");
        assertThat(Models.read(CHART.hooks(request))).hasSize(cleans ? 5 : 0);
    }

    @Test
    void theDefinitionsFieldsAreKnown() {
        assertThat(Models.read(CHART.definitions())).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.20.0", "1.20.4-aliyun.1", "1.21.9", "1.24.6-aliyun.1", "1.28.3", "1.36.0"})
    void rendersForEveryKubernetesSince120(String version) {
        String rendered = CHART.installed(Chart.Request.DEFAULTS.on(version));

        assertThat(Models.read(rendered)).isNotEmpty();
        // The field came with 1.21, switched off; an API server of 1.20 would drop it in silence.
        boolean knowsSurge = !version.startsWith("1.20.") && !version.startsWith("1.21.");
        assertThat(rendered.contains("maxSurge: 0")).isEqualTo(knowsSurge);
    }

    @Test
    void refusesAnOlderKubernetes() {
        assertThatThrownBy(() -> CHART.installed(Chart.Request.DEFAULTS.on("1.19.16")))
                .hasMessageContaining(">=1.20.0-0");
    }

    @Test
    void theWalkFindsWhatTheModelsSwallow() {
        String pod = """
                apiVersion: v1
                kind: Pod
                spec:
                  containers:
                    - name: a
                      securityContext: {priviledged: true}
                      env: [{name: PORT, value: 9470}]
                """;

        assertThatThrownBy(() -> Models.read(pod))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("unknown field .spec.containers[0].securityContext.priviledged")
                .hasMessageContaining(".spec.containers[0].env[0].value is written as 9470 (Integer)");
    }
}
