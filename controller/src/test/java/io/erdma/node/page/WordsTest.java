package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void tellsRatesInTheUnitThatSuitsThem() {
        assertThat(Words.rate(OptionalDouble.of(0))).isEqualTo("0 B/s");
        assertThat(Words.rate(OptionalDouble.of(1023))).isEqualTo("1023 B/s");
        assertThat(Words.rate(OptionalDouble.of(914.89 * (1 << 20)))).isEqualTo("914.89 MiB/s");
        assertThat(Words.rate(OptionalDouble.of(1e18))).isEqualTo("909494.70 TiB/s");
        assertThat(Words.rate(OptionalDouble.empty())).isEqualTo("–");
    }

    @Test
    void tellsDurationsByTheirTwoLargestUnits() {
        assertThat(Words.time(Duration.ofSeconds(8))).isEqualTo("8 s");
        assertThat(Words.time(Duration.ofSeconds(725))).isEqualTo("12 min 5 s");
        assertThat(Words.time(Duration.ofMinutes(121))).isEqualTo("2 h 1 min");
        assertThat(Words.time(Duration.ofHours(76))).isEqualTo("3 d 4 h");
        assertThat(Words.time(Duration.ofSeconds(-3))).isEqualTo("0 s");
    }
}
