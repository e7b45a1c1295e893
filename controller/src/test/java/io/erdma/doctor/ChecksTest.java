package io.erdma.doctor;

import static io.erdma.doctor.Situation.PRIMARY;
import static io.erdma.doctor.Situation.SECONDARY;
import static io.erdma.doctor.Situation.address;
import static io.erdma.doctor.Situation.device;
import static io.erdma.doctor.Situation.found;
import static io.erdma.doctor.Situation.kernel;
import static io.erdma.doctor.Situation.libraries;
import static io.erdma.doctor.Situation.link;
import static io.erdma.doctor.Situation.module;
import static io.erdma.doctor.Situation.route;
import static io.erdma.doctor.Situation.with;
import static io.erdma.doctor.Verdict.FAIL;
import static io.erdma.doctor.Verdict.NOT_SEEN;
import static io.erdma.doctor.Verdict.PASS;
import static io.erdma.doctor.Verdict.SKIPPED;
import static io.erdma.doctor.Verdict.WARN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.ErdmaModule;
import io.erdma.doctor.Facts.Gid;
import io.erdma.doctor.Facts.GidKind;
import io.erdma.doctor.Facts.Kernel;
import io.erdma.doctor.Facts.KubeletSocket;
import io.erdma.doctor.Facts.Libraries;
import io.erdma.doctor.Facts.Locking;
import io.erdma.doctor.Facts.MemoryLimit;
import io.erdma.doctor.Facts.Offer;
import io.erdma.doctor.Facts.Opening;
import io.erdma.doctor.Facts.PciFunction;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.kube.TerwayWhitelist;
import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackCause;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.UsageSnapshot;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each check over the situations that it tells apart. */
class ChecksTest {
    private static final Path SOCKET = Path.of("/var/lib/kubelet/device-plugins/kubelet.sock");

    /** A change to the healthy situation, the check, what it then says, and words of its statement or next step. */
    private static Arguments when(
            String name, Consumer<Situation> change, String check, Verdict verdict, String... words) {
        return arguments(name, change, check, verdict, List.of(words));
    }

    static Stream<Arguments> driver() {
        return Stream.of(
                when("a function", s -> {}, "pci-function", PASS, "1ded:107f at 0000:00:07.0"),
                when(
                        "no function",
                        s -> s.functions = Fact.known(List.of()),
                        "pci-function",
                        FAIL,
                        "no 1ded:107f",
                        "attach an ERI"),
                when(
                        "no function, and devices of another driver are chosen",
                        s -> {
                            s.functions = Fact.known(List.of());
                            s.devices.set(0, with(device("rxe_0"), found("rxe_0", "rdma_rxe", NodeType.CA)));
                        },
                        "pci-function",
                        SKIPPED,
                        "rxe_0 (rdma_rxe)",
                        "not eRDMA"),
                when(
                        "no PCI bus to look at",
                        s -> s.functions = Fact.unknown("no /sys/bus/pci/devices"),
                        "pci-function",
                        NOT_SEEN,
                        "no /sys/bus/pci/devices"),
                when("loaded and bound", s -> {}, "driver", PASS, "erdma 0.2.37, out-of-tree, on kernel 6.1.0"),
                when(
                        "the kernel's own",
                        s -> s.kernel = kernel(Optional.of(module(Optional.empty(), false)), false),
                        "driver",
                        PASS,
                        "the kernel's own"),
                when(
                        "not loaded",
                        s -> s.kernel = kernel(Optional.empty(), false),
                        "driver",
                        FAIL,
                        "not loaded",
                        "modprobe erdma"),
                when(
                        "not even installed",
                        s -> s.kernel = Fact.known(new Kernel("6.1.0", Optional.empty(), Optional.of(false), false)),
                        "driver",
                        FAIL,
                        "not loaded",
                        "install Alibaba Cloud's eRDMA driver"),
                when(
                        "loaded, and not bound to the function",
                        s -> s.functions = Fact.known(List.of(new PciFunction("0000:00:07.0", Optional.empty()))),
                        "driver",
                        FAIL,
                        "not bound to 0000:00:07.0",
                        "dmesg"),
                when(
                        "nothing to drive",
                        s -> {
                            s.functions = Fact.known(List.of());
                            s.kernel = kernel(Optional.empty(), false);
                            s.devices.clear();
                        },
                        "driver",
                        SKIPPED),
                when("no sysfs", s -> s.kernel = Fact.unknown("there is no /sys"), "driver", NOT_SEEN, "no /sys"));
    }

