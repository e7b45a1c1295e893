package io.erdma.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Optional;
import java.util.OptionalInt;

/** JSON documents of ASCII characters only, indented; what is unknown is null, so that every key is always there. */
final class Json {
    /** Writes the fields of an object that is already open. */
    @FunctionalInterface
    interface Fields {
        void write(JsonGenerator generator) throws IOException;
    }

    private static final int HIGHEST_ASCII = 126;

    private Json() {}

    static String object(Fields fields) throws IOException {
        StringWriter text = new StringWriter();
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        try (JsonGenerator generator = new JsonFactory().createGenerator(text)) {
            generator.setHighestNonEscapedChar(HIGHEST_ASCII);
            generator.setPrettyPrinter(
                    new DefaultPrettyPrinter().withObjectIndenter(indenter).withArrayIndenter(indenter));
            generator.writeStartObject();
            fields.write(generator);
            generator.writeEndObject();
        }
        return text.append('\n').toString();
    }

    /** The same in a single line. */
    static String line(Fields fields) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = new JsonFactory().createGenerator(text)) {
            generator.setHighestNonEscapedChar(HIGHEST_ASCII);
            generator.writeStartObject();
            fields.write(generator);
            generator.writeEndObject();
        }
        return text.append('\n').toString();
    }

    static void string(JsonGenerator generator, String key, Optional<String> value) throws IOException {
        if (value.isPresent()) {
            generator.writeStringField(key, value.get());
        } else {
            generator.writeNullField(key);
        }
    }

    static void number(JsonGenerator generator, String key, OptionalInt value) throws IOException {
        if (value.isPresent()) {
            generator.writeNumberField(key, value.getAsInt());
        } else {
            generator.writeNullField(key);
        }
    }
}
