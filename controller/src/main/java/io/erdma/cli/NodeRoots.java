package io.erdma.cli;

import io.erdma.inventory.NodePaths;
import io.erdma.verbs.Verbs;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where commands find the machine, for those who record one or lay one out; a person leaves them alone. */
final class NodeRoots {
    @Option(
            names = "--verbs-library",
            hidden = true,
            defaultValue = Verbs.DEFAULT_LIBRARY,
            description = "Name or path of libibverbs.")
    private String verbsLibrary;

    @Option(names = "--sysfs-root", hidden = true, defaultValue = "/sys", description = "Where sysfs is mounted.")
    private Path sysfsRoot;

    @Option(names = "--dev-root", hidden = true, defaultValue = "/dev", description = "Where device nodes are.")
    private Path devRoot;

    @Option(names = "--proc-root", hidden = true, defaultValue = "/proc", description = "Where proc is mounted.")
    private Path procRoot;

    @Option(
            names = "--pod-log-root",
            hidden = true,
            defaultValue = "/var/log",
            description = "Where the directories of the pods' logs are.")
    private Path podLogRoot;

    String verbsLibrary() {
        return verbsLibrary;
    }

    NodePaths paths() {
        return new NodePaths(sysfsRoot, devRoot, NodePaths.STANDARD.etc());
    }

    Path proc() {
        return procRoot;
    }

    Path podLogs() {
        return podLogRoot;
    }
}