    static Stream<Arguments> mode() {
        Consumer<Situation> iwarp = s -> {
            s.kernel = kernel(Optional.of(module(Optional.of(false), true)), false);
            s.devices.set(0, with(device("erdma_0"), found("erdma_0", "erdma", NodeType.RNIC)));
        };
        Consumer<Situation> inTreeIwarp = s -> {
            s.kernel = kernel(Optional.of(module(Optional.empty(), false)), false);
            s.devices.set(0, with(device("erdma_0"), found("erdma_0", "erdma", NodeType.RNIC)));
        };
        return Stream.of(
                when("compat, nobody asked", s -> {}, "driver-mode", PASS, "compat_mode=Y", "NCCL can use it"),
                when(
                        "compat, as wanted",
                        s -> s.mode = Optional.of(DriverMode.OFED),
                        "driver-mode",
                        PASS,
                        "as 'ofed' wants"),
                when(
                        "compat in force, default wanted",
                        s -> s.mode = Optional.of(DriverMode.DEFAULT),
                        "driver-mode",
                        FAIL,
                        "'default' wants iWARP",
                        "compat_mode=N"),
                when(
                        "iWARP in force, compat wanted",
                        iwarp.andThen(s -> s.mode = Optional.of(DriverMode.COMPAT)),
                        "driver-mode",
                        FAIL,
                        "'compat' wants RoCE-compatible",
                        "rmmod erdma; modprobe erdma compat_mode=Y"),
                when(
                        "the kernel's own driver can't be switched",
                        inTreeIwarp.andThen(s -> s.mode = Optional.of(DriverMode.OFED)),
                        "driver-mode",
                        FAIL,
                        "the device's type tells",
                        "install Alibaba Cloud's driver"),
                when("iWARP, no GPU", iwarp, "driver-mode", PASS, "NCCL can't use it"),
                when(
                        "iWARP beside a GPU",
                        iwarp.andThen(s -> s.kernel = kernel(Optional.of(module(Optional.of(false), true)), true)),
                        "driver-mode",
                        WARN,
                        "NCCL can't use it",
                        "ofed or compat"),
                when(
                        "iWARP in a training pod",
                        iwarp.andThen(s -> {
                            s.side = Side.POD;
                            s.nccl.put("NCCL_DEBUG", "INFO");
                        }),
                        "driver-mode",
                        WARN,
                        "NCCL can't use it"),
                when(
                        "the kernel's own driver without a device",
                        inTreeIwarp.andThen(s -> s.devices.clear()),
                        "driver-mode",
                        NOT_SEEN,
                        "no parameter compat_mode"),
                when(
                        "no driver",
                        s -> {
                            s.kernel = kernel(Optional.empty(), false);
                            s.devices.clear();
                        },
                        "driver-mode",
                        SKIPPED));
    }

    static Stream<Arguments> library() {
        return Stream.of(
                when("44 with provider", s -> {}, "verbs-library", PASS, "1.14.44.0", "liberdma-rdmav34.so"),
                when(
                        "39 without",
                        s -> s.libraries = libraries("1.14.39.0", false),
                        "verbs-library",
                        WARN,
                        "no erdma provider",
                        "39 is too old: install 43"),
                when(
                        "39 without, in a pod",
                        s -> {
                            s.side = Side.POD;
                            s.libraries = libraries("1.14.39.0", false);
                        },
                        "verbs-library",
                        FAIL,
                        "39 is too old"),
                when(
                        "39 of Alibaba Cloud's packages, with provider",
                        s -> s.libraries = libraries("1.14.39.0", true),
                        "verbs-library",
                        PASS,
                        "1.14.39.0"),
                when(
                        "44, the provider's package is missing",
                        s -> s.libraries = libraries("1.14.44.0", false),
                        "verbs-library",
                        WARN,
                        "install ibverbs-providers 43"),
                when(
                        "no library",
                        s -> s.libraries = new Libraries(Optional.empty(), Optional.empty(), Optional.empty()),
                        "verbs-library",
                        WARN,
                        "goes on by netlink"),
                when(
                        "no library in a pod",
                        s -> {
                            s.side = Side.POD;
                            s.libraries = new Libraries(Optional.empty(), Optional.empty(), Optional.empty());
                        },
                        "verbs-library",
                        FAIL,
                        "NCCL finds no device"),
                when(
                        "no provider, and none is needed",
                        s -> {
                            s.libraries = libraries("1.14.44.0", false);
                            s.devices.set(0, with(device("rxe_0"), found("rxe_0", "rdma_rxe", NodeType.CA)));
                        },
                        "verbs-library",
                        PASS,
                        "no erdma provider"));
    }

