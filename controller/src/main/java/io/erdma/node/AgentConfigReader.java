package io.erdma.node;

import io.erdma.health.HealthSettings;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.NodePaths;
import io.erdma.log.Printable;
import io.erdma.node.AgentConfig.Choice;
import io.erdma.node.Setting.InvalidValueException;
import io.erdma.node.driver.DriverSettings;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.interfaces.InterfaceSettings;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.net.RouteSettings;
import io.erdma.plugin.PluginSettings;
import io.erdma.plugin.SessionSettings;
import io.erdma.pods.UsageMonitor;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads the agent's settings: the command line wins over the environment, that over the file, that over the defaults.
 * Every value is checked, also one that another source outranks, and all problems are reported together.
 */
public final class AgentConfigReader {
    private static final String CONFIG_FLAG = "config";
    private static final String CONFIG_VARIABLE = "ERDMA_CONFIG";
    private static final String NODE_NAME_VARIABLE = "NODE_NAME";

    /** Read by the launcher, or by stand-ins of libibverbs in tests. */
    private static final Pattern NOT_OURS =
            Pattern.compile("ERDMA_(JAVA_HOME|JAVA_OPTS|ASLR|AOT|CONFIG|STACKTRACE|FAKEVERBS.*)");

    /**
     * What the kubelet injects into each container for a Service whose name begins with "erdma": without this, a Service
     * named erdma-controller would keep every agent from starting.
     */
    private static final Pattern SERVICE_LINK = Pattern.compile("ERDMA_(?:.*_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?"
            + "|PORT|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)");

    private final Map<String, String> environment;
    private final List<String> problems = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    /** By setting, then in the order of reading, which is the order of precedence. */
    private final Map<Setting<?>, List<Given>> given = new LinkedHashMap<>();

    /**
     * A value that somebody gave.
     *
     * @param spelling as it was written: {@code --cdi=off}
     */
    private record Given(String text, String source, String spelling) {}

    /**
     * A flag of the Go agent that has another name here.
     *
     * @param target the setting that it sets; absent when it has no effect
     */
    private record Foreign(boolean isFlag, Optional<Setting<?>> target, Function<String, Optional<String>> translate) {
        static Foreign without(boolean isFlag) {
            return new Foreign(isFlag, Optional.empty(), Optional::of);
        }
    }

    private static final Map<String, Foreign> FOREIGN = Map.of(
            "zap-devel", Foreign.without(true),
            "zap-stacktrace-level", Foreign.without(false),
            "zap-time-encoding", Foreign.without(false),
            "kubeconfig", Foreign.without(false),
            "zap-encoder",
                    new Foreign(false, Optional.of(Settings.LOG_FORMAT), text -> switch (text) {
                        case "console" -> Optional.of("text");
                        case "json" -> Optional.of("json");
                        default -> Optional.empty();
                    }),
            "zap-log-level",
                    new Foreign(false, Optional.of(Settings.LOG_LEVEL), text -> switch (text) {
                        case "debug", "info", "warn", "error" -> Optional.of(text);
                        case "panic" -> Optional.of("error");
                        // zap counts verbosity upwards; everything above info is debug here.
                        default -> text.matches("[0-9]{1,4}") ? Optional.of("debug") : Optional.empty();
                    }));

    private AgentConfigReader(Map<String, String> environment) {
        this.environment = environment;
        Settings.ALL.forEach(setting -> given.put(setting, new ArrayList<>()));
    }

    /**
     * @param args the command line after the command's name
     * @param environment the whole environment; of names that do not begin with ERDMA_ only NODE_NAME and those by which
     *     a pod finds its cluster are looked at
     */
    public static AgentConfig read(List<String> args, Map<String, String> environment) throws ConfigurationException {
        return new AgentConfigReader(environment).read(args);
    }

    private AgentConfig read(List<String> args) throws ConfigurationException {
        Optional<String> fileFromCommandLine = readCommandLine(args);
        readEnvironment();
        fileFromCommandLine
                .or(() -> Optional.ofNullable(environment.get(CONFIG_VARIABLE)))
                .filter(text -> !text.isEmpty())
                .ifPresent(this::readFile);
        check();
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return build();
    }

