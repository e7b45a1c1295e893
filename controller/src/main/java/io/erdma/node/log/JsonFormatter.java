package io.erdma.node.log;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.erdma.log.Log;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;

/** One JSON object a line: ts, level, logger, msg, then fields and error where there are any. */
final class JsonFormatter extends Formatter {
    // ASCII only, so that no line separator of Unicode and no half of a surrogate pair gets through.
    private static final JsonFactory JSON =
            new JsonFactoryBuilder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    @Override
    public String format(LogRecord record) {
        StringWriter out = new StringWriter(160);
        try (JsonGenerator json = JSON.createGenerator(out)) {
            json.writeStartObject();
            json.writeStringField("ts", TextFormatter.time(record.getInstant()));
            json.writeStringField("level", LogLevel.of(record.getLevel()).word());
            json.writeStringField("logger", String.valueOf(record.getLoggerName()));
            json.writeStringField("msg", TextFormatter.message(record));
            if (record.getParameters() instanceof Log.Field[] fields && fields.length > 0) {
                json.writeObjectFieldStart("fields");
                for (Log.Field field : fields) {
                    json.writeStringField(field.key(), field.value());
                }
                json.writeEndObject();
            }
            if (record.getThrown() != null) {
                json.writeStringField("error", TextFormatter.trace(record.getThrown()));
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("writing to a string failed", e);
        }
        return out.append('\n').toString();
    }
}