    static Stream<Arguments> devices() {
        return Stream.of(
                when("known to both", s -> {}, "rdma-devices", PASS, "kernel and libibverbs know erdma_0"),
                when("none", s -> s.devices.clear(), "rdma-devices", FAIL, "no RDMA device"),
                when(
                        "none chosen",
                        s -> s.devices.set(
                                0,
                                with(
                                        device("mlx5_0"),
                                        Situation.notSelected(found("mlx5_0", "mlx5_core", NodeType.CA)))),
                        "rdma-devices",
                        FAIL,
                        "none of the RDMA devices mlx5_0 is chosen",
                        "mlx5_core is not chosen by any device selector"),
                when(
                        "R06: another maker's card that libibverbs does not list is no concern",
                        s -> s.devices.add(with(
                                device("mlx5_0"),
                                Situation.notSelected(
                                        Situation.withoutNode(found("mlx5_0", "mlx5_core", NodeType.CA))))),
                        "rdma-devices",
                        PASS,
                        "know erdma_0"),
                when(
                        "libibverbs leaves it out",
                        s -> s.devices.set(
                                0,
                                with(
                                        device("erdma_0"),
                                        Situation.missingFromVerbs(
                                                found("erdma_0", "erdma", NodeType.CA), "the provider is missing"))),
                        "rdma-devices",
                        WARN,
                        "does not list erdma_0",
                        "the provider is missing"),
                when(
                        "libibverbs leaves it out in a pod",
                        s -> {
                            s.side = Side.POD;
                            s.devices.set(
                                    0,
                                    with(
                                            device("erdma_0"),
                                            Situation.missingFromVerbs(
                                                    found("erdma_0", "erdma", NodeType.CA),
                                                    "the provider is missing")));
                        },
                        "rdma-devices",
                        FAIL,
                        "the provider is missing"),
                when(
                        "nobody answers",
                        s -> s.devicesInstead = Optional.of(Fact.unknown("did not answer in time")),
                        "rdma-devices",
                        NOT_SEEN,
                        "did not answer in time"),
                when("R16: shared", s -> {}, "netns-mode", PASS, "shared"),
                when(
                        "R16: exclusive",
                        s -> s.netns = Fact.known(NetnsMode.EXCLUSIVE),
                        "netns-mode",
                        FAIL,
                        "exclusive",
                        "rdma system set netns shared"),
                when(
                        "R16: netlink refused",
                        s -> s.netns = Fact.unknown("EPERM (1)"),
                        "netns-mode",
                        NOT_SEEN,
                        "EPERM (1)"),
                when(
                        "no RDMA core",
                        s -> {
                            s.netns = Fact.unknown("EPROTONOSUPPORT (93)");
                            s.devices.clear();
                        },
                        "netns-mode",
                        SKIPPED),
                when(
                        "granted in a pod",
                        s -> s.side = Side.POD,
                        "granted-devices",
                        PASS,
                        "erdma_0 (/dev/infiniband/uverbs0)"),
                when(
                        "nothing granted to a pod",
                        s -> {
                            s.side = Side.POD;
                            s.devices.set(
                                    0,
                                    with(
                                            device("erdma_0"),
                                            Situation.withoutNode(found("erdma_0", "erdma", NodeType.CA))));
                        },
                        "granted-devices",
                        FAIL,
                        "NCCL uses TCP",
                        "aliyun/erdma: 1"),
                when("opens", s -> {}, "uverbs-node", PASS, "/dev/infiniband/uverbs0 opens"),
                when(
                        "missing",
                        s -> s.devices.set(
                                0,
                                with(device("erdma_0"), Situation.withoutNode(found("erdma_0", "erdma", NodeType.CA)))),
                        "uverbs-node",
                        FAIL,
                        "uverbs0 is missing"),
                when(
                        "refused on the node",
                        s -> s.devices.set(0, with(device("erdma_0"), new Opening.Failed("EACCES (13)", true))),
                        "uverbs-node",
                        NOT_SEEN,
                        "may not open it",
                        "as root",
                        "EACCES (13)"),
                when(
                        "refused in a pod",
                        s -> {
                            s.side = Side.POD;
                            s.devices.set(0, with(device("erdma_0"), new Opening.Failed("EPERM (1)", true)));
                        },
                        "uverbs-node",
                        FAIL,
                        "request the resource aliyun/erdma"),
                when(
                        "sick",
                        s -> s.devices.set(0, with(device("erdma_0"), new Opening.Failed("EIO (5)", false))),
                        "uverbs-node",
                        FAIL,
                        "EIO (5)",
                        "kernel log"),
                when(
                        "not tried",
                        s -> s.devices.set(0, with(device("erdma_0"), new Opening.NotTried())),
                        "uverbs-node",
                        NOT_SEEN,
                        "was not opened"),
                when("no device needs rdma_cm", s -> s.rdmaCm = false, "rdma-cm", SKIPPED),
                when(
                        "iWARP has it",
                        s -> s.devices.set(0, with(device("erdma_0"), found("erdma_0", "erdma", NodeType.RNIC))),
                        "rdma-cm",
                        PASS),
                when(
                        "iWARP lacks it",
                        s -> {
                            s.rdmaCm = false;
                            s.devices.set(0, with(device("erdma_0"), found("erdma_0", "erdma", NodeType.RNIC)));
                        },
                        "rdma-cm",
                        FAIL,
                        "erdma_0 needs",
                        "modprobe rdma_ucm"));
    }

    static Stream<Arguments> ports() {
        return Stream.of(
                when("active", s -> {}, "port", PASS, "ACTIVE on eth1"),
                when(
                        "its interface is down",
                        s -> s.devices.set(
                                0,
                                with(
                                        device("erdma_0"),
                                        Optional.of(PortState.DOWN),
                                        Optional.of(link(SECONDARY, "eth1", false, 1500)))),
                        "port",
                        FAIL,
                        "DOWN on eth1, which is down",
                        "ip link set eth1 up",
                        "port 1 is DOWN, says verbs"),
                when(
                        "the out-of-tree driver does not notice that the carrier is lost",
                        s -> s.devices.set(
                                0,
                                with(
                                        device("erdma_0"),
                                        Optional.of(PortState.ACTIVE),
                                        Optional.of(Situation.withoutCarrier(link(SECONDARY, "eth1", true, 1500))))),
                        "port",
                        FAIL,
                        "no carrier",
                        "attached and InUse"),
                when(
                        "down on an interface that is well",
                        s -> s.devices.set(
                                0,
                                with(
                                        device("erdma_0"),
                                        Optional.of(PortState.DOWN),
                                        Optional.of(link(SECONDARY, "eth1", true, 1500)))),
                        "port",
                        FAIL,
                        "DOWN on eth1",
                        "driver's own state"),
                when(
                        "in a pod, which has no such interface",
                        s -> {
                            s.side = Side.POD;
                            s.devices.set(0, with(device("erdma_0"), Optional.of(PortState.DOWN), Optional.empty()));
                        },
                        "port",
                        FAIL,
                        "NCCL skips the device"),
                when(
                        "silent",
                        s -> s.devices.set(0, with(device("erdma_0"), Optional.empty(), Optional.empty())),
                        "port",
                        NOT_SEEN,
                        "has not answered for 3 s"));
    }

