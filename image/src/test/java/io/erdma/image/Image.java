package io.erdma.image;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The image that was built last, by the name that {@code build/image.sh} gives it. */
final class Image {
    /** The project's directory; tests run in their module's. */
    static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    static final Path DISTRIBUTION = PROJECT.resolve("controller/target/erdma");
    static final String VERSION = line(DISTRIBUTION.resolve("VERSION"));
    static final String NAME = "erdma-controller:" + VERSION;

    private Image() {}

    private static String line(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("package the distribution first: make build", e);
        }
    }
}