    // ---- command line ----

    private Optional<String> readCommandLine(List<String> args) {
        Optional<String> file = Optional.empty();
        // Translated values come after those that carry our own names, so that ours win.
        Map<Setting<?>, List<Given>> translated = new LinkedHashMap<>();
        int i = 0;
        while (i < args.size()) {
            String arg = args.get(i++);
            if (arg.equals("--")) {
                args.subList(i, args.size()).forEach(this::unexpected);
                break;
            }
            if (arg.length() < 2 || arg.charAt(0) != '-') {
                unexpected(arg);
                continue;
            }
            String body = arg.substring(arg.startsWith("--") ? 2 : 1);
            int equals = body.indexOf('=');
            String name = equals < 0 ? body : body.substring(0, equals);
            Optional<String> value = equals < 0 ? Optional.empty() : Optional.of(body.substring(equals + 1));
            Optional<Setting<?>> setting = find(Settings.ALL, Setting::name, name);
            Foreign foreign = FOREIGN.get(name);
            if (setting.isEmpty() && foreign == null && !name.equals(CONFIG_FLAG)) {
                problems.add(printable(equals < 0 ? arg : arg.substring(0, arg.indexOf('='))) + " (command line): "
                        + unknown(name, flagNames(), "--"));
                // Most likely the unknown flag's value: naming it as well would only confuse.
                if (value.isEmpty() && i < args.size() && !args.get(i).startsWith("-")) {
                    i++;
                }
                continue;
            }
            boolean isFlag = setting.isPresent() ? setting.get().isFlag() : foreign != null && foreign.isFlag();
            if (value.isEmpty() && isFlag) {
                value = Optional.of("true");
                // Go would stop reading here and drop the rest of the command line without a word.
                if (i < args.size() && Parsers.isBool(args.get(i))) {
                    problems.add(arg + " " + args.get(i) + " (command line): a flag takes its value after =; write "
                            + arg + "=" + args.get(i));
                    i++;
                    continue;
                }
            }
            if (value.isEmpty()) {
                if (i == args.size()) {
                    problems.add(arg + " (command line): the value is missing");
                    continue;
                }
                value = Optional.of(args.get(i++));
            }
            String text = value.get();
            String spelling = "--" + name + "=" + printable(text);
            if (name.equals(CONFIG_FLAG)) {
                file = Optional.of(text);
            } else if (setting.isPresent()) {
                given.get(setting.get()).add(new Given(text, "command line", spelling));
            } else if (foreign.target().isEmpty()) {
                notes.add("--" + name + " has no effect here");
            } else {
                Optional<String> ours = foreign.translate().apply(text);
                if (ours.isEmpty()) {
                    problems.add(spelling + " (command line): unknown value; use --"
                            + foreign.target().get().name() + " instead");
                } else {
                    translated
                            .computeIfAbsent(foreign.target().get(), key -> new ArrayList<>())
                            .add(new Given(ours.get(), "command line, --" + name, spelling));
                }
            }
        }
        translated.forEach((setting, values) -> {
            if (given.get(setting).isEmpty()) {
                given.get(setting).addAll(values);
            }
        });
        return file;
    }

    private void unexpected(String arg) {
        problems.add(printable(arg) + " (command line): unexpected; settings begin with --");
    }

    // ---- environment ----

