package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.health.HealthCheck;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodePaths;
import io.erdma.inventory.NodeSources;
import io.erdma.libc.NativeException;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code erdma devinfo}. */
@Command(
        name = "devinfo",
        sortOptions = false,
        header = "Print the RDMA devices of this machine as ibv_devinfo does, and what it can't tell.",
        description = {
            "Without --explain and --json the output is that of ibv_devinfo, for all RDMA devices, eRDMA or not. What"
                    + " went wrong stands on the error stream, one line for each device.",
            "With -v these rows of ibv_devinfo are missing, as they come from ibv_query_device_ex, which the library"
                    + " does not export: *_odp_caps, completion timestamp_mask, hca_core_clock, raw packet caps,"
                    + " device_cap_flags_ex, tso_caps, rss_caps, max_wq_type_rq, packet_pacing_caps, tag matching, cq"
                    + " moderation caps, maximum available device memory. So is port_cap_flags2 of InfiniBand ports."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:a device could be opened, or there is none",
            " 1:there are devices, but none could be opened; or the one asked for is missing",
            "64:wrong usage",
            "70:our own fault"
        })
final class DevinfoCommand implements Callable<Integer> {
    private static final int HIGHEST_PORT = 255;

    /** For a driver that doesn't answer; a command should end while somebody waits for it. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final Console console;

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "Only this device.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "PORT",
            description = "Only this port of each device.")
    private Optional<String> port = Optional.empty();

    @Option(
            names = {"-l", "--list"},
            description = "Only the devices' names.")
    private boolean list;

    @Option(
            names = {"-v", "--verbose"},
            description = "All attributes.")
    private boolean verbose;

    @Option(
            names = "--explain",
            description = {
                "Add for each device: whether the agent would offer it and by which rule, health, driver, interface,"
                        + " NUMA node, character device, GIDs with their types, and why libibverbs does not list it."
            })
    private boolean explain;

    @Option(names = "--json", description = "Print the same as one JSON object, and nothing else.")
    private boolean json;

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
    private NodeRoots roots;

    // libibverbs alone waits up to 5 s for a node that it may not open.
    @Option(
            names = "--patience",
            hidden = true,
            defaultValue = "8",
            description = "Seconds that a device may take to answer.")
    private int patience;

    DevinfoCommand(Console console) {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call() throws IOException {
        OptionalInt onlyPort = port();
        List<DeviceSelector> chosen = SelectorOption.parse(spec, deviceSelectors);
        // Not 'verbs or nothing': an explanation is most wanted where the library is missing.
        Optional<Verbs> verbs = Optional.empty();
        List<VerbsDevice> listed = List.of();
        try {
            verbs = Optional.of(Verbs.load(roots.verbsLibrary()));
            listed = verbs.get().devices();
        } catch (VerbsUnavailableException | NativeException e) {
            console.complain(e.getMessage());
        }
        List<VerbsDevice> wanted = listed.stream().filter(this::isWanted).toList();
        NodePaths paths = roots.paths();
        try (NodeSources sources = new LiveSources(roots.verbsLibrary(), paths)) {
            NodeExplainer explainer = new NodeExplainer(
                    sources,
                    paths,
                    chosen,
                    snapshot -> HealthCheck.once(snapshot, sources, Clock.systemUTC(), PATIENCE));
            List<DeviceReading> readings = new ArrayList<>();
            if (verbs.isPresent() && (explains() || !list)) {
                DevinfoReader reader = new DevinfoReader(verbs.get(), new SysfsTree(paths.sys()));
                for (VerbsDevice found : wanted) {
                    readings.add(Patience.within(
                                    Duration.ofSeconds(patience),
                                    found.name(),
                                    () -> reader.read(found, onlyPort, verbose || explains()))
                            .orElseGet(() -> DeviceReading.late(found, Duration.ofSeconds(patience))));
                }
            }
            return json ? printJson(explainer, readings) : printText(explainer, listed, readings);
        }
    }

    private int printJson(NodeExplainer explainer, List<DeviceReading> readings) throws IOException {
        NodeExplanation explanation = explained(explainer, readings);
        console.print(ExplainJson.format(explanation));
        return verdict(readings, explanation.devices().size());
    }

    private int printText(NodeExplainer explainer, List<VerbsDevice> listed, List<DeviceReading> readings)
            throws IOException {
        // Before the explanation: it takes longer, and the two are read from top to bottom.
        console.print(list ? DevinfoFormat.list(listed) : DevinfoFormat.devices(readings, verbose));
        for (DeviceReading reading : readings) {
            reading.problem()
                    .ifPresent(problem -> console.complain(reading.device().name() + ": " + problem));
        }
        if (!list && readings.isEmpty()) {
            console.complain(
                    device.map(name -> "IB device '" + name + "' wasn't found").orElse("No IB devices found"));
        }
        if (explain) {
            NodeExplanation explanation = explained(explainer, readings);
            console.print(ExplainFormat.format(explanation));
            return verdict(readings, explanation.devices().size());
        }
        if (list) {
            if (listed.isEmpty()) {
                ExplainFormat.missing(explainer.scan().devices()).forEach(console::complain);
            }
            return ExitCode.OK;
        }
        if (!readings.isEmpty()) {
            return verdict(readings, readings.size());
        }
        List<Found> known = explainer.scan().devices().stream()
                .filter(found -> isWanted(found.device().name()))
                .toList();
        ExplainFormat.missing(known).forEach(console::complain);
        return verdict(readings, known.size());
    }

    private NodeExplanation explained(NodeExplainer explainer, List<DeviceReading> readings) {
        NodeExplanation all = explainer.explain(readings);
        return new NodeExplanation(
                all.netnsMode(),
                all.compatMode(),
                all.rdmaCm(),
                all.sources(),
                all.devices().stream().filter(one -> isWanted(one.name())).toList());
    }

    /** @param known how many of the wanted devices the machine has, by any source */
    private int verdict(List<DeviceReading> readings, int known) {
        boolean nothingToOpen = known == 0 && readings.isEmpty() && device.isEmpty();
        return nothingToOpen || readings.stream().anyMatch(DeviceReading::isOpened) ? ExitCode.OK : ExitCode.NOT_USABLE;
    }

    private boolean explains() {
        return explain || json;
    }

    private boolean isWanted(VerbsDevice found) {
        return isWanted(found.name());
    }

    private boolean isWanted(String name) {
        return device.isEmpty() || device.get().equals(name);
    }

    /** A number as {@code strtol} reads it with base 0: decimal, 0x hexadecimal, 0 octal. */
    private OptionalInt port() {
        if (port.isEmpty()) {
            return OptionalInt.empty();
        }
        try {
            int number = Integer.decode(port.get().strip());
            if (number >= 1 && number <= HIGHEST_PORT) {
                return OptionalInt.of(number);
            }
        } catch (NumberFormatException e) {
            throw new ParameterException(spec.commandLine(), "-i " + port.get() + ": not a number", e);
        }
        throw new ParameterException(
                spec.commandLine(), "-i " + port.get() + ": ports are numbered from 1 to " + HIGHEST_PORT);
    }
}
