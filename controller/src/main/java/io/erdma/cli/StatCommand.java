package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.cli.PatientCounters.Counted;
import io.erdma.cli.PatientCounters.Gone;
import io.erdma.cli.PatientCounters.Late;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodePaths;
import io.erdma.inventory.NodeSources;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.NetlinkObjects;
import io.erdma.pods.PodLogs;
import io.erdma.pods.PodShares;
import io.erdma.pods.ProcTree;
import io.erdma.pods.UsageReader;
import io.erdma.pods.UsageRules;
import io.erdma.pods.UsageSnapshot;
import io.erdma.sysfs.SysfsCounters;
import io.erdma.sysfs.SysfsTree;
import io.erdma.traffic.CounterReader;
import io.erdma.traffic.CounterReading;
import io.erdma.traffic.TrafficDevice;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code erdma stat}. */
@Command(
        name = "stat",
        sortOptions = false,
        header = "Print what RDMA devices have carried, or live what they carry.",
        description = {
            "Numbers come from the driver's own counters, so they are of RDMA alone: traffic that fell back to TCP"
                    + " does not show. A software device counts no bytes; those of its interface stand for them, and"
                    + " the output says so."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:a device could be read, or there is none; with -l also after Ctrl-C",
            " 1:there are devices, but none could be read; or one asked for is missing",
            "64:wrong usage",
            "70:our own fault"
        })
final class StatCommand implements Callable<Integer> {
    /** Each reading is a command to the device. */
    private static final BigDecimal SHORTEST_INTERVAL = BigDecimal.ONE;

    private static final BigDecimal LONGEST_INTERVAL = BigDecimal.valueOf(86_400);

