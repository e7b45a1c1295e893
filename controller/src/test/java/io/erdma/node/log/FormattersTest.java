package io.erdma.node.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.erdma.log.Log.Field;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FormattersTest {
    private static LogRecord record(Level level, String message, Field... fields) {
        LogRecord record = new LogRecord(level, message);
        record.setInstant(Instant.parse("2026-12-01T03:04:05.678901Z"));
        record.setLoggerName("io.erdma.health.HealthMonitor");
        record.setParameters(fields);
        return record;
    }

    private static String text(LogRecord record) {
        return new TextFormatter().format(record);
    }

    /** The string values of one JSON line by their path. */
    private static Map<String, String> json(LogRecord record) throws IOException {
        String line = new JsonFormatter().format(record);
        assertThat(line).endsWith("}\n");
        assertThat(line.strip()).doesNotContain("\n");
        Map<String, String> values = new LinkedHashMap<>();
        try (JsonParser parser = new JsonFactory().createParser(line)) {
            String prefix = "";
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.START_OBJECT && parser.currentName() != null) {
                    prefix = parser.currentName() + ".";
                } else if (token == JsonToken.END_OBJECT) {
                    prefix = "";
                } else if (token == JsonToken.VALUE_STRING) {
                    values.put(prefix + parser.currentName(), parser.getText());
                }
            }
        }
        return values;
    }

    @Test
    void writesTimeLevelMessageAndFieldsOnOneLine() {
        assertThat(text(record(Level.INFO, "erdma_1 unhealthy: port 1 is DOWN", Field.of("device", "erdma_1"))))
                .isEqualTo("2026-12-01T03:04:05.678Z INFO  erdma_1 unhealthy: port 1 is DOWN device=erdma_1\n");
    }

    @Test
    void quotesFieldValuesThatWouldNotReadAsOneWord() {
        assertThat(text(record(
                        Level.WARNING,
                        "refused",
                        Field.of("reason", "no \"such\" id"),
                        Field.of("empty", ""),
                        Field.of("none", null))))
                .isEqualTo("2026-12-01T03:04:05.678Z WARN  refused reason=\"no \\\"such\\\" id\" empty=\"\""
                        + " none=null\n");
    }

    @Test
    void letsNobodyForgeALineByWhatIsLogged() {
        String forged = "x\n2026-12-01T03:04:05.678Z INFO  all is well\r\u001b[2J\u2028\u202e";

        String line = text(record(Level.INFO, forged, Field.of("id", forged)));

        assertThat(line.lines()).hasSize(1);
        assertThat(line).contains("\\x0a2026").contains("\\x1b[2J\\u2028\\u202e");
    }

    @Test
    void indentsTheStackTraceSoThatNoLineOfItPassesForARecord() {
        LogRecord record = record(Level.SEVERE, "failed");
        record.setThrown(new IllegalStateException("bad\n2026-12-01T03:04:05.678Z INFO  all is well"));

        assertThat(text(record).lines().skip(1))
                .isNotEmpty()
                .allMatch(line -> line.startsWith("    "))
                .anyMatch(line -> line.startsWith("      at io.erdma.node.log.FormattersTest."));
    }

    @Test
    void writesTheSameAsJson() throws IOException {
        LogRecord record = record(Level.SEVERE, "a \"quoted\"\nmessage", Field.of("device", "erdma_1"));
        record.setThrown(new IllegalStateException("boom"));

        Map<String, String> values = json(record);

        assertThat(values)
                .containsEntry("ts", "2026-12-01T03:04:05.678Z")
                .containsEntry("level", "error")
                .containsEntry("logger", "io.erdma.health.HealthMonitor")
                .containsEntry("msg", "a \"quoted\"\nmessage")
                .containsEntry("fields.device", "erdma_1");
        assertThat(values.get("error")).startsWith("java.lang.IllegalStateException: boom");
    }

    @Test
    void fillsInTheParametersOfForeignRecordsAndTakesOursLiterally() {
        LogRecord foreign = new LogRecord(Level.WARNING, "port {0} busy");
        foreign.setParameters(new Object[] {"x"});

        assertThat(text(foreign)).endsWith("WARN  port x busy\n");
        assertThat(text(record(Level.WARNING, "id {0} is unknown", Field.of("id", "x"))))
                .contains("id {0} is unknown");
    }

    @Test
    void writesARecordWithoutMessageToo() throws IOException {
        assertThat(text(new LogRecord(Level.INFO, null))).endsWith("INFO  \n");
        assertThat(json(new LogRecord(Level.INFO, null))).containsEntry("msg", "");
    }

    @Property(tries = 500)
    void writesOneLineAndValidJsonForWhateverComes(@ForAll String message, @ForAll String value) throws IOException {
        LogRecord record = record(Level.INFO, message, Field.of("v", value));

        assertThat(text(record).chars().filter(c -> Character.isISOControl(c))).containsExactly((int) '\n');
        assertThat(json(record)).containsKey("msg").containsKey("fields.v");
    }
}
