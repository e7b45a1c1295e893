package io.erdma.sysfs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * A node of {@code src/test/resources/nodes}, laid out in a directory: a sysfs tree, and a /dev whose nodes are plain
 * files. Tests change it with {@link #write}, {@link #remove} and their like, as the kernel would change the real one.
 */
public final class NodeFixture {
    /** Two soft-RoCE devices, recorded from a real kernel together with its netlink answers. */
    public static final String SOFT_ROCE = "soft-roce-two-devices";

    public static final String ERDMA_IN_TREE_IWARP = "erdma-in-tree-iwarp";

    /** Two devices on NUMA nodes 0 and 1, compat_mode Y; erdma_0 has uverbs1 and erdma_1 has uverbs0. */
    public static final String ERDMA_COMPAT = "erdma-compat";

    /** The eRDMA device is named rocep128s7; its NUMA node (1) is known from its interface alone. */
    public static final String ERDMA_BESIDE_MLX5 = "erdma-beside-mlx5";

    public static final String NO_RDMA = "no-rdma";

    private final String name;
    private final Path root;

    private NodeFixture(String name, Path root) {
        this.name = name;
        this.root = root;
    }

    /**
     * Lays the node out below a directory, which gets two entries: {@code sys} and {@code dev}.
     *
     * @param name one of the constants above
     * @param directory an empty directory, usually a JUnit {@code @TempDir}
     */
    public static NodeFixture lay(String name, Path directory) {
        var fixture = new NodeFixture(name, directory);
        create(fixture.sysfs());
        create(fixture.dev());
        for (String line : lines(name, "sysfs.txt")) {
            int link = line.indexOf(" -> ");
            int content = line.indexOf(" = ");
            if (content >= 0 && (link < 0 || content < link)) {
                fixture.write(line.substring(0, content), unescape(line.substring(content + 3)) + "\n");
            } else if (link >= 0) {
                fixture.link(line.substring(0, link), line.substring(link + 4));
            } else {
                throw new IllegalStateException(
                        "nodes/" + name + "/sysfs.txt: neither \"path = content\" nor \"path -> link\": " + line);
            }
        }
        for (String node : lines(name, "dev.txt")) {
            fixture.addDeviceNode(node);
        }
        return fixture;
    }

    /** The datagrams of a recording such as {@code links.hex}, in the order in which the kernel sent them. */
    public static List<byte[]> datagrams(String name, String file) {
        return lines(name, file).stream().map(HexFormat.of()::parseHex).toList();
    }

    public String name() {
        return name;
    }

    public Path sysfs() {
        return root.resolve("sys");
    }

    public Path dev() {
        return root.resolve("dev");
    }

    /** @param path relative to the sysfs root; links within it are followed, so class/… paths work */
    public void write(String path, String content) {
        Path file = sysfs().resolve(path);
        try {
            create(file.getParent());
            Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void link(String path, String target) {
        Path file = sysfs().resolve(path);
        try {
            create(file.getParent());
            Files.deleteIfExists(file);
            Files.createSymbolicLink(file, Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes a file, a link (not what it points to) or a directory with all it holds; absent is fine. */
    public void remove(String path) {
        delete(sysfs().resolve(path));
    }

    /** @param path relative to /dev, for example infiniband/uverbs0 */
    public void addDeviceNode(String path) {
        Path node = dev().resolve(path);
        try {
            create(node.getParent());
            Files.writeString(node, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void removeDeviceNode(String path) {
        delete(dev().resolve(path));
    }

    /** As unplugging does: the device and its uverbs node vanish from class and from /dev. */
    public void removeDevice(String rdmaDevice) {
        for (var uverbs : new SysfsTree(sysfs()).uverbsDevices()) {
            if (uverbs.rdmaDevice().equals(rdmaDevice)) {
                remove("class/infiniband_verbs/" + uverbs.name());
                removeDeviceNode("infiniband/" + uverbs.name());
            }
        }
        remove("class/infiniband/" + rdmaDevice);
    }

    /** @param state as sysfs words it: "4: ACTIVE", "1: DOWN" */
    public void setPortState(String rdmaDevice, int port, String state) {
        write("class/infiniband/" + rdmaDevice + "/ports/" + port + "/state", state + "\n");
    }

    private static void delete(Path path) {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                try (Stream<Path> entries = Files.list(path)) {
                    entries.forEach(NodeFixture::delete);
                }
            }
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void create(Path directory) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(String name, String file) {
        String resource = "/nodes/" + name + "/" + file;
        try (InputStream stream = NodeFixture.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalArgumentException("no such recording: " + resource);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String unescape(String content) {
        return content.replace("\\n", "\n").replace("\\\\", "\\");
    }
}
