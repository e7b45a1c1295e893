package io.erdma.node.driver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A program with all that it starts. Those whose parent has ended belong to PID 1 and are no descendants any more, so
 * each run has a mark in its environment, which children inherit, wherever they go.
 */
final class StartedProcesses {
    /** The variable with the mark. */
    static final String VARIABLE = "ERDMA_AGENT_RUN";

    private static final int ROUNDS = 10;

    /** Above what the kernel lets arguments and environment have by default is hardly anything of ours. */
    private static final int MAX_ENVIRONMENT = 2 << 20;

    private final Path proc;
    private final String mark;

    private StartedProcesses(Path proc, String mark) {
        this.proc = proc;
        this.mark = mark;
    }

    /** With a mark of its own, to be put into the program's environment. */
    static StartedProcesses next() {
        return new StartedProcesses(Path.of("/proc"), UUID.randomUUID().toString());
    }

    String mark() {
        return mark;
    }

    /** Looks several times: what is about to be killed may start more. Does not wait for their end. */
    void end(ProcessHandle program) {
        Set<ProcessHandle> known = new HashSet<>(Set.of(program));
        for (int round = 0; round < ROUNDS; round++) {
            Set<ProcessHandle> found = marked();
            known.forEach(handle -> handle.descendants().forEach(found::add));
            known.forEach(ProcessHandle::destroyForcibly);
            found.forEach(ProcessHandle::destroyForcibly);
            if (!known.addAll(found)) {
                return;
            }
        }
    }

    private Set<ProcessHandle> marked() {
        Set<ProcessHandle> found = new HashSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path entry : entries) {
                // The handle first: it is of one process, and kills none that has got the same number since.
                Optional<ProcessHandle> handle =
                        ProcessHandle.of(Long.parseLong(entry.getFileName().toString()));
                if (handle.isPresent() && isMarked(entry.resolve("environ"))) {
                    found.add(handle.get());
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            // Who can be found by descent is ended all the same.
            return found;
        }
        return found;
    }

    private boolean isMarked(Path environment) {
        try (InputStream file = Files.newInputStream(environment)) {
            String text = new String(file.readNBytes(MAX_ENVIRONMENT), StandardCharsets.ISO_8859_1);
            return ("\0" + text).contains("\0" + VARIABLE + "=" + mark + "\0");
        } catch (IOException e) {
            // It has ended, or is not ours to look at.
            return false;
        }
    }
}
