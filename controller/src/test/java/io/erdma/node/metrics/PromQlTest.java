package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The check of queries finds what is wrong with them. */
class PromQlTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "erdma_shares",
                "sum by (node) (rate(erdma_device_sent_bytes_total{device=~\"$device\", node=\"a{b\"}[5m])) > 0",
                "histogram_quantile(0.5, sum by (le) (rate(erdma_allocate_duration_seconds_bucket[5m])))",
                "up{job=\"x\"} == 0 and on (instance) erdma_build_info"
            })
    void acceptsWhatIsThere(String query) {
        assertThatCode(() -> PromQl.assertKnown(query, MetricsTable.read())).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "erdma_share",
                "erdma_shares{device=\"erdma_0\"}",
                "sum by (pod) (erdma_shares)",
                "erdma_shares and on (device) erdma_devices",
                "erdma_allocate_duration_seconds",
                "rate(erdma_allocate_duration_seconds_sum{le=\"1\"}[5m])",
                "erdma_shares / erdma_sharess"
            })
    void refusesWhatIsNot(String query) {
        assertThatThrownBy(() -> PromQl.assertKnown(query, MetricsTable.read())).isInstanceOf(AssertionError.class);
    }
}
