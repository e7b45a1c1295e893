package io.erdma.node;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * What the build wrote down about itself.
 *
 * @param commit "unknown" when it was built outside a git tree and nobody passed {@code -Dgit.commit.id}
 * @param timestamp the date that the build stamps on its files: fixed, so that the same sources give the same bytes
 */
public record BuildInfo(String version, String commit, String timestamp) {
    private static final String RESOURCE = "build.properties";

    public BuildInfo {
        requireNonNull(version, "version is null");
        requireNonNull(commit, "commit is null");
        requireNonNull(timestamp, "timestamp is null");
    }

    public static BuildInfo read() {
        Properties properties = new Properties();
        try (InputStream in =
                requireNonNull(BuildInfo.class.getResourceAsStream(RESOURCE), "the build left out " + RESOURCE)) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the resource " + RESOURCE, e);
        }
        return new BuildInfo(
                properties.getProperty("version"),
                properties.getProperty("commit"),
                properties.getProperty("timestamp"));
    }
}
