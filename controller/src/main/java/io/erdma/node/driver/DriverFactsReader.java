package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import io.erdma.inventory.NodePaths;
import io.erdma.node.driver.DeviceUsers.UsingProcess;
import io.erdma.pods.PodShares;
import io.erdma.pods.ProcTree;
import io.erdma.pods.ProcessStatus;
import io.erdma.sysfs.SysfsTree;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads {@link DriverFacts}. Changes nothing on the node. */
public final class DriverFactsReader {
    static final String MODULE = "erdma";

    private static final int PCI_VENDOR = 0x1ded;
    private static final int PCI_DEVICE = 0x107f;

    private static final Duration MODINFO_DEADLINE = Duration.ofSeconds(10);
    private static final Path NVIDIA_SMI = Path.of("/usr/bin/nvidia-smi");
    private static final int MAX_FILE_BYTES = 4096;

    private final NodePaths paths;
    private final Path proc;
    private final HostCommands host;
    private final OpenContexts contexts;
    private final Supplier<PodShares.Answer> pods;
    private final long self;
    private final boolean manage;

    /**
     * @param proc usually /proc
     * @param pods who holds shares; see {@link PodShares#list}
     * @param self the pid of this process, whose own contexts don't count
     * @param manage whether this process was allowed to load and unload modules at all
     */
    public DriverFactsReader(
            NodePaths paths,
            Path proc,
            HostCommands host,
            OpenContexts contexts,
            Supplier<PodShares.Answer> pods,
            long self,
            boolean manage) {
        this.paths = requireNonNull(paths, "paths is null");
        this.proc = requireNonNull(proc, "proc is null");
        this.host = requireNonNull(host, "host is null");
        this.contexts = requireNonNull(contexts, "contexts is null");
        this.pods = requireNonNull(pods, "pods is null");
        this.self = self;
        this.manage = manage;
    }

    /**
     * @param preference absent: the node decides. Users are looked for only where the driver runs in another mode, since
     *     that means a walk through all processes and a question to the kubelet
     */
    public DriverFacts read(Optional<DriverMode> preference) {
        DriverModule module = module();
        boolean gpuDriver = gpuDriver();
        boolean otherMode = module instanceof DriverModule.Loaded loaded
                && loaded.compatMode()
                        .filter(on -> on != DriverMode.of(preference, gpuDriver).compatMode())
                        .isPresent();
        int functions = pciFunctions();
        Optional<String> cannotChange = manage ? host.problem() : Optional.of("--manage-driver=false forbids it");
        Set<String> loaded = Stream.of(DriverMode.values())
                .flatMap(mode -> mode.companions().stream())
                .filter(this::isLoaded)
                .collect(Collectors.toSet());
        return new DriverFacts(
                module,
                moduleFile(module, functions),
                functions,
                readyDevices(),
                otherMode ? users(module) : DeviceUsers.NONE,
                loaded,
                gpuDriver,
                text(proc.resolve("sys/kernel/osrelease")).orElse("unknown"),
                cannotChange);
    }

    /** The module alone: what a parameter is now. */
    DriverModule module() {
        Path directory = paths.sys().resolve("module").resolve(MODULE);
        if (!Files.isDirectory(directory)) {
            return new DriverModule.Absent();
        }
        Optional<String> state = text(directory.resolve("initstate"));
        if (state.isPresent() && !state.get().equals("live")) {
            return new DriverModule.Changing(state.get());
        }
        return new DriverModule.Loaded(
                new SysfsTree(paths.sys()).erdmaCompatMode(),
                // A driver that is built into the kernel has parameters at most.
                Files.exists(directory.resolve("initstate")) || Files.exists(directory.resolve("refcnt")),
                references().orElse(0),
                entries(directory.resolve("holders")));
    }

    private OptionalInt references() {
        return text(paths.sys().resolve("module").resolve(MODULE).resolve("refcnt"))
                .filter(count -> count.matches("[0-9]{1,9}"))
                .map(count -> OptionalInt.of(Integer.parseInt(count)))
                .orElse(OptionalInt.empty());
    }

    /** Names of the driver's devices whose uverbs node is there. */
    List<String> readyDevices() {
        Set<String> ours = devices();
        return uverbs(ours).stream()
                .filter(node -> Files.exists(paths.infiniband().resolve(node.name())))
                .map(UverbsClassDevice::rdmaDevice)
                .sorted()
                .toList();
    }

    private Set<String> devices() {
        return new SysfsTree(paths.sys())
                .rdmaDevices().stream()
                        .filter(device -> device.driver().equals(Optional.of(MODULE))
                                || (device.pciVendor().orElse(0) == PCI_VENDOR
                                        && device.pciDevice().orElse(0) == PCI_DEVICE))
                        .map(SysfsTree.RdmaClassDevice::name)
                        .collect(Collectors.toCollection(TreeSet::new));
    }

    private List<UverbsClassDevice> uverbs(Set<String> devices) {
        return new SysfsTree(paths.sys())
                .uverbsDevices().stream()
                        .filter(node -> devices.contains(node.rdmaDevice()))
                        .toList();
    }

    private boolean isLoaded(String module) {
        return Files.isDirectory(paths.sys().resolve("module").resolve(module));
    }

