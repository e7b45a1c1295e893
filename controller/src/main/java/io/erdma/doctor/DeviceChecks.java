package io.erdma.doctor;

import io.erdma.device.RdmaCmUse;
import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Devices;
import io.erdma.doctor.Facts.Opening;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The RDMA devices themselves: known to kernel and library, openable, active. */
final class DeviceChecks {
    private static final int OPER_UNKNOWN = 0;
    private static final int OPER_UP = 6;

    private DeviceChecks() {}

    /** The rule for each chosen device, or one line that says why there is none to look at. */
    static List<Finding> each(Facts facts, Function<Device, Finding> rule) {
        return switch (facts.devices()) {
            case Fact.Unknown<Devices>(String why) -> List.of(Finding.skipped("the devices are not known: " + why));
            case Fact.Known<Devices>(Devices devices) -> {
                List<Device> ours = ours(facts, devices);
                yield ours.isEmpty()
                        ? List.of(Finding.skipped("there is no device"))
                        : ours.stream()
                                .map(device -> rule.apply(device).about(device.name()))
                                .toList();
            }
        };
    }

    /** A pod sees the node's devices and is concerned by those that it was granted. */
    static List<Device> ours(Facts facts, Devices devices) {
        return !facts.vantage().side().isPod()
                ? devices.selected()
                : devices.selected().stream()
                        .filter(device -> device.found().uverbsPresent())
                        .toList();
    }

    static List<Finding> granted(Facts facts) {
        return List.of(
                switch (facts.devices()) {
                    case Fact.Unknown<Devices>(String why) -> Finding.notSeen(why, "mount sysfs at /sys");
                    case Fact.Known<Devices>(Devices devices) -> {
                        List<Device> ours = ours(facts, devices);
                        yield ours.isEmpty()
                                ? Finding.fail(
                                                "no eRDMA device was granted to this pod, so NCCL uses TCP",
                                                "put aliyun/erdma: 1 among the limits of every container that trains, and of"
                                                        + " every replica of the job")
                                        .because(
                                                devices.selected().isEmpty()
                                                        ? "sysfs shows no such device of the node either"
                                                        : "the node has " + names(devices.selected())
                                                                + ", and /dev/infiniband holds none of their nodes")
                                : Finding.pass(ours.stream()
                                        .map(device -> device.name()
                                                + device.found()
                                                        .device()
                                                        .uverbs()
                                                        .map(node -> " (" + node + ")")
                                                        .orElse(""))
                                        .collect(Collectors.joining(", ")));
                    }
                });
    }

    static List<Finding> devices(Facts facts) {
        return List.of(
                switch (facts.devices()) {
                    case Fact.Unknown<Devices>(String why) ->
                        Finding.notSeen(why, "a driver may be hanging; the kernel log says more");
                    case Fact.Known<Devices>(Devices devices) -> judge(facts, devices);
                });
    }

    private static Finding judge(Facts facts, Devices devices) {
        if (devices.all().isEmpty()) {
            return Finding.fail(
                            "the kernel has no RDMA device",
                            "make the checks above pass first; a driver that is loaded and bound makes erdma_0")
                    .because(devices.verbsProblem().stream().toList());
        }
        if (devices.selected().isEmpty()) {
            return Finding.fail(
                            "none of the RDMA devices " + names(devices.all()) + " is chosen",
                            "if one of them is meant, say so with --device-selector, here and to the agent")
                    .because(devices.all().stream()
                            .map(device -> device.name() + ": " + device.found().why())
                            .toList());
        }
        List<Device> ours = ours(facts, devices);
        List<Device> missing =
                ours.stream().filter(device -> !device.found().inVerbs()).toList();
        if (missing.isEmpty()) {
            return Finding.pass("kernel and libibverbs know " + names(ours.isEmpty() ? devices.selected() : ours));
        }
        String statement = "libibverbs does not list " + names(missing) + ", which the kernel has";
        List<String> reasons = missing.stream()
                .map(device -> device.name() + ": "
                        + device.found().missingFromVerbs().orElse("it may have appeared a moment ago"))
                .toList();
        return facts.vantage().side().isPod()
                ? Finding.fail(statement, "mend what the next lines say; NCCL finds what libibverbs lists")
                        .because(reasons)
                : Finding.warn(
                                statement,
                                "mend what the next lines say; the agent goes on by netlink and sysfs meanwhile")
                        .because(reasons);
    }

    private static String names(List<Device> devices) {
        return devices.stream().map(Device::name).collect(Collectors.joining(", "));
    }

