package io.erdma.node;

import io.erdma.inventory.DeviceSelector;
import io.erdma.node.Setting.Kind;
import io.erdma.node.Setting.Parser;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.interfaces.ExposedRules;
import io.erdma.node.log.LogFormat;
import io.erdma.node.log.LogLevel;
import io.erdma.plugin.CdiMode;
import io.erdma.plugin.PluginSettings;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The table of all settings. */
final class Settings {
    static final Setting<String> RESOURCE_NAME = value(
            "resource-name",
            "DOMAIN/NAME",
            "aliyun/erdma",
            Parsers::extendedResource,
            "Extended resource that pods ask for.");
    static final Setting<Integer> SHARES_PER_DEVICE = value(
            "shares-per-device",
            "N",
            "200",
            Parsers.integer(1, PluginSettings.MAX_SHARES_PER_DEVICE),
            "How many pods can share one device.");
    static final Setting<DeviceSelector> DEVICE_SELECTOR = new Setting<>(
            "device-selector",
            Kind.LIST,
            "RULE",
            "",
            Parsers::selector,
            "Which RDMA devices to offer: driver=NAME, name=GLOB or pci=VENDOR:DEVICE; may be repeated. Without any, eRDMA devices by their driver.");
    static final Setting<Boolean> ALLOCATE_ALL_DEVICES =
            flag("allocate-all-devices", "Give every device of the node to each container that asks for one.");
    static final Setting<Boolean> NCCL_IB_HCA =
            flag("nccl-ib-hca", "Set NCCL_IB_HCA to the granted devices in each container.");
    static final Setting<CdiMode> CDI = value(
            "cdi",
            "MODE",
            "off",
            Parsers.oneOf("mode", CdiMode.class),
            "Name devices to the container runtime by CDI: off, also (beside the device nodes) or only.");
    static final Setting<Path> CDI_DIR =
            value("cdi-dir", "DIR", "/var/run/cdi", Parsers::directory, "Where the CDI specification is written.");
    static final Setting<Path> KUBELET_ROOT_DIR = value(
            "kubelet-root-dir",
            "DIR",
            "/var/lib/kubelet",
            Parsers::directory,
            "The kubelet's root directory; its sockets are in device-plugins below it.");
    static final Setting<Boolean> PRE_START_CONTAINER = flag(
            "deviceplugin-prestart-container", "Have the kubelet call PreStartContainer before each container start.");
    static final Setting<String> VERBS_LIBRARY = value(
            "verbs-library",
            "LIBRARY",
            "libibverbs.so.1",
            Parsers::library,
            "The verbs library, by soname or absolute path.");
    static final Setting<Path> SYSFS_ROOT =
            value("sysfs-root", "DIR", "/sys", Parsers::directory, "Where sysfs is mounted.");
    static final Setting<Path> DEV_ROOT =
            value("dev-root", "DIR", "/dev", Parsers::directory, "Where the device nodes of the host are.");
    static final Setting<Duration> HEALTH_INTERVAL = value(
            "health-interval",
            "DURATION",
            "5s",
            Parsers.duration(Duration.ofMillis(100), Duration.ofSeconds(30)),
            "How often each device is checked, beside the events that tell of changes at once.");
    static final Setting<Duration> RESCAN_INTERVAL = value(
            "rescan-interval",
            "DURATION",
            "30s",
            Parsers.duration(Duration.ofMillis(100), Duration.ofHours(1)),
            "How often devices are enumerated anew, beside the events that tell of changes at once.");
    static final Setting<Optional<InetSocketAddress>> PROBE_ADDRESS = new Setting<>(
            "probe-address",
            Kind.VALUE_OR_EMPTY,
            "ADDRESS",
            ":9470",
            Parsers::listenAddress,
            "Where /healthz, /readyz, /metrics, /plans and /loglevel answer; empty turns them off.");
    static final Setting<Optional<InetSocketAddress>> PAGE_ADDRESS = new Setting<>(
            "page-address",
            Kind.VALUE_OR_EMPTY,
            "ADDRESS",
            "127.0.0.1:9471",
            Parsers::listenAddress,
            "Where a page for people tells how the node stands, with /metrics of pods beside it; empty turns it off.");
    static final Setting<Boolean> POD_METRICS = flag(
            "pod-metrics",
            "Show in /metrics of the probe address, too, which pods use the devices. Where that or the page is on, they are looked at every 30 s, and those that asked for eRDMA and do not use it are logged; needs hostPID.");
    static final Setting<Duration> FALLBACK_AFTER = value(
            "fallback-after",
            "DURATION",
            "10m",
            Parsers.duration(Duration.ofSeconds(30), Duration.ofHours(24)),
            "How long a container may hold a share before it is expected to use it.");
    static final Setting<Boolean> EVENTS = new Setting<>(
            "events",
            Kind.FLAG,
            "",
            "true",
            Parsers::bool,
            "Write Events on the Node and on pods: devices that fail and recover, the driver's mode, interfaces that are not set up, and pods that asked for eRDMA and do not use it. At most one in 30 s after the first 10; needs create and patch on events.");
    static final Setting<Boolean> NODE_CONDITION = flag(
            "node-condition",
            "Keep the condition ErdmaReady on the Node object. Off by default: it needs patch on nodes/status, and whoever takes over one node could then misreport every other.");
    static final Setting<Boolean> NODE_LABEL = flag(
            "node-label",
            "Keep the label aliyun.accelerator/erdma=true on the Node object while the node has a device. Off by default: it needs patch on nodes, and whoever takes over one node could then change labels and taints of every other.");
    static final Setting<LogFormat> LOG_FORMAT =
            value("log-format", "FORMAT", "text", Parsers.oneOf("format", LogFormat.class), "text or json.");
    static final Setting<LogLevel> LOG_LEVEL = value(
            "log-level",
            "LEVEL",
            "info",
            Parsers.oneOf("level", LogLevel.class),
            "debug, info, warn or error; changed while running by PUT /loglevel?level=LEVEL from the node itself.");

