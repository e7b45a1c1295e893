package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.node.driver.InstallerDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Directories of driver installers whose agent was ended in the middle. */
final class InstallerCleanup implements Leftover {
    private final InstallerDirectories directories;

    InstallerCleanup(InstallerDirectories directories) {
        this.directories = requireNonNull(directories, "directories is null");
    }

    @Override
    public String name() {
        return "directories of driver installers";
    }

    @Override
    public boolean podsNeedIt() {
        return false;
    }

    @Override
    public Result remove() throws IOException {
        List<String> removed = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (Path directory : directories.leftovers()) {
            Optional<String> pid = directories.runningFrom(directory);
            if (pid.isPresent()) {
                left.add("the driver's installer in " + directory + " still runs (pid " + pid.get()
                        + "); clean up again when it has ended");
                continue;
            }
            try {
                boolean there = Files.exists(directory);
                directories.delete(directory);
                if (there) {
                    removed.add("installer's directory " + directory);
                }
            } catch (IOException e) {
                left.add("installer's directory " + directory + " cannot be removed: " + e);
            }
        }
        return new Result(removed, left);
    }
}
