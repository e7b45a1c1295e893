package io.erdma.node.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.log.Log;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class LoggingTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Log log = Log.of(LoggingTest.class);

    @Test
    void changesTheLevelWhileRunning() {
        Logging logging = Logging.start(out, LogFormat.TEXT, LogLevel.INFO);

        log.debug("first");
        logging.level(LogLevel.DEBUG);
        log.debug("second");
        logging.level(LogLevel.ERROR);
        log.warn("third");

        assertThat(logging.level()).isEqualTo(LogLevel.ERROR);
        assertThat(out.toString(UTF_8))
                .contains("second")
                .doesNotContain("first")
                .doesNotContain("third");
    }

    @Test
    void keepsLibrariesQuietWhateverTheLevel() {
        Logging logging = Logging.start(out, LogFormat.JSON, LogLevel.DEBUG);

        Logger.getLogger("io.grpc.netty.NettyServerTransport").info("connected");
        Logger.getLogger("io.netty.bootstrap.Bootstrap").warning("Unknown channel option 'SO_KEEPALIVE'");
        Logger.getLogger("some.other.library").log(Level.INFO, "hello");
        Logger.getLogger("io.netty.channel").warning("out of descriptors");

        assertThat(out.toString(UTF_8).lines()).hasSize(1).allMatch(line -> line.contains("out of descriptors"));
        assertThat(logging.quiet()).contains("io.grpc", "io.netty");
    }

    @Test
    void goesOnWhenNobodyReadsTheLog() {
        Logging.start(
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("broken pipe");
                    }
                },
                LogFormat.TEXT,
                LogLevel.INFO);

        log.info("first");
        log.info("second");

        assertThat(Logger.getLogger("").getHandlers()).hasSize(1);
    }
}
