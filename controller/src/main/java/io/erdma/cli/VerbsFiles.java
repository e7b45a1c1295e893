package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The RDMA user-space files of a machine, found without loading any: enough to tell "not installed" from "too old".
 *
 * @param library the file behind the name that the loader looks for
 * @param version the part of its name after "libibverbs.so."; rdma-core 44 calls it 1.14.44.0
 * @param erdmaProvider the plug-in without which libibverbs drops eRDMA devices silently
 */
record VerbsFiles(Optional<Path> library, Optional<String> version, Optional<Path> erdmaProvider) {
    private static final String STEM = ".so.";

    VerbsFiles {
        requireNonNull(library, "library is null");
        requireNonNull(version, "version is null");
        requireNonNull(erdmaProvider, "erdmaProvider is null");
    }

    /**
     * The directories in which glibc's loader looks, as far as they matter on the distributions at hand.
     *
     * @param searchPath value of LD_LIBRARY_PATH
     * @param architecture as the system property os.arch gives it
     */
    static List<Path> directories(Optional<String> searchPath, String architecture) {
        List<Path> directories = new ArrayList<>();
        for (String directory : searchPath.orElse("").split(":", -1)) {
            if (!directory.isEmpty()) {
                directories.add(Path.of(directory));
            }
        }
        String triplet = (architecture.equals("amd64") ? "x86_64" : architecture) + "-linux-gnu";
        for (String directory : List.of("/usr/local/lib", "/usr/lib/" + triplet, "/usr/lib64", "/lib64", "/usr/lib")) {
            directories.add(Path.of(directory));
        }
        return directories;
    }

    /** @param environment of the process that would load it */
    static VerbsFiles here(String library, Map<String, String> environment) {
        return find(
                library,
                directories(Optional.ofNullable(environment.get("LD_LIBRARY_PATH")), System.getProperty("os.arch")));
    }

    /**
     * Of another process' file system.
     *
     * @param root its root directory, as seen from here
     * @param environment of the process
     */
    static VerbsFiles below(Path root, String library, Map<String, String> environment) {
        return find(
                library,
                directories(Optional.ofNullable(environment.get("LD_LIBRARY_PATH")), System.getProperty("os.arch"))
                        .stream()
                        .map(directory ->
                                root.resolve("." + directory.toAbsolutePath()).normalize())
                        .toList());
    }

    /** @param library a soname, or the path of a file */
    static VerbsFiles find(String library, List<Path> directories) {
        List<Path> candidates = library.contains("/")
                ? List.of(Path.of(library))
                : directories.stream()
                        .map(directory -> directory.resolve(library))
                        .toList();
        Optional<Path> found = candidates.stream().filter(Files::isRegularFile).findFirst();
        Optional<Path> file = found.map(VerbsFiles::target);
        return new VerbsFiles(
                file,
                file.flatMap(VerbsFiles::versionOf),
                directories.stream()
                        .map(directory -> directory.resolve("libibverbs"))
                        .filter(Files::isDirectory)
                        .flatMap(directory -> provider(directory).stream())
                        .findFirst());
    }

    private static Path target(Path link) {
        try {
            return link.toRealPath();
        } catch (IOException unreadable) {
            // It was there a moment ago: the name itself is the best answer left.
            return link;
        }
    }

    private static Optional<String> versionOf(Path file) {
        String name = file.getFileName().toString();
        int at = name.indexOf(STEM);
        return at < 0 ? Optional.empty() : Optional.of(name.substring(at + STEM.length()));
    }

    private static Optional<Path> provider(Path directory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "liberdma-rdmav*.so")) {
            for (Path file : files) {
                return Optional.of(file);
            }
            return Optional.empty();
        } catch (IOException unreadable) {
            // A directory that we may not list holds no provider that we could name.
            return Optional.empty();
        }
    }
}
