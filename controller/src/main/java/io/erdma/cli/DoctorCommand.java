package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Facts;
import io.erdma.doctor.Facts.Vantage;
import io.erdma.doctor.Facts.Wanted;
import io.erdma.doctor.PortRange;
import io.erdma.doctor.Report;
import io.erdma.doctor.Side;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.NodePaths;
import io.erdma.node.driver.DriverMode;
import io.erdma.pods.ContainerName.PodName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code erdma doctor}. */
@Command(
        name = "doctor",
        sortOptions = false,
        header = "Say what is wrong with this machine, and what to do about it.",
        description = {
            "Looks at everything that eRDMA needs, in the order in which one thing rests on another, and changes nothing."
                    + " What is missing here is said and holds up nothing else. In a pod it looks from the pod's side.",
            "Lines begin with pass, warn, FAIL, or ???? for what could not be looked at."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:all is well",
            " 1:there are warnings",
            " 2:something is wrong",
            " 3:nothing is known to be wrong, but something that matters could not be looked at",
            "64:wrong usage",
            "70:our own fault"
        })
final class DoctorCommand implements Callable<Integer> {
    private final Console console;
    private final Map<String, String> environment;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Print the report as one JSON object, and nothing else.")
    private boolean json;

    @Option(
            names = {"-v", "--verbose"},
            description = "Also what passing checks rest on, and the checks that have nothing to look at here.")
    private boolean verbose;

    @Option(names = "--inside-pod", description = "Look from the pod's side, also where that can't be told by itself.")
    private boolean insidePod;

    @Option(
            names = "--node",
            paramLabel = "NAME",
            description = "Compare this machine with the Node object of that name; needs access to the cluster's API.")
    private Optional<String> node = Optional.empty();

    @Option(
            names = "--pod",
            paramLabel = "NAMESPACE/NAME",
            description = "Look at the side of this pod, which runs on this node.")
    private Optional<String> pod = Optional.empty();

    @Option(
            names = "--bundle",
            paramLabel = "FILE",
            description = {
                "Also write a zip file for a support case: the report, sysfs of the RDMA devices, what netlink told,"
                        + " versions, the agent's metrics. Keys, tokens and passwords are left out. The file must not exist."
            })
    private Optional<Path> bundle = Optional.empty();

    @Option(
            names = "--device-selector",
            defaultValue = SelectorOption.DEFAULT,
            split = SelectorOption.SPLIT,
            paramLabel = "RULE",
            description = "What the agent was told to offer, " + DeviceSelector.FORMS + "; repeatable.")
    private List<String> deviceSelectors = new ArrayList<>();

    @Option(
            names = "--prefer-driver",
            paramLabel = "MODE",
            defaultValue = "${env:ERDMA_PREFER_DRIVER:-}",
            description = "The driver mode that the agent was told to prefer: default, compat or ofed.")
    private String preferDriver;

    @Option(
            names = "--probe-address",
            paramLabel = "ADDRESS",
            defaultValue = "${env:ERDMA_PROBE_ADDRESS:-:9470}",
            description = "Where the agent of this machine answers; empty: don't ask it. Default: ${DEFAULT-VALUE}.")
    private String probeAddress;

    @Mixin
    private KubeletOptions kubelet;

    @Option(
            names = "--node-port-range",
            paramLabel = "FIRST-LAST",
            defaultValue = "30000-32767",
            description = "The API server's --service-node-port-range. Default: ${DEFAULT-VALUE}.")
    private String nodePortRange;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    @Mixin
    private NodeRoots roots;

    /** @param environment of this process */
    DoctorCommand(Console console, Map<String, String> environment) {
        this.console = requireNonNull(console, "console is null");
        this.environment = Map.copyOf(environment);
    }

    @Override
    public Integer call() throws IOException {
        NodePaths machine = roots.paths();
        DoctorPaths paths = new DoctorPaths(
                machine.sys(),
                machine.dev(),
                machine.etc(),
                roots.proc(),
                Path.of("/lib/modules"),
                kubelet.rootDirectory(),
                roots.podLogs());
        Wanted wanted = new Wanted(
                mode(), valid("--node-port-range", nodePortRange, PortRange::parse), kubelet.resourceName(), node);
        AgentReader agent = valid("--probe-address", probeAddress, AgentReader::new);
        List<DeviceSelector> selectors = SelectorOption.parse(spec, deviceSelectors);
        DoctorSources sources = DoctorSources.live(roots.verbsLibrary(), paths, kubelet.resourceName(), environment);
        if (pod.isPresent() && (insidePod || bundle.isPresent())) {
            throw new ParameterException(
                    spec.commandLine(), "--pod looks at one pod of this node; leave out --inside-pod and --bundle");
        }
        if (bundle.isPresent() && Files.exists(bundle.get(), LinkOption.NOFOLLOW_LINKS)) {
            throw new ParameterException(
                    spec.commandLine(), "--bundle: " + bundle.get() + " exists already; name another file");
        }

        DoctorReader reader = new DoctorReader(paths, sources, selectors, environment, DoctorReader.PATIENCE);
        if (pod.isPresent()) {
            return print(ofPod(reader, valid("--pod", pod.get(), DoctorCommand::podName), paths, wanted, agent));
        }
        Facts facts = reader.read(insidePod, wanted, agent);
        Report report = Report.of(facts);
        print(report);
        if (bundle.isPresent()) {
            DoctorBundle gathered = DoctorBundle.of(facts, report, paths, sources, agent, environment);
            try {
                gathered.write(bundle.get());
            } catch (IOException e) {
                console.complain("doctor: cannot write the bundle " + bundle.get() + ": " + e);
                return ExitCode.INTERNAL;
            }
        }
        return report.exitCode();
    }

    private int print(Report report) throws IOException {
        console.print(json ? DoctorJson.format(report) : DoctorText.format(report, verbose));
        return report.exitCode();
    }

    private static Report ofPod(DoctorReader reader, PodName pod, DoctorPaths paths, Wanted wanted, AgentReader agent) {
        return switch (PodProcess.find(pod, paths.proc(), paths.logs())) {
            case PodProcess.Search.Found(PodProcess process) -> Report.of(reader.readPod(process, wanted, agent));
            case PodProcess.Search.NotFound(String why, String next) ->
                Report.unseen(new Vantage(Side.OTHER_POD, "pod " + pod), "pod", why, next);
        };
    }

    private static PodName podName(String text) {
        String[] parts = text.split("/", -1);
        if (parts.length != 2 || parts[0].isBlank() || parts[1].isBlank()) {
            throw new IllegalArgumentException("'" + text + "' is not NAMESPACE/NAME");
        }
        return new PodName(parts[0], parts[1]);
    }

    private Optional<DriverMode> mode() {
        return preferDriver.isEmpty()
                ? Optional.empty()
                : Optional.of(valid(
                        "--prefer-driver",
                        preferDriver,
                        text -> Stream.of(DriverMode.values())
                                .filter(preference -> preference.toString().equals(text))
                                .findFirst()
                                .orElseThrow(() -> new IllegalArgumentException(
                                        "'" + text + "' is not default, compat or ofed"))));
    }

    private <T> T valid(String option, String text, Function<String, T> parser) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }
}
