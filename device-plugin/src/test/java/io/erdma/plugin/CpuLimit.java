package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A tenth of a core, by a cgroup where we may make one, else by stopping the process nine tenths of the time. */
final class CpuLimit implements AutoCloseable {
    private static final Path VERSION_1 = Path.of("/sys/fs/cgroup/cpu");
    private static final Path VERSION_2 = Path.of("/sys/fs/cgroup");

    private final Path group;
    private final String shell;

    private CpuLimit(Path group, String shell) {
        this.group = group;
        this.shell = shell;
    }

    static CpuLimit ofTenthOfACore() {
        try {
            if (Files.exists(VERSION_1.resolve("cpu.cfs_quota_us"))) {
                return group(VERSION_1, "cpu.cfs_quota_us", "10000");
            }
            return group(VERSION_2, "cpu.max", "10000 100000");
        } catch (IOException e) {
            // Not ours to limit by cgroups, as in an unprivileged container.
            return new CpuLimit(
                    Path.of(""),
                    "{ p=$$; (while kill -CONT $p && sleep 0.01 && kill -STOP $p; do sleep 0.09; done)"
                            + " 2>/dev/null & }");
        }
    }

    private static CpuLimit group(Path parent, String setting, String value) throws IOException {
        Path group = Files.createTempDirectory(parent, "erdma-cold-");
        try {
            Files.writeString(group.resolve(setting), value);
        } catch (IOException e) {
            Files.delete(group);
            throw e;
        }
        return new CpuLimit(group, "echo $$ > " + group.resolve("cgroup.procs"));
    }

    /** What the shell does that then becomes the limited process. */
    String shell() {
        return shell;
    }

    @Override
    public void close() throws IOException {
        if (group.isAbsolute()) {
            Files.delete(group);
        }
    }

    @Override
    public String toString() {
        return "on a tenth of a core (" + (group.isAbsolute() ? "cgroup" : "stopped nine tenths of the time") + ")";
    }
}