    /** Asked only where the answer matters: a program of the host is run for it. */
    private ModuleFile moduleFile(DriverModule module, int functions) {
        if (!(module instanceof DriverModule.Absent) || functions == 0) {
            return new ModuleFile.Unknown("not asked, since nothing is to be loaded");
        }
        try {
            List<String> command = List.of("modinfo", MODULE);
            HostCommands.Result told = host.run(MODINFO_DEADLINE, command);
            if (!told.succeeded()) {
                // Also a host without modinfo fails, and says nothing of the module by that.
                return told.code() == 1 && (told.err() + told.out()).contains("not found")
                        ? new ModuleFile.Missing()
                        : new ModuleFile.Unknown(
                                HostCommands.failed(command, told).getMessage());
            }
            return new ModuleFile.Found(
                    told.out().lines().anyMatch(line -> line.matches("parm:\\s+" + DriverPlan.COMPAT_MODE + ":.*")));
        } catch (HostCommands.FailedException e) {
            return new ModuleFile.Unknown(e.getMessage());
        }
    }

    private int pciFunctions() {
        Path devices = paths.sys().resolve("bus/pci/devices");
        return (int) entries(devices).stream()
                .filter(address -> isHex(devices.resolve(address).resolve("vendor"), PCI_VENDOR)
                        && isHex(devices.resolve(address).resolve("device"), PCI_DEVICE))
                .count();
    }

    private static boolean isHex(Path file, int wanted) {
        return text(file).filter("0x%04x".formatted(wanted)::equalsIgnoreCase).isPresent();
    }

    private boolean gpuDriver() {
        return Files.exists(proc.resolve("driver/nvidia/version"))
                || isLoaded("nvidia")
                || (host.problem().isEmpty() && Files.exists(host.here(NVIDIA_SMI)));
    }

    // ---- users ----

    /** Who uses the driver's devices now. */
    DeviceUsers users(DriverModule module) {
        Set<String> devices = devices();
        Map<Long, UsingProcess> processes = new TreeMap<>();
        List<String> others = new ArrayList<>();
        List<OptionalLong> owners = List.of();
        if (module instanceof DriverModule.Loaded) {
            unreadable().forEach(file -> others.add("possibly others: " + file + " cannot be read"));
        }
        try {
            owners = contexts.owners(devices);
        } catch (IOException e) {
            others.add("the kernel did not tell who holds contexts: " + e.getMessage());
        }
        ProcTree tree = new ProcTree(proc);
        for (OptionalLong owner : owners) {
            owner.ifPresent(thread ->
                    add(tree.status(thread).map(ProcessStatus::process).orElse(thread), processes));
        }
        // A context belongs to an open uverbs file, and so does each reference, but for those of modules above. The
        // owner of a context that was opened by a thread that has ended since is known by its file alone.
        int explained =
                openFiles(uverbs(devices).stream().map(UverbsClassDevice::name).collect(Collectors.toSet()), processes);
        int references = 0;
        if (module instanceof DriverModule.Loaded loaded) {
            references = Math.max(0, loaded.references() - loaded.holders().size());
        }
        int unexplained = Math.max(owners.size(), references) - explained;
        if (unexplained > 0) {
            others.add(unexplained + " of processes that this one does not see (hostPID?)");
        }
        List<String> holding = switch (pods.get()) {
            case PodShares.Answer.Known known -> podNames(known);
            case PodShares.Answer.Unreadable unreadable -> {
                others.add("possibly pods: " + unreadable.reason());
                yield List.of();
            }
        };
        return new DeviceUsers(List.copyOf(processes.values()), holding, others);
    }

    /** Files without which a driver that is loaded may be in use unseen. */
    private List<Path> unreadable() {
        List<Path> files = new ArrayList<>();
        for (String directory : List.of("infiniband", "infiniband_verbs")) {
            Path all = paths.sys().resolve("class").resolve(directory);
            if (!Files.isDirectory(all) || !Files.isReadable(all)) {
                files.add(all);
            }
        }
        if (references().isEmpty()) {
            files.add(paths.sys().resolve("module").resolve(MODULE).resolve("refcnt"));
        }
        return files;
    }

    private static List<String> podNames(PodShares.Answer.Known known) {
        return known.holders().stream()
                .map(holder -> holder.namespace() + "/" + holder.pod())
                .distinct()
                .toList();
    }

    /** @return how many files of these nodes are open, by whomever; the processes but this one are added */
    private int openFiles(Set<String> nodes, Map<Long, UsingProcess> processes) {
        int open = 0;
        for (String entry : entries(proc)) {
            if (!entry.matches("[0-9]{1,9}")) {
                continue;
            }
            long pid = Long.parseLong(entry);
            for (String descriptor : entries(proc.resolve(entry).resolve("fd"))) {
                Optional<String> node =
                        uverbsNode(proc.resolve(entry).resolve("fd").resolve(descriptor));
                if (node.filter(nodes::contains).isPresent()) {
                    open++;
                    add(pid, processes);
                }
            }
        }
        return open;
    }

    private static Optional<String> uverbsNode(Path descriptor) {
        try {
            Path target = Files.readSymbolicLink(descriptor);
            // Where a container has its nodes is its own business; the kernel names them all the same.
            return Optional.ofNullable(target.getFileName())
                    .map(Path::toString)
                    .filter(name -> name.startsWith("uverbs"))
                    .map(name -> name.replace(" (deleted)", ""));
        } catch (IOException e) {
            // Closed meanwhile, or none of our business.
            return Optional.empty();
        }
    }

    private void add(long pid, Map<Long, UsingProcess> processes) {
        if (pid != self) {
            processes.put(
                    pid, new UsingProcess(pid, text(proc.resolve(pid + "/comm")).orElse("")));
        }
    }

    // ---- files ----

    private static Optional<String> text(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (var stream = Files.newInputStream(file)) {
            return Optional.of(new String(stream.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Names in a directory; none where it can't be read. */
    private static List<String> entries(Path directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            stream.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException | DirectoryIteratorException e) {
            return names;
        }
        return names;
    }
}