    private void readEnvironment() {
        // What manifests for the Go agent set; the name of our own comes later, and the last one counts.
        Optional.ofNullable(environment.get(NODE_NAME_VARIABLE))
                .filter(text -> !text.isEmpty())
                .ifPresent(text -> given.get(Settings.NODE_NAME)
                        .add(new Given(text, "environment", NODE_NAME_VARIABLE + "=" + printable(text))));
        for (Map.Entry<String, String> variable : new TreeMap<>(environment).entrySet()) {
            String name = variable.getKey();
            if (!name.startsWith("ERDMA_")
                    || NOT_OURS.matcher(name).matches()
                    || SERVICE_LINK.matcher(name).matches()) {
                continue;
            }
            Optional<Setting<?>> setting = find(Settings.ALL, Setting::environmentName, name);
            if (setting.isEmpty()) {
                problems.add(printable(name) + " (environment): "
                        + unknown(name, names(Setting::environmentName, CONFIG_VARIABLE), ""));
                continue;
            }
            environmentValues(setting.get(), variable.getValue())
                    .forEach(text ->
                            given.get(setting.get()).add(new Given(text, "environment", name + "=" + printable(text))));
        }
    }

    /** An empty variable is one that is not set, as manifests with unfilled placeholders have it. */
    private static List<String> environmentValues(Setting<?> setting, String text) {
        return switch (setting.kind()) {
            case VALUE, FLAG -> text.isEmpty() ? List.of() : List.of(text);
            case VALUE_OR_EMPTY, VALUE_OR_LIST -> List.of(text);
            case LIST ->
                Pattern.compile("[,\\s]+")
                        .splitAsStream(text)
                        .filter(item -> !item.isEmpty())
                        .toList();
        };
    }

    // ---- file ----

    private void readFile(String text) {
        ConfigFile file;
        try {
            file = ConfigFile.read(Path.of(text));
        } catch (InvalidPathException e) {
            problems.add("--config=" + printable(text) + ": not a path: " + e.getReason());
            return;
        }
        file.problems().forEach(problem -> problems.add(printable(problem)));
        for (ConfigFile.Entry entry : file.entries()) {
            String source = "file " + printable(text) + ", line " + entry.line();
            Optional<Setting<?>> setting = find(Settings.ALL, Setting::fileKey, entry.key());
            if (setting.isEmpty()) {
                problems.add(printable(entry.key()) + " (" + source + "): "
                        + unknown(entry.key(), names(Setting::fileKey), ""));
            } else if (entry.list() && !setting.get().takesLists()) {
                problems.add(entry.key() + " (" + source + "): a list; write one value");
            } else {
                values(setting.get(), entry)
                        .forEach(value -> given.get(setting.get())
                                .add(new Given(value, source, entry.key() + ": " + printable(value))));
            }
        }
    }

    private static List<String> values(Setting<?> setting, ConfigFile.Entry entry) {
        return setting.isList() || entry.values().isEmpty()
                ? entry.values()
                : List.of(String.join(",", entry.values()));
    }

    // ---- all sources ----

    private void check() {
        Set<Setting<?>> wrong = new HashSet<>();
        given.forEach((setting, values) ->
                values.forEach(value -> setting.problemWith(value.text()).ifPresent(problem -> {
                    wrong.add(setting);
                    problems.add(value.spelling() + " (" + value.source() + "): " + problem);
                })));
        // What several settings say together is only worth a word where each of them says something.
        if (Collections.disjoint(wrong, List.of(Settings.KUBELET_ROOT_DIR, Settings.RESOURCE_NAME))) {
            checkSession();
        }
        if (Collections.disjoint(
                wrong,
                List.of(
                        Settings.INSTALL_DRIVER,
                        Settings.MANAGE_DRIVER,
                        Settings.DRIVER_URL,
                        Settings.DRIVER_SHA256,
                        Settings.INSTALLER_VERSION))) {
            checkInstaller();
        }
    }

    /** The socket's path depends on two settings. */
    private void checkSession() {
        try {
            session();
        } catch (IllegalArgumentException e) {
            List<Given> chosen = chosen(Settings.KUBELET_ROOT_DIR, given.get(Settings.KUBELET_ROOT_DIR));
            String where = chosen.isEmpty()
                    ? "--kubelet-root-dir=" + one(Settings.KUBELET_ROOT_DIR) + " (default)"
                    : chosen.getLast().spelling() + " (" + chosen.getLast().source() + ")";
            problems.add(where + ": " + e.getMessage());
        }
    }