    private final Console console;

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "This device, whatever its driver; repeatable. Without it, all eRDMA devices.")
    private List<String> devices = new ArrayList<>();

    @Option(
            names = {"-l", "--live"},
            description = "A line for each device each second, until interrupted.")
    private boolean live;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "With -l: time between two lines, at least 1.")
    private BigDecimal interval;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "0",
            description = "With -l: end after N lines for each device; 0 means never.")
    private int count;

    @Option(names = "--json", description = "Print JSON: one object, or with -l one in each line.")
    private boolean json;

    @Option(
            names = "--pods",
            description = {
                "Who uses them instead: queue pairs and open contexts of each process with its pod, and the shares"
                        + " that pods hold. On the node, in the host's pid namespace."
            })
    private boolean pods;

    @Option(
            names = "--device-selector",
            defaultValue = SelectorOption.DEFAULT,
            split = SelectorOption.SPLIT,
            paramLabel = "RULE",
            description = "What the agent was told to offer, " + DeviceSelector.FORMS + "; repeatable.")
    private List<String> deviceSelectors = new ArrayList<>();

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    @Mixin
    private KubeletOptions kubelet;

    @Option(
            names = "--probe-address",
            paramLabel = "ADDRESS",
            defaultValue = "${env:ERDMA_PROBE_ADDRESS:-:9470}",
            description = "With --pods: where this node's agent answers, which knows how many queue pairs a device may"
                    + " have.")
    private String probeAddress;

    @Mixin
    private NodeRoots roots;

    @Option(
            names = "--patience",
            hidden = true,
            defaultValue = "10",
            description = "Seconds that a device may take to answer.")
    private int patience;

    StatCommand(Console console) {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call() throws IOException {
        List<DeviceSelector> selectors = SelectorOption.parse(spec, deviceSelectors);
        requireUsage();
        NodePaths paths = roots.paths();
        try (NodeSources sources = new UndisturbedSources(new LiveSources(roots.verbsLibrary(), paths))) {
            DeviceInventory inventory = new DeviceInventory(sources, paths, selectors);
            InventorySnapshot snapshot = inventory.scan();
            List<TrafficDevice> wanted = wanted(snapshot);
            List<String> missing = devices.stream()
                    .filter(name ->
                            wanted.stream().noneMatch(device -> device.name().equals(name)))
                    .toList();
            missing.forEach(name -> console.complain("RDMA device '" + name + "' wasn't found"));
            if (wanted.isEmpty() && missing.isEmpty()) {
                console.complain("No eRDMA devices found" + others(snapshot));
            }
            boolean told = tell(inventory, wanted, missing.isEmpty());
            return missing.isEmpty() && (told || wanted.isEmpty()) ? ExitCode.OK : ExitCode.NOT_USABLE;
        }
    }

    /**
     * @param complete whether all devices asked for are there; one that never was is a mistake, and not awaited
     * @return whether there was anything to tell
     */
    private boolean tell(DeviceInventory inventory, List<TrafficDevice> wanted, boolean complete) throws IOException {
        if (pods) {
            printUsage(wanted);
            return true;
        }
        CounterReader reader = new CounterReader(new SysfsCounters(roots.paths().sys()), System::nanoTime);
        PatientCounters counters = new PatientCounters(reader, Duration.ofSeconds(patience));
        if (!live) {
            return printTotals(counters, wanted);
        }
        if (complete && !wanted.isEmpty()) {
            watch(new LiveStat(reader::devices, () -> wanted(inventory.scan()), counters, style(), console));
        }
        return complete;
    }

    private void printUsage(List<TrafficDevice> wanted) throws IOException {
        Set<String> names = wanted.stream().map(TrafficDevice::name).collect(Collectors.toSet());
        try (UnixTransport transport = UnixTransport.open()) {
            PodShares shares = new PodShares(transport, kubelet.rootDirectory(), kubelet.resourceName());
            UsageReader usage = new UsageReader(
                    NetlinkObjects::list,
                    new ProcTree(roots.proc()),
                    new SysfsTree(roots.paths().sys()),
                    new PodLogs(roots.podLogs()),
                    shares::list);
            UsageSnapshot snapshot = UsageRules.once(
                    usage.read(names::contains, false), Clock.systemUTC().instant());
            Map<String, Integer> budgets = agent().queuePairBudgets().content().orElse(Map.of());
            if (json) {
                console.print(Json.object(generator -> UsageFormat.json(generator, snapshot, budgets)));
            } else {
                console.print(UsageFormat.text(snapshot, budgets));
                snapshot.problems().forEach(console::complain);
            }
        }
    }

    private AgentReader agent() {
        try {
            return new AgentReader(probeAddress);
        } catch (IllegalArgumentException e) {
            throw wrong("--probe-address " + e.getMessage());
        }
    }

    private void watch(LiveStat stat) throws IOException {
        try (StopSignal signal = new StopSignal()) {
            Duration pause = Duration.ofMillis(interval.movePointRight(3).longValueExact());
            stat.run(new Ticks(pause, count == 0 ? Long.MAX_VALUE : count, signal.asked()));
        }
    }

    private LiveStat.Style style() {
        if (json) {
            return LiveStyles.json();
        }
        return console.isTerminal() ? LiveStyles.columns() : LiveStyles.plain();
    }

    /** @return whether any device could be read */
    private boolean printTotals(PatientCounters counters, List<TrafficDevice> wanted) throws IOException {
        List<CounterReading> readings = new ArrayList<>();
        for (TrafficDevice device : wanted) {
            switch (counters.read(device)) {
                case Counted(var reading) -> readings.add(reading);
                case Gone _ -> console.complain(device.name() + " has gone a moment ago, or sysfs doesn't show it");
                case Late late -> console.complain(device.name() + " " + late.problem());
            }
        }
        if (json) {
            console.print(Json.object(generator -> StatJson.devices(generator, readings)));
        } else {
            console.print(readings.stream().map(StatFormat::device).collect(Collectors.joining()));
        }
        return !readings.isEmpty();
    }

    /** Those named, or else those that the selectors choose. */
    private List<TrafficDevice> wanted(InventorySnapshot snapshot) {
        return snapshot.devices().stream()
                .filter(found -> devices.isEmpty()
                        ? found.selected()
                        : devices.contains(found.device().name()))
                .map(Found::device)
                .map(StatCommand::trafficDevice)
                .toList();
    }

    private static TrafficDevice trafficDevice(RdmaDevice device) {
        return new TrafficDevice(device.name(), device.driver(), device.netdev().map(Netdev::name));
    }

    private static String others(InventorySnapshot snapshot) {
        String names =
                snapshot.devices().stream().map(found -> found.device().name()).collect(Collectors.joining(", "));
        return names.isEmpty() ? "" : "; name one of the others with -d: " + names;
    }

    private void requireUsage() {
        if (interval.compareTo(SHORTEST_INTERVAL) < 0 || interval.compareTo(LONGEST_INTERVAL) > 0) {
            throw wrong("--interval " + interval.toPlainString() + ": give 1 to 86400 seconds; each reading is a"
                    + " command to the device");
        }
        if (interval.stripTrailingZeros().scale() > 3) {
            throw wrong("--interval " + interval.toPlainString() + ": no finer than milliseconds");
        }
        if (pods && live) {
            throw wrong("--pods shows one moment; leave out -l");
        }
        if (count < 0) {
            throw wrong("--count " + count + ": give 0 (without end) or more");
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
