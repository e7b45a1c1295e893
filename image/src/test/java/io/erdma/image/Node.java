package io.erdma.image;

import io.erdma.plugin.FakeKubelet;
import io.erdma.sysfs.NodeFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a node's agent has around it: a kubelet in a directory of this machine, and the files of two eRDMA devices that
 * nobody can open.
 */
final class Node implements AutoCloseable {
    static final long SHARES = 400;

    /** Short: a socket's path has at most 107 bytes. */
    private final Path root = Files.createTempDirectory("erdma");

    private final FakeKubelet kubelet = FakeKubelet.start(root.resolve("kubelet"));

    Node() throws IOException {
        Files.createDirectories(root.resolve("kubelet/pod-resources"));
        NodeFixture.lay(NodeFixture.ERDMA_COMPAT, Files.createDirectory(root.resolve("node")));
    }

    FakeKubelet kubelet() {
        return kubelet;
    }

    /** What the agent left beside the kubelet's own files. */
    List<String> pluginSockets() {
        try (Stream<Path> files = Files.list(kubelet.directory())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("erdma"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The mounts of the chart's pods, of this node instead of the machine. */
    ContainerShape mountedIn(ContainerShape shape) {
        return shape.mounting(root.resolve("kubelet/device-plugins"), "/var/lib/kubelet/device-plugins")
                .mounting(root.resolve("kubelet/pod-resources"), "/var/lib/kubelet/pod-resources")
                .mounting(root.resolve("node"), "/node")
                .with("ERDMA_SYSFS_ROOT", "/node/sys")
                .with("ERDMA_DEV_ROOT", "/node/dev")
                .with("ERDMA_METADATA_ADDRESS", "http://127.0.0.1:1");
    }

    @Override
    public void close() throws IOException {
        kubelet.close();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
