package io.erdma.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes down the part of sysfs that is about RDMA devices and their interfaces, one line for each file or link: {@code
 * path = content}, {@code path -> target}. The tests lay out such a text as a tree again.
 */
final class SysfsRecording {
    private static final int MAX_LINES = 20_000;
    private static final int MAX_DEPTH = 6;
    private static final int MAX_CONTENT = 4096;

    private static final List<String> CLASSES = List.of("class/infiniband", "class/infiniband_verbs", "class/net");
    private static final List<String> MODULES =
            List.of("erdma", "ib_core", "ib_uverbs", "rdma_ucm", "rdma_rxe", "siw", "smc", "nvidia_peermem");

    /** Of devices and their buses: what tells what they are. Reading others, such as config or rom, can be costly. */
    private static final Pattern TELLING = Pattern.compile(
            "address|addr_assign_type|carrier|class|dev|device|flags|ifindex|iflink|modalias|mtu|numa_node|operstate|type"
                    + "|vendor|local_cpulist|abi_version|ibdev");

    private final Path root;
    private final Set<String> lines = new TreeSet<>();
    private final Set<Path> recorded = new LinkedHashSet<>();

    private SysfsRecording(Path root) {
        this.root = root;
    }

    /** @param sysfs usually /sys */
    static String of(Path sysfs) {
        SysfsRecording recording;
        try {
            recording = new SysfsRecording(sysfs.toRealPath());
        } catch (IOException none) {
            return "";
        }
        recording.classes();
        recording.modules();
        recording.file(Path.of("devices/system/node/online"));
        recording.functions();
        return String.join("\n", recording.lines) + "\n";
    }

    private void classes() {
        for (String name : CLASSES) {
            Path directory = Path.of(name);
            for (String entry : NodeFiles.names(root.resolve(directory)).orElse(List.of())) {
                Path path = directory.resolve(entry);
                if (Files.isSymbolicLink(root.resolve(path))) {
                    link(path);
                    target(path).ifPresent(real -> device(real, name.equals("class/infiniband")));
                } else {
                    file(path);
                }
            }
        }
    }

    /** A device, and the buses that it hangs on. */
    private void device(Path path, boolean whole) {
        if (whole) {
            tree(path);
        } else {
            telling(path);
        }
        Path at = path.getParent();
        while (at != null && at.getNameCount() > 2) {
            telling(at);
            at = at.getParent();
        }
    }

    private void tree(Path path) {
        try (Stream<Path> files = Files.walk(root.resolve(path), MAX_DEPTH)) {
            files.limit(MAX_LINES).forEach(found -> {
                Path relative = root.relativize(found);
                if (Files.isSymbolicLink(found)) {
                    link(relative);
                } else if (!relative.toString().contains("/power/")) {
                    file(relative);
                }
            });
        } catch (IOException | java.io.UncheckedIOException vanished) {
            // What was read until then stays.
            return;
        }
    }

    private void telling(Path directory) {
        if (!recorded.add(directory)) {
            return;
        }
        for (String entry : NodeFiles.names(root.resolve(directory)).orElse(List.of())) {
            Path path = directory.resolve(entry);
            if (Files.isSymbolicLink(root.resolve(path))) {
                if (List.of("device", "driver", "subsystem").contains(entry)) {
                    link(path);
                }
            } else if (TELLING.matcher(entry).matches()) {
                file(path);
            }
        }
    }

    private void modules() {
        for (String module : MODULES) {
            Path directory = Path.of("module", module);
            for (String file : List.of("version", "taint", "refcnt", "initstate")) {
                file(directory.resolve(file));
            }
            for (String parameter : NodeFiles.names(root.resolve(directory).resolve("parameters"))
                    .orElse(List.of())) {
                file(directory.resolve("parameters").resolve(parameter));
            }
        }
    }

    /** Those for eRDMA, also where no driver has made a device of them. */
    private void functions() {
        Path bus = Path.of("bus/pci/devices");
        for (String address : NodeFiles.names(root.resolve(bus)).orElse(List.of())) {
            if (NodeFiles.text(root.resolve(bus).resolve(address).resolve("vendor"))
                    .equals(Optional.of("0x1ded"))) {
                link(bus.resolve(address));
                target(bus.resolve(address)).ifPresent(this::telling);
            }
        }
    }

    private Optional<Path> target(Path path) {
        try {
            Path real = root.resolve(path).toRealPath();
            return real.startsWith(root) ? Optional.of(root.relativize(real)) : Optional.empty();
        } catch (IOException dangling) {
            return Optional.empty();
        }
    }

    private void link(Path path) {
        try {
            add(path + " -> " + Files.readSymbolicLink(root.resolve(path)));
        } catch (IOException gone) {
            // It has vanished since it was listed.
            return;
        }
    }

    private void file(Path path) {
        NodeFiles.text(root.resolve(path))
                .map(text -> text.substring(0, Math.min(text.length(), MAX_CONTENT)))
                .ifPresent(text -> add(path + " = " + text.replace("\\", "\\\\").replace("\n", "\\n")));
    }

    private void add(String line) {
        if (lines.size() < MAX_LINES) {
            lines.add(line);
        }
    }
}