    /** R16: told by netlink itself, since the rdma tool of many distributions is too old to print it. */
    static List<Finding> netnsMode(Facts facts) {
        boolean anyDevice = facts.devices()
                .content()
                .map(devices -> !devices.all().isEmpty())
                .orElse(true);
        return List.of(
                switch (facts.netnsMode()) {
                    case Fact.Unknown<NetnsMode>(String why) ->
                        anyDevice
                                ? Finding.notSeen(
                                        "RDMA netlink does not tell it: " + why,
                                        "load ib_core, or run where netlink sockets of the family RDMA are allowed")
                                : Finding.skipped("no RDMA device: " + why);
                    case Fact.Known<NetnsMode>(NetnsMode mode) ->
                        switch (mode) {
                            case SHARED -> Finding.pass("shared");
                            case EXCLUSIVE ->
                                Finding.fail(
                                        "exclusive: a pod can't use a device of another network namespace",
                                        "rdma system set netns shared. The kernel refuses that while there are other network"
                                                + " namespaces; then put 'options ib_core netns_mode=1' into /etc/modprobe.d"
                                                + " and restart the node.");
                        };
                });
    }

    static List<Finding> uverbsNode(Facts facts) {
        return each(facts, device -> {
            Found found = device.found();
            Optional<Path> node = found.device().uverbs();
            if (node.isEmpty()) {
                return Finding.fail("the kernel made none", "modprobe ib_uverbs");
            }
            if (!found.uverbsPresent()) {
                return Finding.fail(
                        node.get() + " is missing",
                        "is udev running, and is the host's /dev mounted here? The kernel knows the device's node.");
            }
            return switch (device.opening()) {
                case Opening.Opened _ -> Finding.pass(node.get() + " opens");
                case Opening.NotTried _ ->
                    Finding.notSeenAndNotNeeded(
                            node.get() + " exists; libibverbs does not list the device, so it was not opened");
                case Opening.Failed(String why, boolean refused) ->
                    refused && !facts.vantage().side().isPod()
                            ? Finding.notSeen(
                                            node.get() + " exists, and this process may not open it",
                                            "run this as root on the node or in a privileged container")
                                    .because(why)
                            : Finding.fail(
                                            node.get() + " exists, and can't be opened",
                                            refused
                                                    ? "request the resource aliyun/erdma instead of mounting /dev/infiniband:"
                                                            + " only the kubelet's grant opens the node"
                                                    : "see the kernel log; if the device is failing, load its driver again")
                                    .because(why);
            };
        });
    }

    static List<Finding> rdmaCm(Facts facts) {
        Optional<Devices> devices = facts.devices().content();
        List<Device> needing = devices.map(all -> ours(facts, all)).orElse(List.of()).stream()
                .filter(device -> device.found().device().rdmaCm() == RdmaCmUse.REQUIRED)
                .toList();
        if (needing.isEmpty()) {
            return List.of(Finding.skipped("no device needs it in the mode in force"));
        }
        if (devices.get().rdmaCm()) {
            return List.of(Finding.pass("/dev/infiniband/rdma_cm exists, which iWARP needs"));
        }
        return List.of(Finding.fail(
                "/dev/infiniband/rdma_cm is missing, which " + names(needing) + " needs as iWARP device",
                facts.vantage().side().isPod()
                        ? "the agent grants it with the device in driver mode default: start the pod again once the node has it"
                        : "modprobe rdma_ucm"));
    }

    static List<Finding> port(Facts facts) {
        return each(facts, device -> {
            if (device.portState().isEmpty()) {
                return Finding.notSeen(
                        "no source tells its state: " + device.portProblem().orElse("none answered"),
                        "a driver that does not answer leaves its traces in the kernel log");
            }
            PortState state = device.portState().get();
            List<String> evidence = new ArrayList<>();
            evidence.add("port 1 is " + state
                    + device.portSource().map(source -> ", says " + source).orElse(""));
            device.link().map(DeviceChecks::describe).ifPresent(evidence::add);
            Optional<Link> link = device.link();
            String on = link.map(one -> " on " + one.name()).orElse("");
            if (link.isPresent() && !link.get().isUp()) {
                return Finding.fail(
                                state + on + ", which is down",
                                "ip link set " + link.get().name() + " up")
                        .because(evidence);
            }
            if (link.isPresent() && !carries(link.get())) {
                return Finding.fail(
                                state + on + ", which has no carrier",
                                "is the ERI attached and InUse? Its other side is the cloud's network.")
                        .because(evidence);
            }
            if (state == PortState.ACTIVE) {
                return Finding.pass("ACTIVE" + on).because(evidence);
            }
            return Finding.fail(
                            state + on,
                            link.isPresent()
                                    ? "the interface is well, so the driver's own state is at fault: set the interface down and"
                                            + " up again, and see the kernel log"
                                    : "NCCL skips the device; bring its interface up on the node")
                    .because(evidence);
        });
    }

    private static boolean carries(Link link) {
        return link.hasCarrier() && (link.operState() == OPER_UP || link.operState() == OPER_UNKNOWN);
    }

    private static String describe(Link link) {
        return link.name() + " is " + (link.isUp() ? "up" : "down") + (carries(link) ? ", carrier" : ", no carrier")
                + ", MTU " + link.mtu();
    }
}
