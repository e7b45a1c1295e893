package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.pods.FallbackCause.Kind;
import io.erdma.pods.FallbackCauses.NodeState;
import io.erdma.pods.ProcessLimits.LockedMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackCausesTest {
    private static final NodeState FINE =
            new NodeState(Optional.of(false), Map.of("erdma_0", true), List.of("erdma_0"));
    private static final Optional<LockedMemory> UNLIMITED = Optional.of(new LockedMemory(OptionalLong.empty()));
    private static final Optional<LockedMemory> LITTLE = Optional.of(new LockedMemory(OptionalLong.of(65_536)));

    private static ProcessLimits process(Map<String, String> variables) {
        return new ProcessLimits(UNLIMITED, false, Optional.of(variables), Optional.of(true));
    }

    @Test
    void findsNothingWhereNothingIsWrong() {
        assertThat(FallbackCauses.of(FINE, process(Map.of("NCCL_IB_DISABLE", "0", "NCCL_IB_HCA", "erdma"))))
                .isEmpty();
    }

    @Test
    void namesNothingThatIsNotKnown() {
        assertThat(FallbackCauses.of(
                        new NodeState(Optional.empty(), Map.of(), List.of()),
                        new ProcessLimits(Optional.empty(), false, Optional.empty(), Optional.empty())))
                .isEmpty();
    }

    @Test
    void namesAllThatWasFoundTheLikelyFirst() {
        var node = new NodeState(
                Optional.of(true), Map.of("erdma_0", false, "erdma_1", true), List.of("erdma_0", "erdma_1"));
        var process = new ProcessLimits(
                LITTLE, false, Optional.of(Map.of("NCCL_IB_DISABLE", "1", "NCCL_IB_HCA", "mlx5")), Optional.of(false));
        List<FallbackCause> causes = FallbackCauses.of(node, process);
        assertThat(causes).extracting(FallbackCause::kind).containsExactly(Kind.values());
        assertThat(causes)
                .element(5)
                .extracting(FallbackCause::found)
                .asString()
                .contains("erdma_0");
        assertThat(causes)
                .element(4)
                .extracting(FallbackCause::found)
                .asString()
                .contains("65536 bytes");
        assertThat(causes)
                .element(3)
                .extracting(FallbackCause::found)
                .asString()
                .contains("NCCL_IB_HCA=mlx5");
    }

    @Test
    void noLimitOfLockedMemoryHoldsForWhoHasIpcLock() {
        var process = new ProcessLimits(LITTLE, true, Optional.of(Map.of()), Optional.of(true));
        assertThat(FallbackCauses.of(FINE, process)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "erdma, true",
        "erdma_0, true",
        "erdma_0:1, true",
        "=erdma_0, true",
        "=erdma_0:1, true",
        "'mlx5,erdma', true",
        "'=mlx5_0,erdma_0', true",
        "erdma_00, false",
        "=erdma, false",
        "mlx5, false",
        "^mlx5, true",
        "^erdma, false",
        "^=erdma_0, false",
        "^=erdma_1, true",
        "'^mlx5,erdma_0:1', false"
    })
    void readsNcclsListOfDevicesAsNcclDoes(String value, boolean chosen) {
        assertThat(FallbackCauses.chooses(value, "erdma_0")).isEqualTo(chosen);
    }
}