    static final Setting<Optional<DriverMode>> PREFER_DRIVER = new Setting<>(
            "prefer-driver",
            Kind.VALUE_OR_EMPTY,
            "MODE",
            "",
            Parsers::driverMode,
            "Driver mode: default (iWARP), compat (RoCE-compatible) or ofed (for GPU nodes); empty: ofed where a GPU driver is present, else default.");
    static final Setting<Boolean> MANAGE_DRIVER = new Setting<>(
            "manage-driver",
            Kind.FLAG,
            "",
            "true",
            Parsers::bool,
            "Load the erdma driver, and load it anew in the preferred mode once nobody uses its devices; needs hostPID and CAP_SYS_MODULE.");
    static final Setting<Boolean> INSTALL_DRIVER = flag(
            "install-driver", "Install the erdma driver where the host has none; needs driver-url and driver-sha256.");
    static final Setting<String> INSTALLER_VERSION = new Setting<>(
            "erdma-installer-version",
            Kind.VALUE_OR_EMPTY,
            "VERSION",
            "",
            Parsers::text,
            "Version of the driver installer, which stands in for {version} in driver-url.");
    static final Setting<String> DRIVER_URL = new Setting<>(
            "driver-url",
            Kind.VALUE_OR_EMPTY,
            "URL",
            "",
            Parsers::installerUrl,
            "Where the driver installer is: a script, or a .tar.gz with an install.sh in it.");
    static final Setting<String> DRIVER_SHA256 = new Setting<>(
            "driver-sha256",
            Kind.VALUE_OR_EMPTY,
            "SUM",
            "",
            Parsers::sha256,
            "SHA-256 sum of what is at driver-url; nothing of another content is run.");
    static final Setting<Integer> JUMBO_FRAME_MTU = value(
            "jumbo-frame-mtu",
            "BYTES",
            "8500",
            Parsers.integer(1280, 9600),
            "MTU of secondary eRDMA interfaces: where the ERdmaDevice object says that the instance has jumbo frames; with local discovery, which can't tell, only if it is not the default.");
    static final Setting<Boolean> MANAGE_INTERFACES = new Setting<>(
            "manage-interfaces",
            Kind.FLAG,
            "",
            "true",
            Parsers::bool,
            "Set up links, addresses and routes of eRDMA interfaces; false: only say what would be done.");
    static final Setting<Integer> ROUTE_METRIC = value(
            "route-metric",
            "N",
            "200",
            Parsers.integer(1, Integer.MAX_VALUE),
            "Least metric of the routes of eRDMA interfaces; it is higher where other interfaces' routes are.");
    static final Setting<Boolean> LOCAL_ERI_DISCOVERY = new Setting<>(
            "local-eri-discovery",
            Kind.FLAG,
            "",
            "true",
            Parsers::bool,
            "Use the eRDMA devices found on the node; false: those that the node's ERdmaDevice object names, as a controller or a person writes it.");
    static final Setting<ExposedRules> EXPOSED_LOCAL_ERIS = new Setting<>(
            "exposed-local-eris",
            Kind.VALUE_OR_LIST,
            "RULES",
            "",
            Parsers::localEris,
            "Which devices found on the node to offer, by instance: i-bp1abc erdma_0/erdma_1, i-* erdma_* for all that no other rule names; several with commas between them. Without any, all.");
    static final Setting<String> NODE_NAME = new Setting<>(
            "node-name",
            Kind.VALUE,
            "NAME",
            "",
            Parsers::nodeName,
            "Name of this node's Node object; without it NODE_NAME of the environment, else the host's name.");
    static final Setting<InetSocketAddress> METADATA_ADDRESS = value(
            "metadata-address",
            "URL",
            "http://100.100.100.200",
            Parsers::serviceAddress,
            "Where the cloud's metadata service is.");

