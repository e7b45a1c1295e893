package io.erdma.pods;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A /proc in a directory, with the files of processes that are of interest. */
final class ProcFixture {
    private final Path root;

    ProcFixture(Path root) {
        this.root = root;
        link("self/ns/pid", "pid:[4026531836]");
    }

    Path root() {
        return root;
    }

    ProcFixture process(long pid, String program, String cgroup) {
        directory(pid + "/fd");
        return thread(pid, pid, program, cgroup);
    }

    /** One that procfs does not list but knows when asked. */
    ProcFixture thread(long pid, long process, String program, String cgroup) {
        write(pid + "/cgroup", cgroup + "\n");
        write(
                pid + "/status",
                "Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nCapEff:\t00000000a80425fb\n"
                        .formatted(program, process, pid));
        return this;
    }

    /** A group as containerd makes it by systemd. */
    static String cgroup(ContainerId id) {
        return "0::/kubepods.slice/kubepods-pod" + id.podUid().replace('-', '_') + ".slice/cri-containerd-"
                + id.container() + ".scope";
    }

    void write(String path, String content) {
        try {
            directory(path.substring(0, path.lastIndexOf('/')));
            Files.writeString(root.resolve(path), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void link(String path, String target) {
        try {
            directory(path.substring(0, path.lastIndexOf('/')));
            Files.deleteIfExists(root.resolve(path));
            Files.createSymbolicLink(root.resolve(path), Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void directory(String path) {
        try {
            Files.createDirectories(root.resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void end(long pid) {
        remove(Long.toString(pid));
    }

    void remove(String path) {
        try (var files = Files.walk(root.resolve(path))) {
            for (Path file : files.toList().reversed()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
