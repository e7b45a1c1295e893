package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepairsTest {
    private static final NetChange UP = new NetChange.SetUp(3, "eth1");
    private static final NetChange MTU = new NetChange.SetMtu(3, "eth1", 8500);

    private final Repairs repairs =
            new Repairs(new Repairs.Limits(Duration.ofSeconds(1), Duration.ofSeconds(60), 5, Duration.ofMinutes(10)));
    private long now = -3;

    private void pass(Duration time) {
        now += time.toNanos();
    }

    /** Somebody undoes a change as soon as it is made. */
    private Duration repairAsSoonAsAllowed() {
        Duration wait = repairs.waitBefore(List.of(UP), now);
        pass(wait);
        assertThat(repairs.waitBefore(List.of(UP), now)).isZero();
        assertThat(repairs.made(List.of(UP), now)).isTrue();
        return wait;
    }

    @Test
    void countWhatWasMadeBefore() {
        assertThat(repairs.waitBefore(List.of(UP), now)).isZero();
        assertThat(repairs.made(List.of(UP), now)).isFalse();
        assertThat(repairs.made(List.of(MTU), now)).isFalse();
        assertThat(repairs.inARow()).isZero();
        assertThat(repairs.made(List.of(UP), now)).isTrue();
        assertThat(repairs.inARow()).isEqualTo(1);
    }

    @Test
    void waitLongerEachTimeAndSeldomTryInTheEnd() {
        repairs.made(List.of(UP), now);
        List<Long> waits = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            waits.add(repairAsSoonAsAllowed().toSeconds());
        }
        assertThat(waits).containsExactly(0L, 1L, 2L, 4L, 8L, 60L, 60L);
        assertThat(repairs.gaveUp()).isTrue();
    }

    @Test
    void neverHoldBackWhatIsNew() {
        repairs.made(List.of(UP), now);
        repairAsSoonAsAllowed();

        assertThat(repairs.waitBefore(List.of(UP), now)).isEqualTo(Duration.ofSeconds(1));
        assertThat(repairs.waitBefore(List.of(UP, MTU), now)).isZero();
    }

    @Test
    void beginAnewAfterAQuietTime() {
        repairs.made(List.of(UP), now);
        repairAsSoonAsAllowed();
        repairAsSoonAsAllowed();
        pass(Duration.ofMinutes(10));
        repairs.waitBefore(List.of(), now);
        assertThat(repairs.inARow()).isEqualTo(2);
        pass(Duration.ofSeconds(1));
        assertThat(repairs.waitBefore(List.of(), now)).isZero();
        assertThat(repairs.inARow()).isZero();
        assertThat(repairAsSoonAsAllowed()).isZero();
    }
}
