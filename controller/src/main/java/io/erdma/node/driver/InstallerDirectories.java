package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The host's directories that driver installers are unpacked and run in, one for each try, in a place where all may write. */
public final class InstallerDirectories {
    private static final Path HOST_DIRECTORY = Path.of("/var/tmp");
    private static final String PREFIX = "erdma-agent-installer-";

    /** As a directory of ours is called; people keep files of like names beside them. */
    private static final Pattern OURS = Pattern.compile(PREFIX + "[0-9]+");

    private static final int COMMAND_LINE_BYTES = 4096;
    private static final int ROOT = 0;

    private final HostCommands host;
    private final Path proc;
    private final Path directory;

    /** @param proc usually /proc */
    public InstallerDirectories(HostCommands host, Path proc) {
        this(host, proc, HOST_DIRECTORY);
    }

    /** @param directory of the host, where both it and this process can write */
    public InstallerDirectories(HostCommands host, Path proc, Path directory) {
        this.host = requireNonNull(host, "host is null");
        this.proc = requireNonNull(proc, "proc is null");
        this.directory = requireNonNull(directory, "directory is null");
    }

    /** @return as this process sees it; nobody else can look into it */
    Path create() throws IOException {
        return Files.createTempDirectory(
                host.here(directory),
                PREFIX,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    /** As the host sees one of them. */
    Path onHost(Path ours) {
        return directory.resolve(ours.getFileName());
    }

    /**
     * What agents left that were ended in the middle, as this process sees it. Anybody can write to the place, so only
     * real directories of root or of our own user count.
     */
    public List<Path> leftovers() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(host.here(directory), PREFIX + "*")) {
            for (Path entry : entries) {
                if (OURS.matcher(entry.getFileName().toString()).matches() && isOurs(entry)) {
                    found.add(entry);
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    private boolean isOurs(Path entry) throws IOException {
        try {
            int owner = (Integer) Files.getAttribute(entry, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            return Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)
                    && (owner == ROOT || owner == (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** @return the id of a process whose program is in there */
    public Optional<String> runningFrom(Path ours) throws IOException {
        String inside = onHost(ours) + "/";
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (commandLine(process).contains(inside)) {
                    return Optional.of(process.getFileName().toString());
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return Optional.empty();
    }

    private static String commandLine(Path process) {
        try (InputStream file = Files.newInputStream(process.resolve("cmdline"))) {
            return new String(file.readNBytes(COMMAND_LINE_BYTES), StandardCharsets.UTF_8);
        } catch (IOException e) {
            // It has ended.
            return "";
        }
    }

    /** @throws IOException when something stays, such as what an installer mounted there */
    public void delete(Path ours) throws IOException {
        // An installer that was ended in the middle may have left a mount in it, and what is mounted is the host's own.
        String below = onHost(ours) + "/";
        for (String line : Files.readAllLines(proc.resolve("1/mountinfo"))) {
            String mountPoint = line.split(" ", 6)[4];
            if (mountPoint.startsWith(below)) {
                throw new IOException(onHost(ours) + " is not deleted: " + mountPoint
                        + " is mounted in it; unmount that, and it goes the next time");
            }
        }
        FileTree.delete(ours);
    }
}
