package io.erdma.cli;

import io.erdma.cli.NodeExplanation.Device;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The explanation for people: a block for each device, then one for the node. */
final class ExplainFormat {
    private static final int VALUES = 16;

    private final StringBuilder text = new StringBuilder(1024);

    private ExplainFormat() {}

    static String format(NodeExplanation explanation) {
        ExplainFormat format = new ExplainFormat();
        for (Device device : explanation.devices()) {
            format.device(device, explanation.compatMode());
        }
        format.node(explanation);
        return format.text.toString();
    }

    /** The kernel's words for the source, for people and JSON alike. */
    static String name(SourceStatus.Source source) {
        return switch (source) {
            case VERBS -> "verbs";
            case RDMA_NETLINK -> "rdma-netlink";
            case SYSFS -> "sysfs";
            case LINKS -> "links";
        };
    }

    static String name(GidEntry entry, NodeType nodeType) {
        return switch (entry.type()) {
            case ROCE_V2 -> "RoCE v2";
            case ROCE_V1 -> nodeType == NodeType.RNIC ? "iWARP" : "RoCE v1";
            case IB -> nodeType == NodeType.RNIC ? "iWARP" : "IB/RoCE v1";
        };
    }

    static String text(GidEntry entry) {
        return entry.type() == GidEntry.Type.ROCE_V2 ? GidText.address(entry.gid()) : GidText.groups(entry.gid());
    }

    private void device(Device device, Optional<Boolean> compatMode) {
        Found found = device.found();
        text.append(TerminalText.escape(device.name())).append('\n');
        row("advertised", (found.selected() ? "yes: " : "no: ") + found.why());
        row("health", device.health().map(ExplainFormat::health).orElse("could not be judged"));
        row(
                "port 1",
                device.portState().map(Enum::name).orElse("unknown")
                        + device.portSource()
                                .map(source -> ", says " + name(source))
                                .orElse(""));
        row("driver", driver(device, compatMode));
        row(
                "node type",
                nodeType(found.device().nodeType()) + ", GUID " + found.device().nodeGuid());
        row("PCI address", found.device().pciAddress().orElse("none (not a PCI device, or sysfs doesn't tell)"));
        row(
                "NUMA node",
                found.device().numaNode().isPresent()
                        ? Integer.toString(found.device().numaNode().getAsInt())
                        : "unknown");
        row("netdev", netdev(device));
        row("uverbs node", uverbs(found));
        row("rdma_cm", rdmaCm(found.device().rdmaCm()));
        row("libibverbs", libibverbs(device));
        for (GidEntry entry : device.gids()) {
            row(
                    "GID " + entry.port() + "/" + entry.index(),
                    name(entry, found.device().nodeType()) + "  " + text(entry)
                            + (GidText.isLinkLocal(entry.gid())
                                    ? "  (link-local: not for traffic between hosts)"
                                    : ""));
        }
        text.append('\n');
    }

    private void node(NodeExplanation explanation) {
        text.append("node\n");
        row("RDMA netns", explanation.netnsMode().map(ExplainFormat::netnsMode).orElse("mode unknown"));
        row("compat_mode", compatMode(explanation.compatMode()));
        row("rdma_cm", explanation.rdmaCm().map(Path::toString).orElse("no /dev/infiniband/rdma_cm here"));
        for (SourceStatus status : explanation.sources()) {
            row(
                    name(status.source()),
                    status.problem().map(problem -> "unusable: " + problem).orElse("usable"));
        }
    }

    private static String netnsMode(NetnsMode mode) {
        return switch (mode) {
            case SHARED -> "shared";
            case EXCLUSIVE ->
                "exclusive: a pod can't use a device of another network namespace (rdma system set netns shared)";
        };
    }

    private static String compatMode(Optional<Boolean> mode) {
        return mode.map(compat -> compat ? "Y (RoCE-like)" : "N (iWARP)")
                .orElse("mode unknown: no such parameter of a loaded erdma module");
    }

    private static String health(DeviceHealth health) {
        return switch (health) {
            case DeviceHealth.Healthy healthy -> "healthy";
            case DeviceHealth.Unhealthy unhealthy -> "UNHEALTHY: " + unhealthy.reason();
        };
    }

    private static String driver(Device device, Optional<Boolean> compatMode) {
        String name = device.found().device().driver();
        return switch (device.driver()) {
            case OTHER -> name;
            case OUT_OF_TREE -> name + ", out-of-tree, compat_mode " + (compatMode.orElse(false) ? "Y" : "N");
            case MODE_UNKNOWN -> name + ", mode unknown (no compat_mode parameter, as with the kernel's own driver)";
        };
    }

    private static String nodeType(NodeType type) {
        return switch (type) {
            case CA -> "CA (RoCE or InfiniBand)";
            case RNIC -> "RNIC (iWARP)";
            case UNKNOWN, SWITCH, ROUTER, USNIC, USNIC_UDP, UNSPECIFIED -> type.name();
        };
    }

    private static String netdev(Device device) {
        return device.found()
                .device()
                .netdev()
                .map(netdev -> netdev.name() + ", MAC "
                        + netdev.mac().map(MacAddress::toString).orElse("unknown")
                        + device.link().map(ExplainFormat::state).orElse(", state unknown"))
                .orElse("none in this network namespace");
    }

    private static String state(Link link) {
        return (link.isUp() ? ", up" : ", down") + (link.hasCarrier() ? ", carrier" : ", no carrier") + ", MTU "
                + link.mtu();
    }

    private static String uverbs(Found found) {
        return found.device()
                .uverbs()
                .map(path -> path + (found.uverbsPresent() ? "" : ", which does not exist here"))
                .orElse("the kernel made none");
    }

    private static String rdmaCm(RdmaCmUse use) {
        return switch (use) {
            case REQUIRED -> "required (connections are made through RDMA_CM)";
            case IF_PRESENT -> "given to pods where it exists";
            case UNUSED -> "not given to pods (driver mode compat)";
        };
    }

    private static String libibverbs(Device device) {
        if (!device.found().inVerbs()) {
            return "does not list it: "
                    + device.found().missingFromVerbs().orElse("it may have appeared a moment ago; repeat");
        }
        return device.reading()
                .map(reading -> reading.problem().orElse("opens it"))
                .orElse("lists it, but it was not asked");
    }

    private void row(String label, String value) {
        text.append("  ")
                .append(label)
                .append(':')
                .repeat(' ', Math.max(1, VALUES - label.length() - 1))
                .append(TerminalText.escape(value))
                .append('\n');
    }

    /** Devices of which ibv_devinfo would not say a word, one line each. */
    static List<String> missing(List<Found> devices) {
        return devices.stream()
                .filter(found -> !found.inVerbs())
                .map(found -> found.device().name() + ": the kernel has it, but libibverbs does not list it: "
                        + found.missingFromVerbs().orElse("it may have appeared a moment ago; repeat"))
                .toList();
    }
}