    /** What is run as root on the host has to be named in full. */
    private void checkInstaller() {
        if (!one(Settings.INSTALL_DRIVER)) {
            return;
        }
        if (one(Settings.DRIVER_URL).isEmpty()) {
            problems.add("--install-driver=true: there is no URL; set --driver-url");
        }
        if (one(Settings.DRIVER_SHA256).isEmpty()) {
            problems.add(
                    "--install-driver=true: there is no checksum, and what is not checked is not run as root on the"
                            + " host; set --driver-sha256");
        }
        if (one(Settings.DRIVER_URL).contains(InstallerSettings.VERSION)
                && one(Settings.INSTALLER_VERSION).isEmpty()) {
            problems.add("--install-driver=true: the URL asks for a version; set --erdma-installer-version");
        }
        if (!one(Settings.MANAGE_DRIVER)) {
            problems.add("--install-driver=true: --manage-driver=false forbids it; set only one of them");
        }
    }

    private AgentConfig build() {
        List<Choice> choices = new ArrayList<>();
        given.forEach((setting, values) -> {
            List<Given> chosen = chosen(setting, values);
            choices.add(new Choice(
                    setting.name(),
                    chosen.isEmpty()
                            ? setting.defaultText()
                            : String.join(",", chosen.stream().map(Given::text).toList()),
                    chosen.isEmpty() ? "default" : chosen.getFirst().source()));
        });
        return new AgentConfig(
                new PluginSettings(
                        one(Settings.RESOURCE_NAME),
                        one(Settings.SHARES_PER_DEVICE),
                        one(Settings.ALLOCATE_ALL_DEVICES),
                        one(Settings.CDI),
                        one(Settings.CDI_DIR),
                        one(Settings.NCCL_IB_HCA),
                        one(Settings.PRE_START_CONTAINER)),
                session(),
                health(),
                new NodePaths(one(Settings.SYSFS_ROOT), one(Settings.DEV_ROOT), NodePaths.STANDARD.etc()),
                selectors(),
                ClusterAccess.find(environment, ClusterAccess.SERVICE_ACCOUNT),
                interfaces(),
                new RouteSettings(one(Settings.ROUTE_METRIC), one(Settings.MANAGE_INTERFACES)),
                one(Settings.VERBS_LIBRARY),
                driver(),
                one(Settings.PROBE_ADDRESS),
                one(Settings.PAGE_ADDRESS),
                one(Settings.POD_METRICS),
                usage(),
                new ClusterReporter.Settings(
                        one(Settings.EVENTS), one(Settings.NODE_CONDITION), one(Settings.NODE_LABEL), nodeName()),
                one(Settings.LOG_FORMAT),
                one(Settings.LOG_LEVEL),
                choices,
                notes);
    }

    private SessionSettings session() {
        return SessionSettings.of(one(Settings.KUBELET_ROOT_DIR), one(Settings.RESOURCE_NAME));
    }

    /** A slower check needs a longer grace, or one late answer would already count against a device. */
    private HealthSettings health() {
        Duration interval = one(Settings.HEALTH_INTERVAL);
        Duration grace = HealthSettings.STANDARD.grace();
        Duration threeChecks = interval.multipliedBy(3);
        return new HealthSettings(
                interval,
                one(Settings.RESCAN_INTERVAL),
                grace.compareTo(threeChecks) < 0 ? threeChecks : grace,
                HealthSettings.STANDARD.firstAnswer());
    }

    private DriverSettings driver() {
        if (!one(Settings.INSTALL_DRIVER)) {
            for (Setting<?> setting :
                    List.of(Settings.INSTALLER_VERSION, Settings.DRIVER_URL, Settings.DRIVER_SHA256)) {
                if (!given.get(setting).isEmpty()) {
                    notes.add("--" + setting.name() + " has no effect without --install-driver");
                }
            }
            return new DriverSettings(one(Settings.PREFER_DRIVER), one(Settings.MANAGE_DRIVER), Optional.empty());
        }
        return new DriverSettings(
                one(Settings.PREFER_DRIVER),
                true,
                Optional.of(InstallerSettings.of(
                        one(Settings.DRIVER_URL), one(Settings.INSTALLER_VERSION), one(Settings.DRIVER_SHA256))));
    }

