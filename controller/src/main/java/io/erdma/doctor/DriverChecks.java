package io.erdma.doctor;

import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Devices;
import io.erdma.doctor.Facts.ErdmaModule;
import io.erdma.doctor.Facts.Kernel;
import io.erdma.doctor.Facts.Libraries;
import io.erdma.doctor.Facts.PciFunction;
import io.erdma.node.driver.DriverMode;
import io.erdma.verbs.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The PCI function, the kernel's driver and its mode, and the library that speaks with it. */
final class DriverChecks {
    private static final String FUNCTION = "1ded:107f";

    /** The first rdma-core with the erdma provider. */
    private static final int FIRST_WITH_PROVIDER = 43;

    private static final int MOST_USERS = 10;

    private static final Pattern LIBRARY_VERSION = Pattern.compile("[0-9]+\\.[0-9]+\\.([0-9]{1,4})(?:\\..*)?");

    private DriverChecks() {}

    static List<Finding> pciFunction(Facts facts) {
        return List.of(
                switch (facts.pciFunctions()) {
                    case Fact.Unknown<List<PciFunction>>(String why) ->
                        othersChosen(facts)
                                .map(Finding::skipped)
                                .orElseGet(() ->
                                        Finding.notSeen(why, "mount sysfs, or name where it is with --sysfs-root"));
                    case Fact.Known<List<PciFunction>>(List<PciFunction> functions) ->
                        functions.isEmpty()
                                ? noFunction(facts)
                                : Finding.pass(FUNCTION + " at "
                                        + functions.stream()
                                                .map(PciFunction::address)
                                                .collect(Collectors.joining(", ")));
                });
    }

    private static Finding noFunction(Facts facts) {
        Optional<String> others = othersChosen(facts);
        return others.isPresent()
                ? Finding.skipped(others.get())
                : Finding.fail(
                                "this machine has no " + FUNCTION,
                                "use an instance type with eRDMA, and attach an ERI to the instance: a network interface in"
                                        + " traffic mode HighPerformance. 'kubectl get erdmadevices' shows what the controller"
                                        + " attached.")
                        .because(unneededDriver(facts));
    }

    /** The driver's own line is left out where there is nothing to drive. */
    private static List<String> unneededDriver(Facts facts) {
        return facts.kernel().content().stream()
                .filter(kernel -> kernel.module().isEmpty())
                .map(kernel -> "the module erdma is not loaded on kernel " + kernel.release())
                .toList();
    }

    /** Where the selectors choose devices of other drivers, eRDMA need not be there. */
    private static Optional<String> othersChosen(Facts facts) {
        List<Device> selected = facts.devices().content().map(Devices::selected).orElse(List.of());
        return selected.isEmpty() || selected.stream().anyMatch(Device::isErdma)
                ? Optional.empty()
                : Optional.of("the device selectors choose "
                        + selected.stream()
                                .map(device -> device.name() + " ("
                                        + device.found().device().driver() + ")")
                                .collect(Collectors.joining(", "))
                        + ", which are not eRDMA");
    }

    static List<Finding> driver(Facts facts) {
        if (facts.kernel() instanceof Fact.Unknown<Kernel>(String why)) {
            return List.of(Finding.notSeen(why, "mount sysfs, or name where it is with --sysfs-root"));
        }
        Kernel kernel = facts.kernel().content().orElseThrow();
        List<PciFunction> functions = facts.pciFunctions().content().orElse(List.of());
        if (kernel.module().isEmpty()) {
            if (functions.isEmpty()) {
                return List.of(Finding.skipped(othersChosen(facts)
                        .orElse("no eRDMA function and no module erdma on kernel " + kernel.release())));
            }
            return List.of(notLoaded(kernel));
        }
        List<String> unbound = functions.stream()
                .filter(function -> function.driver().isEmpty())
                .map(PciFunction::address)
                .toList();
        String name = describe(kernel.module().get()) + " on kernel " + kernel.release();
        if (!unbound.isEmpty()) {
            return List.of(Finding.fail(
                            name + " is not bound to " + String.join(", ", unbound),
                            "see why in the kernel log: dmesg | grep -i erdma. The kernel's own driver waits until the"
                                    + " interface with the same hardware address is in the host's network namespace.")
                    .because("/sys/bus/pci/devices/" + unbound.getFirst() + " has no driver"));
        }
        return List.of(Finding.pass(name));
    }

