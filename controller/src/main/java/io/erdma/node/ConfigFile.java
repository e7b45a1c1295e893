package io.erdma.node;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * The entries of a configuration file: one YAML (or JSON) mapping from names to scalars or lists of scalars. It is read
 * event by event, so depth, aliases and recursion in the input cost nothing.
 *
 * @param problems what could not be read, each with the file's name
 */
record ConfigFile(List<Entry> entries, List<String> problems) {
    /** Far above what settings need, far below what could hurt. */
    static final int MAX_BYTES = 64 * 1024;

    private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");

    /**
     * One key with its values.
     *
     * @param line of the key, from 1
     * @param list whether the values stood in a list
     */
    record Entry(String key, List<String> values, boolean list, int line) {
        Entry {
            values = List.copyOf(values);
        }
    }

    ConfigFile {
        entries = List.copyOf(entries);
        problems = List.copyOf(problems);
    }

    static ConfigFile read(Path file) {
        byte[] bytes;
        try {
            // Opening a pipe or a device may wait for ever.
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (attributes.isDirectory()) {
                return failed(file + ": a directory; name a file in it");
            }
            if (!attributes.isRegularFile()) {
                return failed(file + ": not a regular file, so it is not read; write the settings into one");
            }
            bytes = firstBytes(file);
        } catch (NoSuchFileException e) {
            return failed(file + ": there is no such file");
        } catch (AccessDeniedException e) {
            return failed(file + ": the agent has no permission to read it");
        } catch (FileSystemException e) {
            return failed(file + ": cannot be read: "
                    + Optional.ofNullable(e.getReason()).orElseGet(e::getMessage));
        } catch (IOException e) {
            return failed(file + ": cannot be read: " + e.getMessage());
        }
        if (bytes.length > MAX_BYTES) {
            return failed(file + ": larger than " + MAX_BYTES / 1024 + " KiB, so this is no file of settings");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return parse(text, file.toString());
        } catch (CharacterCodingException e) {
            return failed(file + ": not UTF-8 text");
        }
    }

    private static byte[] firstBytes(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(MAX_BYTES + 1);
        }
    }

    private static ConfigFile failed(String problem) {
        return new ConfigFile(List.of(), List.of(problem));
    }

    static ConfigFile parse(String text, String file) {
        var reader = new Reader(
                new Parse(LoadSettings.builder().setLabel(file).build())
                        .parseString(text)
                        .iterator(),
                file);
        try {
            reader.document();
        } catch (YamlEngineException e) {
            reader.problems.add(file + ": not YAML: " + e.getMessage().replaceAll("\\s*\\R\\s*", "; "));
        }
        return new ConfigFile(reader.entries, reader.problems);
    }

    private static final class Reader {
        private final Iterator<Event> events;
        private final String file;
        private final List<Entry> entries = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();

        Reader(Iterator<Event> events, String file) {
            this.events = events;
            this.file = file;
        }

        void document() {
            Event event = events.next();
            while (events.hasNext() && !(event instanceof DocumentStartEvent)) {
                event = events.next();
            }
            if (!events.hasNext()) {
                return;
            }
            Event top = events.next();
            if (top instanceof MappingStartEvent) {
                mapping();
            } else if (!(top instanceof ScalarEvent scalar && isNull(scalar))) {
                problems.add(file + ": not a mapping; write one \"name: value\" a line");
                return;
            }
            while (events.hasNext()) {
                if (events.next() instanceof DocumentStartEvent again) {
                    problems.add(file + ", line " + line(again) + ": a second document; only the first would count");
                    return;
                }
            }
        }

        private void mapping() {
            Set<String> seen = new HashSet<>();
            Event key = events.next();
            while (!(key instanceof MappingEndEvent)) {
                if (key instanceof ScalarEvent scalar) {
                    if (!seen.add(scalar.getValue())) {
                        problems.add(scalar.getValue() + " (file " + file + ", line " + line(key) + "): given twice");
                    }
                    value(scalar);
                } else {
                    problems.add(file + ", line " + line(key) + ": a key must be a name");
                    skip(key);
                    skip(events.next());
                }
                key = events.next();
            }
        }

        private void value(ScalarEvent key) {
            Event value = events.next();
            switch (value) {
                case ScalarEvent scalar -> {
                    if (!isNull(scalar)) {
                        entries.add(new Entry(key.getValue(), List.of(scalar.getValue()), false, line(key)));
                    } else {
                        entries.add(new Entry(key.getValue(), List.of(), false, line(key)));
                    }
                }
                case SequenceStartEvent start -> list(key);
                default -> {
                    problems.add(key.getValue() + " (file " + file + ", line " + line(key) + "): "
                            + (value instanceof AliasEvent
                                    ? "an alias; write the value itself"
                                    : "a mapping; write one value or a list"));
                    skip(value);
                }
            }
        }

        private void list(ScalarEvent key) {
            List<String> values = new ArrayList<>();
            Event item = events.next();
            while (!(item instanceof SequenceEndEvent)) {
                if (item instanceof ScalarEvent scalar) {
                    values.add(scalar.getValue());
                } else {
                    problems.add(key.getValue() + " (file " + file + ", line " + line(item)
                            + "): a list may hold single values only");
                    skip(item);
                }
                item = events.next();
            }
            entries.add(new Entry(key.getValue(), values, true, line(key)));
        }

        /** Reads on to the end of what began with this event. */
        private void skip(Event start) {
            int depth = opens(start) ? 1 : 0;
            while (depth > 0) {
                Event event = events.next();
                if (opens(event)) {
                    depth++;
                } else if (event instanceof MappingEndEvent || event instanceof SequenceEndEvent) {
                    depth--;
                }
            }
        }

        private static boolean opens(Event event) {
            return event instanceof MappingStartEvent || event instanceof SequenceStartEvent;
        }

        private static boolean isNull(ScalarEvent scalar) {
            return scalar.getScalarStyle() == ScalarStyle.PLAIN && NULLS.contains(scalar.getValue());
        }

        private static int line(Event event) {
            return event.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
        }
    }
}
