package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.ErdmaModule;
import io.erdma.doctor.Facts.Kernel;
import io.erdma.doctor.Facts.PciFunction;
import io.erdma.sysfs.SysfsTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The kernel, its module erdma and the PCI functions for it, as sysfs and proc tell them. */
final class KernelReader {
    private static final String ALIBABA = "0x1ded";
    private static final String ERDMA = "0x107f";
    private static final int ERDMA_VENDOR = 0x1ded;
    private static final int ERDMA_DEVICE = 0x107f;

    private final DoctorPaths paths;

    KernelReader(DoctorPaths paths) {
        this.paths = requireNonNull(paths, "paths is null");
    }

    Fact<Kernel> kernel() {
        if (!Files.isDirectory(paths.sys())) {
            return Fact.unknown("there is no " + paths.sys());
        }
        String release =
                NodeFiles.text(paths.proc().resolve("sys/kernel/osrelease")).orElse("of unknown release");
        return Fact.known(new Kernel(release, module(), installed(release), gpuDriver()));
    }

    private Optional<ErdmaModule> module() {
        Path module = paths.sys().resolve("module/erdma");
        if (!Files.isDirectory(module)) {
            return Optional.empty();
        }
        Optional<Boolean> compatMode = new SysfsTree(paths.sys()).erdmaCompatMode();
        // The kernel marks a module from elsewhere with O; the parameter exists in no other driver of that name.
        boolean tainted = NodeFiles.text(module.resolve("taint")).orElse("").contains("O");
        return Optional.of(new ErdmaModule(
                NodeFiles.text(module.resolve("version")).filter(text -> !text.isEmpty()),
                compatMode,
                tainted || compatMode.isPresent(),
                number(NodeFiles.text(module.resolve("parameters/reserve_ports_base")))));
    }

    private static OptionalInt number(Optional<String> text) {
        return text.filter(digits -> digits.matches("[0-9]{1,9}"))
                .map(digits -> OptionalInt.of(Integer.parseInt(digits)))
                .orElse(OptionalInt.empty());
    }

    /** By the list that modprobe reads; a container without the host's /lib/modules can't tell. */
    private Optional<Boolean> installed(String release) {
        Path list = paths.modules().resolve(release).resolve("modules.dep");
        try (Stream<String> lines = Files.lines(list, StandardCharsets.ISO_8859_1)) {
            return Optional.of(lines.anyMatch(line -> line.matches("(?:.*/)?erdma\\.ko[^:/]*:.*")));
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return Optional.empty();
        }
    }

    private boolean gpuDriver() {
        return Files.exists(paths.proc().resolve("driver/nvidia/version"))
                || Files.isDirectory(paths.sys().resolve("module/nvidia"));
    }

    /** Those on the PCI bus, and those that RDMA devices stand on. */
    Fact<List<PciFunction>> erdmaFunctions() {
        TreeMap<String, PciFunction> found = new TreeMap<>();
        for (SysfsTree.RdmaClassDevice device : new SysfsTree(paths.sys()).rdmaDevices()) {
            if (device.pciVendor().equals(OptionalInt.of(ERDMA_VENDOR))
                    && device.pciDevice().equals(OptionalInt.of(ERDMA_DEVICE))) {
                device.pciAddress().ifPresent(address -> found.put(address, new PciFunction(address, device.driver())));
            }
        }
        Path bus = paths.sys().resolve("bus/pci/devices");
        Optional<List<String>> functions = NodeFiles.names(bus);
        if (functions.isEmpty() && found.isEmpty()) {
            return Fact.unknown("the PCI functions can't be listed: no " + bus + " that this process may read");
        }
        for (String address : functions.orElse(List.of())) {
            Path function = bus.resolve(address);
            if (NodeFiles.text(function.resolve("vendor")).equals(Optional.of(ALIBABA))
                    && NodeFiles.text(function.resolve("device")).equals(Optional.of(ERDMA))) {
                found.put(address, new PciFunction(address, NodeFiles.linkName(function.resolve("driver"))));
            }
        }
        return Fact.known(List.copyOf(found.values()));
    }
}
