package io.erdma.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import java.io.OutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RecentLinesTest {
    private static final Log LOG = Log.of(RecentLinesTest.class);

    private final Logging logging = Logging.start(OutputStream.nullOutputStream(), LogFormat.JSON, LogLevel.DEBUG);
    private final RecentLines lines = new RecentLines(3);

    @BeforeEach
    void tell() {
        logging.tell(lines);
    }

    @AfterEach
    void forget() {
        logging.forget(lines);
    }

    @Test
    void keepsTheLastLinesTheLatestFirst() {
        for (int i = 1; i <= 5; i++) {
            LOG.info("line " + i);
        }
        assertThat(lines.latestFirst())
                .extracting(RecentLines.Line::text)
                .containsExactly("line 5", "line 4", "line 3");
    }

    @Test
    void keepsLevelAndFieldsAndLeavesDebuggingOut() {
        LOG.warn("erdma_0 unhealthy: port 1 is DOWN", Field.of("device", "erdma_0"));
        LOG.debug("a netlink message");

        assertThat(lines.latestFirst()).singleElement().satisfies(line -> {
            assertThat(line.level()).isEqualTo(LogLevel.WARN);
            assertThat(line.text()).isEqualTo("erdma_0 unhealthy: port 1 is DOWN device=erdma_0");
        });
    }

    @Test
    void keepsNoStackTracesAndNoLineOfAnySize() {
        LOG.error("a fault of ours", new IllegalStateException("why"));
        LOG.info("x".repeat(1_000_000));

        assertThat(lines.latestFirst().getFirst().text()).hasSize(501).endsWith("x…");
        assertThat(lines.latestFirst().getLast().text()).isEqualTo("a fault of ours");
    }

    @Test
    void hearsNothingOnceItIsForgotten() {
        logging.forget(lines);
        LOG.warn("too late");
        assertThat(lines.latestFirst()).isEmpty();
    }
}