    /** In the order of the help and of the README. */
    static final List<Setting<?>> ALL = List.of(
            RESOURCE_NAME,
            SHARES_PER_DEVICE,
            DEVICE_SELECTOR,
            ALLOCATE_ALL_DEVICES,
            NCCL_IB_HCA,
            CDI,
            CDI_DIR,
            KUBELET_ROOT_DIR,
            PRE_START_CONTAINER,
            VERBS_LIBRARY,
            SYSFS_ROOT,
            DEV_ROOT,
            HEALTH_INTERVAL,
            RESCAN_INTERVAL,
            PROBE_ADDRESS,
            PAGE_ADDRESS,
            POD_METRICS,
            FALLBACK_AFTER,
            EVENTS,
            NODE_CONDITION,
            NODE_LABEL,
            LOG_FORMAT,
            LOG_LEVEL,
            PREFER_DRIVER,
            MANAGE_DRIVER,
            INSTALL_DRIVER,
            INSTALLER_VERSION,
            DRIVER_URL,
            DRIVER_SHA256,
            LOCAL_ERI_DISCOVERY,
            EXPOSED_LOCAL_ERIS,
            NODE_NAME,
            METADATA_ADDRESS,
            MANAGE_INTERFACES,
            ROUTE_METRIC,
            JUMBO_FRAME_MTU);

    private Settings() {}

    private static <T> Setting<T> value(String name, String hint, String defaultText, Parser<T> parser, String help) {
        return new Setting<>(name, Kind.VALUE, hint, defaultText, parser, help);
    }

    private static Setting<Boolean> flag(String name, String help) {
        return new Setting<>(name, Kind.FLAG, "", "false", Parsers::bool, help);
    }

    /** The lines of {@code --help}. */
    static String help() {
        StringBuilder out = new StringBuilder(2_000);
        for (Setting<?> setting : ALL) {
            out.append("  --").append(setting.name());
            if (!setting.isFlag()) {
                out.append('=').append(setting.hint());
            }
            out.append("\n      ").append(setting.help());
            if (!setting.defaultText().isEmpty()) {
                out.append(" Default: ").append(setting.defaultText()).append('.');
            }
            out.append('\n');
        }
        return out.append("  --config=FILE\n      Settings as YAML or JSON, for example \"sharesPerDevice: 100\".\n")
                .append("Each setting has three names: --shares-per-device, ERDMA_SHARES_PER_DEVICE in the environment"
                        + " and sharesPerDevice\nin the file. The command line wins over the environment, and that"
                        + " over the file.\n")
                .toString();
    }

    /** The same as a Markdown table, for the README. */
    static String markdown() {
        StringBuilder out = new StringBuilder(2_000)
                .append("| Flag | Environment | File key | Default | Meaning |\n")
                .append("|---|---|---|---|---|\n");
        for (Setting<?> setting : ALL) {
            out.append("| `--")
                    .append(setting.name())
                    .append("` | `")
                    .append(setting.environmentName())
                    .append("` | `")
                    .append(setting.fileKey())
                    .append("` | ")
                    .append(setting.defaultText().isEmpty() ? "" : "`" + setting.defaultText() + "`")
                    .append(" | ")
                    .append(setting.help())
                    .append(" |\n");
        }
        return out.toString();
    }
}
