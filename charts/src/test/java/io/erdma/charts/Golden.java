package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Texts that are kept beside the tests, and written anew by {@code mvn test -pl charts -am -Dgolden=write}. */
final class Golden {
    static final Path PROJECT = Path.of("..");
    static final Path DIRECTORY = Path.of("src/test/resources/golden");

    private static final boolean WRITE = "write".equals(System.getProperty("golden"));
    private static final String VALUES = ".values.yaml";

    private Golden() {}

    /** Names of the values files of {@link #DIRECTORY}, without their ending. */
    static List<String> cases() {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(VALUES))
                    .map(name -> name.substring(0, name.length() - VALUES.length()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path values(String name) {
        return DIRECTORY.resolve(name + VALUES);
    }

    static void compare(Path file, String text) {
        try {
            if (WRITE) {
                Files.writeString(file, text);
            }
            assertThat(text)
                    .as("%s; look at the difference, then write it with -Dgolden=write", file)
                    .isEqualTo(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new AssertionError(file + " is not there; write it with -Dgolden=write, and read it", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