    private static Finding notLoaded(Kernel kernel) {
        String missing = "the module erdma is not loaded on kernel " + kernel.release();
        return kernel.moduleInstalled().orElse(true)
                ? Finding.fail(missing, "modprobe erdma; if that fails, the kernel log says why")
                : Finding.fail(
                                missing,
                                "install Alibaba Cloud's eRDMA driver for this very kernel; a kernel that was upgraded"
                                        + " without its headers has lost it")
                        .because("/lib/modules/" + kernel.release() + " has none");
    }

    private static String describe(ErdmaModule module) {
        return "erdma" + module.version().map(version -> " " + version).orElse("")
                + (module.outOfTree() ? ", out-of-tree," : ", the kernel's own,");
    }

    /**
     * Whether the devices are RoCE-like (true) or iWARP (false). Without the parameter the kernel's own driver follows a
     * register of the card, and the device's type tells.
     */
    static Optional<Boolean> roceLike(Facts facts) {
        return facts.kernel()
                .content()
                .flatMap(Kernel::module)
                .flatMap(ErdmaModule::compatMode)
                .or(() -> facts.devices().content().map(Devices::all).orElse(List.of()).stream()
                        .filter(Device::isErdma)
                        .map(device -> device.found().device().nodeType())
                        .filter(type -> type != NodeType.UNKNOWN)
                        .map(type -> type != NodeType.RNIC)
                        .findFirst());
    }

    static List<Finding> mode(Facts facts) {
        Optional<ErdmaModule> module = facts.kernel().content().flatMap(Kernel::module);
        Optional<Boolean> roceLike = roceLike(facts);
        if (roceLike.isEmpty()) {
            return List.of(
                    module.isEmpty()
                            ? Finding.skipped("no eRDMA driver, so it has no mode")
                            : Finding.notSeenAndNotNeeded(
                                    "the module has no parameter compat_mode, and there is no device to tell it by"));
        }
        Optional<Boolean> parameter = module.flatMap(ErdmaModule::compatMode);
        String source = parameter
                .map(compat -> "compat_mode=" + (compat ? "Y" : "N"))
                .orElse("the driver has no compat_mode; the device's type tells");
        String inForce = (roceLike.get() ? "RoCE-compatible" : "iWARP") + " (" + source + ")";
        Optional<DriverMode> wanted = facts.wanted().mode();
        if (wanted.isPresent() && wanted.get().compatMode() != roceLike.get()) {
            return List.of(
                    notInForce(inForce, wanted.get(), parameter.isPresent()).because(users(facts)));
        }
        String asWanted = wanted.map(mode -> ", as '" + mode + "' wants").orElse("");
        if (roceLike.get()) {
            return List.of(Finding.pass(inForce + asWanted + ": NCCL can use it"));
        }
        String consequence = inForce + asWanted + ": connections need RDMA_CM, and NCCL can't use it";
        boolean training = facts.kernel().content().map(Kernel::gpuDriver).orElse(false)
                || !facts.nccl().isEmpty();
        return List.of(
                training
                        ? Finding.warn(
                                        consequence,
                                        "for training with NCCL choose preferDriver ofed or compat; all nodes of a job need"
                                                + " the same")
                                .because(
                                        facts.nccl().isEmpty()
                                                ? "this machine has NVIDIA's driver, so that training is likely"
                                                : "NCCL variables are set here")
                        : Finding.pass(consequence));
    }

    /** Who keeps the module from being unloaded, as far as that is known. */
    private static List<String> users(Facts facts) {
        List<String> users = new ArrayList<>();
        facts.use().content().ifPresent(use -> {
            use.shares()
                    .forEach(hold -> users.add(hold.container() + " holds " + hold.shares() + " of " + hold.device()));
            use.processes()
                    .forEach(process -> users.add("process " + process.pid() + " (" + process.program() + ") has "
                            + process.device() + " open"));
        });
        return users.subList(0, Math.min(MOST_USERS, users.size()));
    }

