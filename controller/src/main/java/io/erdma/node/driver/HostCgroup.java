package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Moves a process out of this pod's control groups into the host's root ones: building a driver takes far more memory
 * than the agent may have, and must not end with it.
 */
final class HostCgroup {
    private final Path cgroups;
    private final Path proc;

    /**
     * @param cgroups the host's /sys/fs/cgroup as this process sees it
     * @param proc usually /proc
     */
    HostCgroup(Path cgroups, Path proc) {
        this.cgroups = requireNonNull(cgroups, "cgroups is null");
        this.proc = requireNonNull(proc, "proc is null");
    }

    /** Moves it and what it started already; what it starts from then on is born there. */
    void admit(Process process) throws IOException {
        admit(process.pid());
        for (ProcessHandle child : process.descendants().toList()) {
            try {
                admit(child.pid());
            } catch (IOException e) {
                if (child.isAlive()) {
                    throw e;
                }
            }
        }
    }

    private void admit(long pid) throws IOException {
        if (Files.exists(cgroups.resolve("cgroup.controllers"))) {
            write(cgroups.resolve("cgroup.procs"), pid);
            return;
        }
        // Version 1 has a tree for each group of controllers: "4:memory:/kubepods/…", "1:name=systemd:/…", and beside
        // them perhaps one of version 2: "0::/…".
        List<String> lines = Files.readAllLines(proc.resolve(pid + "/cgroup"));
        for (String line : lines) {
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            // Also out of "/": in a control group namespace of its own, that is what a pod's group is called.
            String tree = parts[1].isEmpty() ? "unified" : parts[1].replaceFirst("^name=", "");
            Path procs = cgroups.resolve(tree).resolve("cgroup.procs");
            if (Files.exists(procs)) {
                write(procs, pid);
            } else if (!parts[2].equals("/") && (parts[1].contains("memory") || lines.size() == 1)) {
                throw new IOException("it is in " + parts[2] + ", and " + procs + " is not there");
            }
        }
    }

    private static void write(Path file, long pid) throws IOException {
        Files.writeString(file, Long.toString(pid), StandardOpenOption.WRITE);
    }
}
