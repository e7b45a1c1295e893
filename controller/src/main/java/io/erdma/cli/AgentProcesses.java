package io.erdma.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds agents by their processes. In a pod without the node's process ids there are none to be seen. */
final class AgentProcesses {
    /** The launcher runs it by this name. */
    private static final String MAIN = "io.erdma.node.AgentMain";

    private static final int COMMAND_LINE_BYTES = 64 << 10;

    private final Path proc;

    /** @param proc usually /proc */
    AgentProcesses(Path proc) {
        this.proc = proc;
    }

    /** @return process ids */
    List<Long> list() {
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path entry : entries) {
                if (("\0" + commandLine(entry)).contains("\0" + MAIN + "\0")) {
                    found.add(Long.parseLong(entry.getFileName().toString()));
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            // Without procfs nothing is seen.
            return found;
        }
        return found;
    }

    private static String commandLine(Path process) {
        try (InputStream file = Files.newInputStream(process.resolve("cmdline"))) {
            return new String(file.readNBytes(COMMAND_LINE_BYTES), StandardCharsets.UTF_8);
        } catch (IOException e) {
            // It has ended.
            return "";
        }
    }
}