    static Stream<Arguments> network() {
        return Stream.of(
                when("bound", s -> {}, "interface", PASS, "eth1, hardware address 00:16:3e:00:00:03"),
                when(
                        "taken by Terway",
                        s -> s.devices.set(0, with(device("erdma_0"), Optional.of(PortState.DOWN), Optional.empty())),
                        "interface",
                        FAIL,
                        "none with hardware address 00:16:3e:00:00:03",
                        "Terway's whitelist",
                        "interfaces here: eth0, eth1"),
                when(
                        "links unreadable",
                        s -> {
                            s.devices.set(0, with(device("erdma_0"), Optional.of(PortState.DOWN), Optional.empty()));
                            s.networkInstead = Optional.of(Fact.unknown("EPERM (1)"));
                        },
                        "interface",
                        NOT_SEEN,
                        "EPERM (1)"),
                when("jumbo", s -> {}, "mtu", PASS, "4096 bytes on eth1 with 8500"),
                when(
                        "1500",
                        s -> s.devices.set(0, Situation.withMtu(device("erdma_0"), 1500, 1024)),
                        "mtu",
                        PASS,
                        "1024 bytes on eth1 with 1500",
                        "jumbo frames"),
                when(
                        "jumbo that the driver has not taken over",
                        s -> s.devices.set(0, Situation.withMtu(device("erdma_0"), 8500, 1024)),
                        "mtu",
                        WARN,
                        "room for 4096",
                        "down and up"),
                when(
                        "soft-RoCE takes its headers off before it rounds",
                        s -> s.devices.set(0, Situation.withMtu(device("erdma_0"), 4150, 2048)),
                        "mtu",
                        PASS),
                when(
                        "too small for the packets",
                        s -> s.devices.set(0, Situation.withMtu(device("erdma_0"), 1000, 1024)),
                        "mtu",
                        WARN,
                        "do not fit"),
                when("addressed", s -> {}, "address", PASS, "10.0.0.4/24 on eth1"),
                when(
                        "R14: IPv6 alone is an address",
                        s -> s.addresses = List.of(address(SECONDARY, "2001:db8::4/64")),
                        "address",
                        PASS,
                        "2001:db8"),
                when(
                        "no address",
                        s -> s.addresses = List.of(address(PRIMARY, "10.0.0.3/24")),
                        "address",
                        WARN,
                        "eth1 has none"),
                when(
                        "unreadable",
                        s -> s.networkInstead = Optional.of(Fact.unknown("EPERM (1)")),
                        "address",
                        NOT_SEEN,
                        "EPERM (1)"),
                when("the primary wins", s -> {}, "routes", PASS, "win over eth1"),
                when(
                        "the eRDMA interface wins",
                        s -> s.routes.add(route("0.0.0.0/0", SECONDARY, 50)),
                        "routes",
                        FAIL,
                        "eth1 takes the node's own traffic",
                        "default: metric 50 on eth1, 100 on eth0; made by a network manager",
                        "higher metric"),
                when(
                        "equal metrics",
                        s -> s.routes.add(route("10.0.0.0/24", SECONDARY, 100)),
                        "routes",
                        FAIL,
                        "10.0.0.0/24: metric 100 on eth1, 100 on eth0"),
                when(
                        "nowhere else to go",
                        s -> s.routes = List.of(route("10.9.0.0/24", SECONDARY, 0)),
                        "routes",
                        PASS,
                        "1 route by eth1"),
                when("an address without a route", s -> s.routes = List.of(), "routes", WARN, "no route"),
                when(
                        "neither",
                        s -> {
                            s.routes = List.of();
                            s.addresses = List.of();
                        },
                        "routes",
                        SKIPPED),
                when(
                        "unreadable",
                        s -> s.networkInstead = Optional.of(Fact.unknown("EPERM (1)")),
                        "routes",
                        NOT_SEEN,
                        "EPERM (1)"));
    }

    static Stream<Arguments> reservedPorts() {
        return Stream.of(
                when(
                        "compat against the default range",
                        s -> {},
                        "reserved-ports",
                        WARN,
                        "30608-30623",
                        "30000-32767",
                        "--service-node-port-range"),
                when(
                        "compat against another range",
                        s -> s.nodePorts = new PortRange(31000, 32767),
                        "reserved-ports",
                        PASS,
                        "outside"),
                when(
                        "the last port of the range is enough",
                        s -> s.nodePorts = new PortRange(30000, 30608),
                        "reserved-ports",
                        WARN),
                when("the port below is not", s -> s.nodePorts = new PortRange(30000, 30607), "reserved-ports", PASS),
                when("nor the one behind", s -> s.nodePorts = new PortRange(30624, 32767), "reserved-ports", PASS),
                when(
                        "moved away by the driver's parameter",
                        s -> s.kernel = kernel(
                                Optional.of(new ErdmaModule(
                                        Optional.empty(), Optional.of(true), true, OptionalInt.of(20000))),
                                false),
                        "reserved-ports",
                        PASS,
                        "20000-20015"),
                when(
                        "iWARP reserves none",
                        s -> s.kernel = kernel(Optional.of(module(Optional.of(false), true)), false),
                        "reserved-ports",
                        SKIPPED),
                when(
                        "nor does the kernel's own driver",
                        s -> s.kernel = kernel(Optional.of(module(Optional.empty(), false)), false),
                        "reserved-ports",
                        SKIPPED));
    }

    private static Fact<Locking> mayLock(long bytes, boolean exempt) {
        return Fact.known(new Locking(new MemoryLimit(OptionalLong.of(bytes)), exempt));
    }

    static Stream<Arguments> memory() {
        Consumer<Situation> pod = s -> s.side = Side.POD;
        return Stream.of(
                when("unlimited", pod, "locked-memory", PASS, "unlimited"),
                when(
                        "the default of a container",
                        pod.andThen(s -> s.locking = mayLock(65_536, false)),
                        "locked-memory",
                        FAIL,
                        "64 KiB",
                        "LimitMEMLOCK=infinity"),
                when(
                        "with IPC_LOCK",
                        pod.andThen(s -> s.locking = mayLock(65_536, true)),
                        "locked-memory",
                        PASS,
                        "IPC_LOCK"),
                when(
                        "much, and not all",
                        pod.andThen(s -> s.locking = mayLock(1L << 33, false)),
                        "locked-memory",
                        WARN,
                        "8192 MiB"),
                when("on the node", s -> s.locking = mayLock(65_536, false), "locked-memory", PASS),
                when("unreadable", s -> s.locking = Fact.unknown("no limits"), "locked-memory", NOT_SEEN),
                when("services unlimited", s -> {}, "service-memory", PASS, "containerd: unlimited"),
                when(
                        "containerd limited",
                        s -> s.services = Fact.known(Map.of("containerd", new MemoryLimit(OptionalLong.of(8 << 20)))),
                        "service-memory",
                        WARN,
                        "from containerd",
                        "containerd: 8 MiB"),
                when(
                        "the kubelet's own limit is not inherited",
                        s -> s.services = Fact.known(Map.of("kubelet", new MemoryLimit(OptionalLong.of(8 << 20)))),
                        "service-memory",
                        PASS,
                        "kubelet: 8 MiB"),
                when("no service visible", s -> s.services = Fact.known(Map.of()), "service-memory", NOT_SEEN));
    }

