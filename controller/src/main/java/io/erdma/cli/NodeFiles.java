package io.erdma.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Reads small files of sysfs and proc, each within a limit. What can't be read is absent. */
final class NodeFiles {
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_ENTRIES = 32 << 10;

    private NodeFiles() {}

    /** A regular file's text without surrounding white space. */
    static Optional<String> text(Path file) {
        // Opening a pipe or a device could block for ever.
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (InputStream stream = Files.newInputStream(file)) {
            return Optional.of(new String(stream.readNBytes(MAX_BYTES), StandardCharsets.UTF_8).strip());
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** Names in a directory, sorted; absent when it can't be listed. */
    static Optional<List<String>> names(Path directory) {
        TreeSet<String> names = new TreeSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (names.size() == MAX_ENTRIES) {
                    break;
                }
                names.add(entry.getFileName().toString());
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            return Optional.empty();
        }
        return Optional.of(List.copyOf(names));
    }

    /** The last part of what a link points to. */
    static Optional<String> linkName(Path link) {
        try {
            return Optional.ofNullable(Files.readSymbolicLink(link).getFileName())
                    .map(Path::toString);
        } catch (IOException | UnsupportedOperationException none) {
            return Optional.empty();
        }
    }
}
