package io.erdma.sysfs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Reads single files, links and directories below a root, each within a limit, so that neither a file without end nor a
 * loop of links hurts. A failure to read is an absent answer: in sysfs that is how the kernel says that it has none.
 */
final class SysfsFiles {
    /** The kernel gives an attribute at most one page. */
    private static final int MAX_FILE_BYTES = 4096;

    private static final int MAX_DIRECTORY_ENTRIES = 4096;

    private final Path root;

    SysfsFiles(Path root) {
        this.root = root;
    }

    /** Whether the text can be one component of a path. */
    static boolean isPlainName(String name) {
        return !name.isEmpty()
                && name.length() <= 255
                && !name.equals(".")
                && !name.equals("..")
                && name.indexOf('/') < 0
                && name.indexOf('\0') < 0;
    }

    /** A file's text without surrounding white space. */
    Optional<String> read(String path) {
        return resolve(path).flatMap(this::read);
    }

    /** The same for a file that should be there: its text, or why there is none. */
    Attempt attempt(String path) {
        Optional<Path> file = resolve(path);
        if (file.isEmpty() || !Files.isRegularFile(file.get())) {
            return new Attempt(Optional.empty(), "no such file");
        }
        try {
            return new Attempt(Optional.of(text(file.get())), "");
        } catch (FileSystemException e) {
            // Its message begins with the whole path, which the reader knows already.
            String reason = e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
            return new Attempt(Optional.empty(), reason);
        } catch (IOException e) {
            return new Attempt(Optional.empty(), String.valueOf(e.getMessage()));
        }
    }

    /** @param problem why there is no text */
    record Attempt(Optional<String> text, String problem) {}

    Optional<String> read(Path file) {
        // Opening a pipe or a device could block for ever or never end; attributes are regular files.
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(text(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String text(Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file)) {
            return new String(stream.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8).strip();
        }
    }

    /** Names in a directory, sorted; empty when there is no such directory. */
    List<String> entries(String path) {
        Optional<Path> directory = resolve(path).filter(Files::isDirectory);
        if (directory.isEmpty()) {
            return List.of();
        }
        var names = new TreeSet<String>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory.get())) {
            for (Path entry : stream) {
                names.add(entry.getFileName().toString());
                if (names.size() == MAX_DIRECTORY_ENTRIES) {
                    break;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        return List.copyOf(names);
    }

    boolean isDirectory(String path) {
        return resolve(path).filter(Files::isDirectory).isPresent();
    }

    /** The last component of what a link points to, whether or not that exists. */
    Optional<String> linkTargetName(String path) {
        try {
            Optional<Path> link = resolve(path).filter(Files::isSymbolicLink);
            return link.isEmpty()
                    ? Optional.empty()
                    : Optional.ofNullable(Files.readSymbolicLink(link.get()).getFileName())
                            .map(Path::toString)
                            .filter(name -> !name.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Where a path leads, with all links resolved; empty when it leads nowhere or out of the root. */
    Optional<Path> realPath(String path) {
        try {
            Optional<Path> unresolved = resolve(path);
            return unresolved.isEmpty()
                    ? Optional.empty()
                    : Optional.of(unresolved.get().toRealPath()).filter(this::isBelowRoot);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    boolean isBelowRoot(Path real) {
        try {
            Path realRoot = root.toRealPath();
            return real.startsWith(realRoot) && !real.equals(realRoot);
        } catch (IOException e) {
            return false;
        }
    }

    // Names come from files too, so they may hold what no path can.
    private Optional<Path> resolve(String path) {
        try {
            return Optional.of(root.resolve(path));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }
}