    static Stream<Arguments> kubelet() {
        return Stream.of(
                when("takes connections", s -> {}, "kubelet-socket", PASS, "kubelet.sock"),
                when(
                        "missing",
                        s -> s.kubelet = Fact.known(new KubeletSocket.Missing(SOCKET)),
                        "kubelet-socket",
                        FAIL,
                        "kubelet.sock is missing",
                        "systemctl status kubelet"),
                when(
                        "left behind by a kubelet that ended",
                        s -> s.kubelet = Fact.known(new KubeletSocket.Refuses(SOCKET, "Connection refused")),
                        "kubelet-socket",
                        FAIL,
                        "takes no connection",
                        "Connection refused"),
                when(
                        "no cluster",
                        s -> s.kubelet = Fact.unknown("no /var/lib/kubelet/device-plugins here"),
                        "kubelet-socket",
                        NOT_SEEN,
                        "--kubelet-root-dir"),
                when("ready", s -> {}, "agent", PASS, "registered and ready"),
                when(
                        "not ready",
                        s -> s.agent = new AgentAnswer.Answered(
                                "http://127.0.0.1:9470/readyz", 503, List.of("not registered with the kubelet")),
                        "agent",
                        FAIL,
                        "not ready",
                        "not registered with the kubelet"),
                when(
                        "absent",
                        s -> s.agent = new AgentAnswer.Silent("http://127.0.0.1:9470/readyz", "Connection refused"),
                        "agent",
                        FAIL,
                        "no agent answers",
                        "Connection refused"),
                when("not to be asked", s -> s.agent = new AgentAnswer.NotAsked("empty"), "agent", SKIPPED));
    }

    static Stream<Arguments> cluster() {
        return Stream.of(
                when(
                        "Events are written",
                        planning(new Plan(PlanState.INFO, "cluster: 3 Events written, 0 dropped")),
                        "events",
                        PASS,
                        "3 Events written"),
                when(
                        "a right is missing",
                        planning(new Plan(
                                PlanState.WARNING, "cluster: 0 Events written, 1 dropped; cannot write an Event: 403")),
                        "events",
                        WARN,
                        "cannot write an Event: 403",
                        "--events"),
                when(
                        "a right is missing, which is no plan",
                        planning(new Plan(PlanState.WARNING, "cluster: cannot write an Event: 403")),
                        "agent-plans",
                        PASS),
                when("an older agent", planning(new Plan(PlanState.INFO, "driver: in force ofed")), "events", SKIPPED),
                when("no agent", s -> s.agent = new AgentAnswer.NotAsked("empty"), "events", SKIPPED),
                when("plans unreadable", s -> s.plans = Fact.unknown("refused"), "events", NOT_SEEN),
                when(
                        "far from the budget",
                        queuePairs(899, Map.of("erdma_0", 1000)),
                        "queue-pairs",
                        PASS,
                        "899 of 1000"),
                when(
                        "near the budget",
                        queuePairs(900, Map.of("erdma_0", 1000)),
                        "queue-pairs",
                        WARN,
                        "900 of 1000",
                        "ENOMEM",
                        "erdma stat --pods"),
                when("a budget of 0 is none", queuePairs(7, Map.of("erdma_0", 0)), "queue-pairs", PASS, "not known"),
                when("no budget known", queuePairs(7, Map.of()), "queue-pairs", PASS, "7 in use", "not known"),
                when(
                        "no queue pairs known",
                        s -> s.use = Fact.known(new UsageSnapshot(
                                Instant.EPOCH, List.of(), List.of(), List.of(), List.of(), List.of())),
                        "queue-pairs",
                        SKIPPED),
                when("no device", s -> s.devices.clear(), "queue-pairs", SKIPPED),
                when("use unknown", s -> s.use = Fact.unknown("no netlink"), "queue-pairs", SKIPPED));
    }

    private static Consumer<Situation> queuePairs(int used, Map<String, Integer> budgets) {
        return s -> {
            s.use = Fact.known(new UsageSnapshot(
                    Instant.EPOCH,
                    List.of(new UsageSnapshot.DeviceUse("erdma_0", used, 0, OptionalInt.empty())),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of()));
            s.queuePairBudgets = Fact.known(budgets);
        };
    }

    private static Consumer<Situation> planning(Plan... plans) {
        return s -> s.plans = Fact.known(List.of(plans));
    }