    private static Finding notInForce(String inForce, DriverMode wanted, boolean switchable) {
        String statement = inForce + " is in force, and '" + wanted + "' wants "
                + (wanted.compatMode() ? "RoCE-compatible" : "iWARP");
        return switchable
                ? Finding.fail(
                        statement,
                        "end the pods that use eRDMA, since the module can't be unloaded while a process holds a device;"
                                + " then unload it and load it again: rmmod erdma; modprobe erdma compat_mode="
                                + (wanted.compatMode() ? "Y" : "N")
                                + ". Peers in the other mode can't be reached.")
                : Finding.fail(
                        statement, "install Alibaba Cloud's driver: the kernel's own one has no parameter to switch");
    }

    static List<Finding> library(Facts facts) {
        Libraries libraries = facts.libraries();
        if (libraries.library().isEmpty()) {
            String next = "install libibverbs1 and ibverbs-providers " + FIRST_WITH_PROVIDER
                    + " or newer (Debian, Ubuntu) or" + " rdma-core (RHEL, Alibaba Cloud Linux)";
            return List.of(
                    facts.vantage().side().isPod()
                            ? Finding.fail("this image has no libibverbs.so.1, so NCCL finds no device", next)
                            : Finding.warn(
                                    "no libibverbs.so.1 here: the agent goes on by netlink and sysfs, without the"
                                            + " devices' own events",
                                    next));
        }
        String file = "libibverbs " + libraries.version().orElse("of unknown version");
        OptionalInt release = release(libraries.version());
        if (libraries.provider().isPresent()) {
            return List.of(
                    Finding.pass(file + " with " + libraries.provider().get().getFileName())
                            .because(
                                    libraries.library().get().toString(),
                                    libraries.provider().get().toString()));
        }
        if (othersChosen(facts).isPresent()) {
            return List.of(Finding.pass(file + "; it has no erdma provider, and "
                    + othersChosen(facts).get()));
        }
        String statement = file + " has no erdma provider, without which it leaves eRDMA devices out silently";
        String next = release.isPresent() && release.getAsInt() < FIRST_WITH_PROVIDER
                ? "rdma-core " + release.getAsInt() + " is too old: install " + FIRST_WITH_PROVIDER
                        + " or newer, or Alibaba Cloud's packages of it"
                : "install ibverbs-providers " + FIRST_WITH_PROVIDER
                        + " or newer (Debian, Ubuntu) or rdma-core (RHEL, Alibaba Cloud Linux)";
        return List.of((facts.vantage().side().isPod() ? Finding.fail(statement, next) : Finding.warn(statement, next))
                .because(
                        libraries.library().get() + "; no liberdma-rdmav*.so in the directories libibverbs beside it"));
    }

    /** The release of rdma-core is part of the file's name: libibverbs.so.1.14.44.0 is of 44. */
    static OptionalInt release(Optional<String> version) {
        return version.map(LIBRARY_VERSION::matcher)
                .filter(Matcher::matches)
                .map(matcher -> OptionalInt.of(Integer.parseInt(matcher.group(1))))
                .orElse(OptionalInt.empty());
    }

    static List<Finding> reservedPorts(Facts facts) {
        Optional<ErdmaModule> module = facts.kernel().content().flatMap(Kernel::module);
        if (!module.flatMap(ErdmaModule::compatMode).orElse(false)) {
            return List.of(Finding.skipped("only the RoCE-compatible mode of the out-of-tree driver reserves ports"));
        }
        int base = module.get().reservedPortsBase().orElse(PortRange.DEFAULT_RESERVED_BASE);
        if (base < 1 || base > 65_535 - PortRange.RESERVED) {
            return List.of(
                    Finding.notSeenAndNotNeeded("the driver's reserve_ports_base is " + base + ", which is no port"));
        }
        PortRange reserved = new PortRange(base, base + PortRange.RESERVED - 1);
        PortRange nodePorts = facts.wanted().nodePorts();
        if (!reserved.overlaps(nodePorts)) {
            return List.of(
                    Finding.pass("the driver holds TCP ports " + reserved + ", outside the NodePorts " + nodePorts));
        }
        return List.of(
                Finding.warn(
                                "the driver holds TCP ports " + reserved
                                        + " in every network namespace, which are among the NodePorts " + nodePorts,
                                "keep Services off these ports: give the API server another --service-node-port-range, or the"
                                        + " driver another reserve_ports_base (options erdma in /etc/modprobe.d)")
                        .because(
                                "a Service that is given one of them fails on this node, and so does a pod that listens on it"));
    }
}
