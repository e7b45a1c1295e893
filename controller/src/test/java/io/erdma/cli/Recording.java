package io.erdma.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Access to what {@code ibv_devinfo} printed; src/test/resources/devinfo/README.md tells how it was recorded. */
final class Recording {
    private Recording() {}

    static Path directory() {
        try {
            return Path.of(Recording.class.getResource("/devinfo/README.md").toURI())
                    .getParent();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static String text(String path) {
        try {
            return Files.readString(directory().resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Names of the situations that were recorded with the stand-in. */
    static List<String> standIns() {
        try (Stream<Path> directories = Files.list(directory().resolve("stand-in"))) {
            return directories
                    .map(path -> path.getFileName().toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * What {@code -v} prints but for the rows that {@code erdma devinfo --help} excludes. Those of
     * ibv_query_device_ex stand between two rows that are always there.
     */
    static String withoutExtendedRows(String verbose) {
        StringBuilder kept = new StringBuilder();
        boolean skipping = false;
        boolean infiniband = false;
        for (String line : verbose.lines().toList()) {
            if (line.startsWith("\tnum_comp_vectors:")) {
                skipping = false;
            }
            if (line.startsWith("\t\t\tlink_layer:")) {
                infiniband = line.endsWith("InfiniBand");
            }
            if (!skipping && !(infiniband && line.startsWith("\t\t\tport_cap_flags2:"))) {
                kept.append(line).append('\n');
            }
            if (line.startsWith("\tlocal_ca_ack_delay:")) {
                skipping = true;
            }
        }
        return kept.toString();
    }
}