    static Stream<Arguments> plans() {
        Plan pending = new Plan(PlanState.PENDING, "driver: switch from default to ofed pending: 3 users");
        Plan problem = new Plan(PlanState.PROBLEM, "driver: modprobe failed");
        return Stream.of(
                when("none", s -> {}, "agent-plans", PASS, "nothing is planned"),
                when(
                        "a switch that waits",
                        planning(pending),
                        "agent-plans",
                        WARN,
                        "pending: 3 users",
                        "let the pods that use the devices end"),
                when(
                        "a change to make",
                        planning(new Plan(PlanState.PLANNED, "interfaces: set link eth1 up")),
                        "agent-plans",
                        WARN,
                        "set link eth1 up",
                        "settings"),
                when(
                        "a warning",
                        planning(new Plan(PlanState.WARNING, "interfaces: eth1: undone")),
                        "agent-plans",
                        WARN,
                        "eth1: undone"),
                when(
                        "what failed weighs most, and hides nothing",
                        planning(problem, pending),
                        "agent-plans",
                        FAIL,
                        "modprobe failed",
                        "pending: 3 users"),
                when(
                        "an older agent",
                        s -> s.plans = Fact.unknown("this agent is older"),
                        "agent-plans",
                        NOT_SEEN,
                        "older"),
                when("not to be asked", s -> s.agent = new AgentAnswer.NotAsked("empty"), "agent-plans", SKIPPED));
    }

    static Stream<Arguments> variables() {
        return Stream.of(
                when("none", s -> {}, "nccl-variables", SKIPPED),
                when(
                        "the index of a GID is judged by the table",
                        s -> s.nccl.put("NCCL_IB_GID_INDEX", "1"),
                        "nccl-variables",
                        SKIPPED),
                when(
                        "one that is well",
                        s -> s.nccl.put("NCCL_SOCKET_IFNAME", "eth0"),
                        "nccl-variables",
                        PASS,
                        "NCCL_SOCKET_IFNAME=eth0"),
                when(
                        "the seed's retries",
                        s -> s.nccl.put("NCCL_IB_RETRY_CNT", "10"),
                        "nccl-variables",
                        FAIL,
                        "NCCL_IB_RETRY_CNT=10: out of range",
                        "in the job's environment: use 7"),
                when(
                        "switched off",
                        s -> s.nccl.put("NCCL_IB_DISABLE", "1"),
                        "nccl-variables",
                        FAIL,
                        "NCCL uses TCP",
                        "unset it"),
                when(
                        "a device that the pod has not",
                        s -> {
                            s.side = Side.POD;
                            s.nccl.put("NCCL_IB_HCA", "=mlx5_0");
                        },
                        "nccl-variables",
                        FAIL,
                        "NCCL_IB_HCA==mlx5_0"),
                when(
                        "one for debugging",
                        s -> s.nccl.put("NCCL_ALGO", "Ring"),
                        "nccl-variables",
                        WARN,
                        "NCCL_ALGO=Ring: for debugging",
                        "leave it unset in production"));
    }

    @Test
    void namesWhoKeepsTheDriverInTheOtherMode() {
        Situation situation = new Situation();
        situation.mode = Optional.of(DriverMode.DEFAULT);
        situation.use = Situation.use(List.of(), container("train-0", new FallbackVerdict.Uses(1)));
        assertThat(situation.only("driver-mode").evidence())
                .containsExactly("default/train-0/pytorch holds 1 of erdma_0");
    }

    @Test
    void namesAVariableThatItDoesNotKnowWithoutItsValue() {
        Situation situation = new Situation();
        situation.nccl.put("NCCL_SOMETHING_OF_A_PLUGIN", "hunter2");
        assertThat(situation.only("nccl-variables").statement()).isEqualTo("NCCL_SOMETHING_OF_A_PLUGIN is set");
    }

    @Test
    void judgesEachVariableByItself() {
        Situation situation = new Situation();
        situation.nccl.putAll(Map.of(
                "NCCL_DEBUG", "INFO", "NCCL_IB_TIMEOUT", "23", "NCCL_IB_RETRY_CNT", "10", "NCCL_NET_GDR_LEVEL", "1"));
        assertThat(situation.all("nccl-variables")).extracting(Finding::verdict).containsExactly(PASS, FAIL, WARN);
    }

    private static UsageSnapshot.Finding container(String pod, FallbackVerdict verdict) {
        return new UsageSnapshot.Finding(new ContainerName("default", pod, "pytorch"), verdict, List.of());
    }

