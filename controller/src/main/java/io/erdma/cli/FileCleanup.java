package io.erdma.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Removes files, each on its own. */
final class FileCleanup {
    private FileCleanup() {}

    /** @param what they are called before their name */
    static Leftover.Result remove(String what, List<Path> files) {
        List<String> removed = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (Path file : files) {
            try {
                // Another cleanup at the same time may be faster, and says so itself.
                if (Files.deleteIfExists(file)) {
                    removed.add(what + " " + file);
                }
            } catch (IOException e) {
                left.add(what + " " + file + " cannot be removed: " + e);
            }
        }
        return new Leftover.Result(removed, left);
    }
}
