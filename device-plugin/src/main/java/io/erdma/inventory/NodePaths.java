package io.erdma.inventory;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;

/**
 * Where the node's files are seen from this process. Paths that leave it (to the kubelet, to people) are always the
 * host's own, for example {@code /dev/infiniband/uverbs0}.
 *
 * @param sys usually /sys
 * @param dev usually /dev
 * @param etc usually /etc; holds libibverbs.d, the list of installed providers
 */
public record NodePaths(Path sys, Path dev, Path etc) {
    public static final NodePaths STANDARD = new NodePaths(Path.of("/sys"), Path.of("/dev"), Path.of("/etc"));

    private static final Path HOST_DIRECTORY = Path.of("/dev/infiniband");

    public NodePaths {
        requireNonNull(sys, "sys is null");
        requireNonNull(dev, "dev is null");
        requireNonNull(etc, "etc is null");
    }

    /** Directory of the uverbs nodes, as this process sees it. */
    public Path infiniband() {
        return dev.resolve("infiniband");
    }

    public Path providers() {
        return etc.resolve("libibverbs.d");
    }

    /** @param node "uverbs0" or "rdma_cm" */
    public static Path onHost(String node) {
        return HOST_DIRECTORY.resolve(node);
    }

    /** The same node as this process sees it. */
    public Path here(Path onHost) {
        return infiniband().resolve(onHost.getFileName());
    }
}