    static Stream<Arguments> pods() {
        Consumer<Situation> noKubelet = s -> s.kubelet = Fact.unknown("no kubelet here");
        return Stream.of(
                when("as offered", s -> {}, "allocatable", PASS, "aliyun/erdma: 200, as the agent offers"),
                when(
                        "the agent can't be asked",
                        s -> s.offer = Fact.unknown("refused"),
                        "allocatable",
                        PASS,
                        "aliyun/erdma: 200"),
                when(
                        "other than offered",
                        s -> s.allocatable = Fact.known(Map.of("erdma_0", 0)),
                        "allocatable",
                        FAIL,
                        "aliyun/erdma: 0, and the agent offers 200",
                        "start the agent's pod"),
                when(
                        "none, since none is healthy",
                        s -> {
                            s.offer = Fact.known(new Offer(0));
                            s.allocatable = Fact.known(Map.of());
                        },
                        "allocatable",
                        FAIL,
                        "stay Pending",
                        "make the devices healthy"),
                when(
                        "none, since nobody offers any",
                        s -> {
                            s.offer = Fact.unknown("refused");
                            s.agent = new AgentAnswer.Silent("http://127.0.0.1:9470/readyz", "refused");
                            s.allocatable = Fact.known(Map.of());
                        },
                        "allocatable",
                        FAIL,
                        "start the agent"),
                when(
                        "an old kubelet",
                        s -> s.allocatable = Fact.unknown("UNIMPLEMENTED"),
                        "allocatable",
                        NOT_SEEN,
                        "UNIMPLEMENTED"),
                when("no kubelet", noKubelet, "allocatable", SKIPPED),
                when("a cluster that is not asked", s -> {}, "terway", SKIPPED, "--node"),
                when("another plugin", s -> s.node = Optional.of("node-1"), "terway", SKIPPED, "no Terway"),
                when(
                        "a whitelist",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.terway = Fact.known(new TerwayWhitelist.Takes(Map.of("creator", "terway", "a", "b")));
                        },
                        "terway",
                        PASS,
                        "only network interfaces with the tags a=b, creator=terway"),
                when(
                        "no whitelist",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.terway = Fact.known(new TerwayWhitelist.TakesAll());
                        },
                        "terway",
                        WARN,
                        "eni_tag_filter"),
                when(
                        "no right to look",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.terway = Fact.unknown("forbidden (403)");
                        },
                        "terway",
                        NOT_SEEN,
                        "forbidden (403)"),
                when("no name to compare with", s -> {}, "node-object", SKIPPED, "no --node"),
                when(
                        "as here",
                        s -> s.node = Optional.of("node-1"),
                        "node-object",
                        PASS,
                        "node-1 has aliyun/erdma: 200, as this machine"),
                when(
                        "an old kubelet, and the agent's word",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.allocatable = Fact.unknown("UNIMPLEMENTED");
                        },
                        "node-object",
                        PASS,
                        "as this machine"),
                when(
                        "other than here",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.nodeObject = Fact.known(OptionalLong.of(400));
                        },
                        "node-object",
                        FAIL,
                        "node-1 has aliyun/erdma: 400, and this machine 200",
                        "is this machine"),
                when(
                        "unknown to the cluster",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.nodeObject = Fact.known(OptionalLong.empty());
                        },
                        "node-object",
                        FAIL,
                        "node-1 does not know aliyun/erdma"),
                when(
                        "nothing to give",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.nodeObject = Fact.known(OptionalLong.of(0));
                            s.allocatable = Fact.known(Map.of());
                        },
                        "node-object",
                        FAIL,
                        "stay Pending"),
                when(
                        "no access",
                        s -> {
                            s.node = Optional.of("node-1");
                            s.nodeObject = Fact.unknown("forbidden (403)");
                        },
                        "node-object",
                        NOT_SEEN,
                        "forbidden (403)",
                        "KUBECONFIG"),
                when("no pod", s -> {}, "pods", PASS, "no pod holds a share"),
                when(
                        "one that uses its device",
                        s -> s.use = Situation.use(List.of(), container("train-0", new FallbackVerdict.Uses(3))),
                        "pods",
                        PASS,
                        "default/train-0/pytorch (erdma_0): 3 queue pairs"),
                when(
                        "one that only asked for it",
                        s -> s.use = Situation.use(
                                List.of(), container("train-0", new FallbackVerdict.AsksOnly(Duration.ofMinutes(25)))),
                        "pods",
                        WARN,
                        "has run for 25 min without",
                        "over TCP",
                        "erdma doctor --pod default/train-0"),
                when(
                        "one whose cause was found",
                        s -> s.use = Situation.use(
                                List.of(),
                                new UsageSnapshot.Finding(
                                        new ContainerName("default", "train-0", "pytorch"),
                                        new FallbackVerdict.AsksOnly(Duration.ofMinutes(25)),
                                        List.of(new FallbackCause(
                                                FallbackCause.Kind.PROVIDER_MISSING,
                                                "the image has no provider",
                                                "install ibverbs-providers")))),
                        "pods",
                        WARN,
                        "over TCP",
                        "the image has no provider",
                        "install ibverbs-providers"),
                when(
                        "one that can't be judged is not accused",
                        s -> s.use = Situation.use(
                                List.of(),
                                container("train-0", new FallbackVerdict.NoVerdict("it has run for 5 s only"))),
                        "pods",
                        PASS,
                        "not judged, it has run for 5 s only"),
                when(
                        "one that waits for its peers",
                        s -> s.use = Situation.use(List.of(), container("train-0", new FallbackVerdict.OnlyContext(1))),
                        "pods",
                        PASS,
                        "no queue pair yet"),
                when(
                        "shares unreadable",
                        s -> s.use = Situation.use(List.of("shares of pods are not known: UNAVAILABLE")),
                        "pods",
                        NOT_SEEN,
                        "UNAVAILABLE"),
                when("late", s -> s.use = Fact.unknown("late"), "pods", NOT_SEEN, "late"),
                when("no kubelet", noKubelet, "pods", SKIPPED));
    }

    @Test
    void namesThePodsThatAreFineBesideTheOneThatIsNot() {
        Situation situation = new Situation();
        situation.use = Situation.use(
                List.of(),
                container("a", new FallbackVerdict.AsksOnly(Duration.ofMinutes(25))),
                container("b", new FallbackVerdict.Uses(1)),
                container("c", new FallbackVerdict.Uses(2)));
        assertThat(situation.all("pods")).extracting(Finding::verdict).containsExactly(PASS, WARN);
        assertThat(situation.all("pods").getFirst().evidence())
                .containsExactly(
                        "default/b/pytorch (erdma_0): 1 queue pair", "default/c/pytorch (erdma_0): 2 queue pairs");
    }

    static Stream<Arguments> table() {
        return Stream.of(
                        driver(),
                        mode(),
                        library(),
                        devices(),
                        ports(),
                        network(),
                        reservedPorts(),
                        memory(),
                        variables(),
                        kubelet(),
                        plans(),
                        cluster(),
                        pods())
                .flatMap(part -> part);
    }

    @ParameterizedTest(name = "{2}: {0}")
    @MethodSource("table")
    void judges(String name, Consumer<Situation> change, String check, Verdict verdict, List<String> words) {
        Situation situation = new Situation();
        change.accept(situation);

        Finding finding = situation.only(check);

        assertThat(finding.verdict()).as(finding.toString()).isEqualTo(verdict);
        String text =
                finding.statement() + "\n" + finding.next().orElse("") + "\n" + String.join("\n", finding.evidence());
        assertThat(words).allSatisfy(word -> assertThat(text).contains(word));
        // Whoever reads that something is wrong is told what to do.
        assertThat(finding.next().isPresent())
                .as("a next step: %s", finding)
                .isEqualTo(verdict == WARN || verdict == FAIL || (verdict == NOT_SEEN && finding.matters()));
    }

    @Test
    void aPassingCheckLeavesNoOtherOneOut() {
        assertThat(Report.of(new Situation().facts()).rows())
                .extracting(row -> row.check().id())
                .containsExactlyElementsOf(Checks.ALL.stream()
                        .filter(check -> check.sides().contains(Side.NODE))
                        .map(Check::id)
                        .toList());
    }

    @Test
    void everyCheckOfTheNodesAndOfThePodsSideIsJudgedInTheseTables() {
        List<Object> judged = table().map(row -> row.get()[2]).distinct().toList();
        assertThat(Checks.ALL)
                .extracting(Check::id)
                .doesNotHaveDuplicates()
                .filteredOn(id -> !id.equals("gid-index"))
                .allSatisfy(id -> assertThat(judged).contains(id));
    }

    private static Gid gid(int index, GidKind kind, String text, boolean linkLocal) {
        return new Gid(index, kind, text, linkLocal, text.startsWith("::ffff:"));
    }

    private static Finding gidIndex(Optional<String> value, int slots, Gid... gids) {
        Situation situation = new Situation();
        situation.devices.set(0, Situation.withGids(device("erdma_0"), slots, gids));
        value.ifPresent(text -> situation.nccl.put("NCCL_IB_GID_INDEX", text));
        return situation.only("gid-index");
    }

    static Stream<Arguments> indexes() {
        return Stream.of(
                arguments("0", PASS, FAIL),
                arguments("1", FAIL, FAIL),
                arguments("2", FAIL, WARN),
                arguments("3", FAIL, PASS),
                arguments("99", FAIL, FAIL),
                arguments("x", FAIL, FAIL),
                arguments("0x3", FAIL, FAIL),
                arguments("-1", PASS, PASS),
                arguments("", PASS, PASS));
    }

    /** R15: an iWARP device has one slot; a RoCE one has link-local and IPv4 addresses, each as v1 and as v2. */
    @ParameterizedTest(name = "NCCL_IB_GID_INDEX={0}")
    @MethodSource("indexes")
    void judgesTheGidIndexByTheTable(String index, Verdict ofOneSlot, Verdict ofFour) {
        Finding one = gidIndex(
                Optional.of(index), 1, gid(0, GidKind.IWARP, "0016:3e00:0003:0000:0000:0000:0000:0000", false));
        Finding four = gidIndex(
                Optional.of(index),
                4,
                gid(0, GidKind.ROCE_V1, "fe80::216:3eff:fe00:3", true),
                gid(1, GidKind.ROCE_V2, "fe80::216:3eff:fe00:3", true),
                gid(2, GidKind.ROCE_V1, "::ffff:10.0.0.4", false),
                gid(3, GidKind.ROCE_V2, "::ffff:10.0.0.4", false));

        assertThat(one.verdict()).as(one.toString()).isEqualTo(ofOneSlot);
        assertThat(four.verdict()).as(four.toString()).isEqualTo(ofFour);
        if (ofOneSlot == FAIL) {
            assertThat(one.next().orElseThrow()).contains("set it to 0 (iWARP 0016:3e00:0003");
        }
        if (ofFour != PASS) {
            assertThat(four.next().orElseThrow()).contains("set it to 3 (RoCE v2 ::ffff:10.0.0.4)");
            assertThat(four.evidence()).hasSize(4).contains("GID 0: RoCE v1 fe80::216:3eff:fe00:3 (link-local)");
        }
    }

    @Test
    void leavesTheGidIndexToNcclWhereItIsNotSet() {
        Finding finding = gidIndex(Optional.empty(), 2, gid(1, GidKind.ROCE_V2, "::ffff:10.0.0.4", false));
        assertThat(finding.verdict()).isEqualTo(PASS);
        assertThat(finding.statement()).contains("not set").endsWith("is 1");
    }

    @Test
    void saysThatNoGidReachesOtherHostsWhileAllAreLinkLocal() {
        Finding finding = gidIndex(Optional.of("0"), 2, gid(0, GidKind.ROCE_V2, "fe80::1", true));
        assertThat(finding.verdict()).isEqualTo(FAIL);
        assertThat(finding.next().orElseThrow()).contains("no GID of erdma_0 reaches other hosts");
    }

    @Test
    void cannotJudgeAnIndexWithoutATable() {
        Finding finding = gidIndex(Optional.of("1"), 0);
        assertThat(finding.verdict()).isEqualTo(NOT_SEEN);
        assertThat(finding.matters()).isTrue();
    }

    @Test
    void judgesEachDeviceByItself() {
        Situation situation = new Situation();
        situation.devices.add(
                with(device("erdma_1"), Optional.of(PortState.DOWN), Optional.of(link(4, "eth2", false, 1500))));

        assertThat(situation.all("port"))
                .extracting(finding -> finding.subject().orElse(""), Finding::verdict)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("erdma_0", PASS),
                        org.assertj.core.groups.Tuple.tuple("erdma_1", FAIL));
    }

    @Test
    void looksInAPodAtTheGrantedDevicesAlone() {
        Situation situation = new Situation();
        situation.side = Side.POD;
        situation.devices.add(with(device("erdma_1"), Situation.withoutNode(found("erdma_1", "erdma", NodeType.CA))));

        assertThat(situation.all("uverbs-node"))
                .extracting(finding -> finding.subject().orElse(""))
                .containsExactly("erdma_0");
        assertThat(situation.only("rdma-devices").verdict()).isEqualTo(PASS);
        assertThat(situation.all("kubelet-socket")).isEmpty();
        assertThat(situation.all("agent")).isEmpty();
    }
}
