package io.erdma.sysfs;

import static java.util.Objects.requireNonNull;

import io.erdma.verbs.Gid;
import io.erdma.verbs.GidEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** GID tables as the kernel exports them below a sysfs root: for devices that may not be opened. */
public final class SysfsGids {
    private static final String INFINIBAND = "class/infiniband";
    private static final Pattern GID = Pattern.compile("[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){7}");
    private static final Pattern INDEX = Pattern.compile("[0-9]{1,4}");

    private final SysfsFiles files;

    /** @param root usually /sys */
    public SysfsGids(Path root) {
        this.files = new SysfsFiles(requireNonNull(root, "root is null"));
    }

    /** The filled slots by number; their interfaces are not looked up. Empty when there is no such table. */
    public List<GidEntry> filled(String rdmaDevice, int port) {
        if (!SysfsFiles.isPlainName(rdmaDevice)) {
            return List.of();
        }
        String path = INFINIBAND + "/" + rdmaDevice + "/ports/" + port;
        List<GidEntry> filled = new ArrayList<>();
        for (String name : files.entries(path + "/gids")) {
            if (INDEX.matcher(name).matches()) {
                int index = Integer.parseInt(name);
                gid(files.read(path + "/gids/" + name))
                        .map(gid -> new GidEntry(gid, index, port, type(path, index), 0))
                        .ifPresent(filled::add);
            }
        }
        filled.sort((a, b) -> a.index() - b.index());
        return List.copyOf(filled);
    }

    // The kernel has one word for InfiniBand's and version 1; version 1 it is on Ethernet.
    private GidEntry.Type type(String path, int index) {
        return files.read(path + "/gid_attrs/types/" + index).orElse("").equals("RoCE v2")
                ? GidEntry.Type.ROCE_V2
                : GidEntry.Type.ROCE_V1;
    }

    private static Optional<Gid> gid(Optional<String> text) {
        return text.filter(value -> GID.matcher(value).matches())
                .map(value -> value.replace(":", ""))
                .map(digits -> new Gid(
                        HexFormat.fromHexDigitsToLong(digits, 0, 16), HexFormat.fromHexDigitsToLong(digits, 16, 32)))
                .filter(gid -> !gid.isZero());
    }
}
