package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;

/**
 * Which driver installer to run where the driver is missing.
 *
 * @param url of a script, or of an archive (.tar.gz, .tgz) with an install.sh in it
 * @param sha256 of what is there, 64 hexadecimal digits in lower case
 */
public record InstallerSettings(URI url, String sha256) {
    /** Stands in a URL for the installer's version. */
    public static final String VERSION = "{version}";

    public InstallerSettings {
        requireNonNull(url, "url is null");
        sha256 = sha256.toLowerCase(Locale.ROOT);
        if (!sha256.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException("not a SHA-256 sum: " + sha256);
        }
        if (url.getHost() == null || !(isHttps(url) || "http".equalsIgnoreCase(url.getScheme()))) {
            throw new IllegalArgumentException("not an http or https URL: " + url);
        }
    }

    /** @param version stands in for {@value #VERSION} in the URL */
    public static InstallerSettings of(String url, String version, String sha256) {
        return new InstallerSettings(URI.create(url.replace(VERSION, version)), sha256);
    }

    /** What is wrong with a URL as one writes it; empty when it can be used. */
    public static Optional<String> problemWith(String url) {
        try {
            of(url, "0", "0".repeat(64));
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of(
                    "not an http or https URL; use for example https://HOST/erdma_installer-" + VERSION + ".tar.gz");
        }
    }

    static boolean isHttps(URI url) {
        return "https".equalsIgnoreCase(url.getScheme());
    }

    /** For logs: without what may sign a URL, and without its user. */
    public static String shown(String url) {
        return url.replaceFirst("://[^/?#]*@", "://").replaceFirst("(?s)\\?.*", "?…");
    }

    @Override
    public String toString() {
        return shown(url.toString());
    }

    boolean isArchive() {
        String path = String.valueOf(url.getPath());
        return path.endsWith(".tar.gz") || path.endsWith(".tgz");
    }
}
