package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What there is to know about the erdma driver on this node, at one moment.
 *
 * @param file the module on the host's disk; of interest where it is not loaded
 * @param pciFunctions number of eRDMA functions (PCI 1ded:107f)
 * @param devices names of the driver's RDMA devices that have their uverbs node
 * @param users of those devices, without this process; none where the driver runs in the preferred mode, whoever uses it
 * @param companions which of the modules that go with the driver are loaded
 * @param gpuDriver whether NVIDIA's driver is there
 * @param kernel the running kernel's release
 * @param cannotChange why this process cannot load or unload modules; absent when it can
 */
public record DriverFacts(
        DriverModule module,
        ModuleFile file,
        int pciFunctions,
        List<String> devices,
        DeviceUsers users,
        Set<String> companions,
        boolean gpuDriver,
        String kernel,
        Optional<String> cannotChange) {
    public DriverFacts {
        requireNonNull(module, "module is null");
        requireNonNull(file, "file is null");
        devices = List.copyOf(devices);
        requireNonNull(users, "users is null");
        companions = Set.copyOf(companions);
        requireNonNull(kernel, "kernel is null");
        requireNonNull(cannotChange, "cannotChange is null");
    }

    /** Alibaba Cloud's system for containers, whose kernel release names it: there drivers come as packages only. */
    public boolean containerOptimised() {
        return kernel.contains("lifsea");
    }
}
