package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class PaceTest {
    @Test
    void theAgentsPaceIsTheOneThatIsDocumented() {
        assertThat(Pace.STANDARD)
                .isEqualTo(new Pace(
                        Duration.ofMillis(200),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(1),
                        Duration.ofMillis(20),
                        Duration.ofMillis(500),
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(1)));
        assertThat(HealthSettings.STANDARD)
                .isEqualTo(new HealthSettings(
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(15),
                        Duration.ofSeconds(1),
                        Pace.STANDARD));
    }
}