    private Optional<UsageMonitor.Settings> usage() {
        return one(Settings.POD_METRICS) || one(Settings.PAGE_ADDRESS).isPresent()
                ? Optional.of(new UsageMonitor.Settings(
                        UsageMonitor.Settings.STANDARD.period(),
                        one(Settings.FALLBACK_AFTER),
                        one(Settings.ALLOCATE_ALL_DEVICES)))
                : Optional.empty();
    }

    /** The chart always passes an MTU; its standard value says nothing of the instance. */
    private InterfaceSettings interfaces() {
        return new InterfaceSettings(
                one(Settings.LOCAL_ERI_DISCOVERY),
                one(Settings.EXPOSED_LOCAL_ERIS),
                nodeName(),
                one(Settings.METADATA_ADDRESS),
                one(Settings.JUMBO_FRAME_MTU),
                !String.valueOf(one(Settings.JUMBO_FRAME_MTU)).equals(Settings.JUMBO_FRAME_MTU.defaultText()));
    }

    private String nodeName() {
        String given = one(Settings.NODE_NAME);
        return given.isEmpty() ? Hostname.read() : given;
    }

    private List<DeviceSelector> selectors() {
        List<DeviceSelector> selectors = all(Settings.DEVICE_SELECTOR);
        return selectors.isEmpty() ? List.of(DeviceSelector.ERDMA) : selectors;
    }

    /** What counts: all values of the first source that gave any, or of a single value the last of them. */
    private static List<Given> chosen(Setting<?> setting, List<Given> values) {
        if (values.isEmpty()) {
            return List.of();
        }
        String kind = sourceKind(values.getFirst());
        List<Given> first =
                values.stream().filter(value -> sourceKind(value).equals(kind)).toList();
        return setting.isList() ? first : List.of(first.getLast());
    }

    /** A list in a file may stand on several lines; it is one source all the same. */
    private static String sourceKind(Given value) {
        return value.source().split("[ ,]", 2)[0];
    }

    private <T> T one(Setting<T> setting) {
        List<Given> chosen = chosen(setting, given.get(setting));
        return parsed(
                setting,
                chosen.isEmpty() ? setting.defaultText() : chosen.getLast().text());
    }

    private <T> List<T> all(Setting<T> setting) {
        return chosen(setting, given.get(setting)).stream()
                .map(value -> parsed(setting, value.text()))
                .toList();
    }

    private static <T> T parsed(Setting<T> setting, String text) {
        try {
            return setting.parser().parse(text);
        } catch (InvalidValueException e) {
            throw new IllegalStateException("a checked value of " + setting.name() + " does not parse: " + text, e);
        }
    }

    // ---- names ----

    private static Optional<Setting<?>> find(
            List<Setting<?>> settings, Function<Setting<?>, String> spelling, String name) {
        return settings.stream()
                .filter(setting -> spelling.apply(setting).equals(name))
                .findFirst();
    }

    private static List<String> names(Function<Setting<?>, String> spelling, String... more) {
        List<String> names = new ArrayList<>(Settings.ALL.stream().map(spelling).toList());
        names.addAll(List.of(more));
        return names;
    }

    private static List<String> flagNames() {
        List<String> names = names(Setting::name, CONFIG_FLAG);
        names.addAll(FOREIGN.keySet());
        return names;
    }

    private static String unknown(String name, Collection<String> known, String prefix) {
        return Spelling.nearest(name, known)
                .map(candidate -> "unknown setting; did you mean " + prefix + candidate + "?")
                .orElse("unknown setting; erdma agent --help lists them");
    }

    /** A problem is one line on a terminal, whatever it quotes. */
    private static String printable(String text) {
        String shown = text.length() <= 200 ? text : text.substring(0, 200) + "…";
        return Printable.of(shown);
    }
}
