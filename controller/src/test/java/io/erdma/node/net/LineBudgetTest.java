package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LineBudgetTest {
    private static final long EACH = LineBudget.EACH.toNanos();

    private final LineBudget lines = new LineBudget(Long.MAX_VALUE - 5);

    private long written(long from, long count) {
        return LongStream.range(0, count)
                .filter(_ -> lines.spend(Long.MAX_VALUE - 5 + from))
                .count();
    }

    @Test
    void letsABurstThroughAndCountsWhatItHoldsBack() {
        assertThat(written(0, LineBudget.AT_ONCE)).isEqualTo(LineBudget.AT_ONCE);
        assertThat(lines.takeHeldBack()).isZero();
        assertThat(written(0, 30)).isZero();
        assertThat(lines.takeHeldBack()).isEqualTo(30);
        assertThat(lines.takeHeldBack()).isZero();
    }

    /** Also where nanoTime goes from the largest number to the smallest. */
    @Test
    void letsALineThroughNowAndThen() {
        written(0, LineBudget.AT_ONCE);

        assertThat(written(EACH - 1, 9)).isZero();
        assertThat(written(EACH, 9)).isOne();
        assertThat(written(3 * EACH, 9)).isEqualTo(2);
        assertThat(written(10_000 * EACH, 1000)).isEqualTo(LineBudget.AT_ONCE);
    }
}
