package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Lists the log files of the node's pods; reads none of them. */
public final class PodLogs {
    /** Far beyond the pods of a node, all their restarts included. */
    private static final int MOST_ENTRIES = 50_000;

    private final Path root;

    /** @param root usually /var/log */
    public PodLogs(Path root) {
        this.root = requireNonNull(root, "root is null");
    }

    public PodNames read() {
        Path pods = root.resolve("pods");
        try {
            return PodNames.of(
                    entries(pods),
                    Files.isDirectory(root.resolve("containers")) ? entries(root.resolve("containers")) : List.of());
        } catch (IOException e) {
            return PodNames.none("pods are known by their UIDs alone: " + pods
                    + " cannot be listed; mount the host's /var/log, or name the directory that holds it");
        }
    }

    private static List<String> entries(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            for (Path entry : stream) {
                names.add(entry.getFileName().toString());
                if (names.size() == MOST_ENTRIES) {
                    break;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return names;
    }
}
