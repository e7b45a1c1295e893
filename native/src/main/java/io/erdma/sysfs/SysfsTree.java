package io.erdma.sysfs;

import static java.util.Objects.requireNonNull;

import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what the kernel exports below a sysfs root. Whatever is missing or unreadable is absent, never an error. */
public final class SysfsTree {
    private static final String INFINIBAND = "class/infiniband";
    private static final String INFINIBAND_VERBS = "class/infiniband_verbs";
    private static final String NET = "class/net";

    private static final Pattern PCI_ADDRESS =
            Pattern.compile("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]");
    private static final Pattern GUID = Pattern.compile("[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}");
    private static final Pattern DEVICE_NUMBER = Pattern.compile("([0-9]{1,9}):([0-9]{1,9})");
    private static final Pattern NODE_RANGE = Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?");

    /** GID tables have up to 1024 slots, each a file; a device's interface shows up in the first filled ones. */
    private static final int GID_SLOTS_TO_LOOK_AT = 256;

    private final SysfsFiles files;

    /** @param root usually /sys */
    public SysfsTree(Path root) {
        this.files = new SysfsFiles(requireNonNull(root, "root is null"));
    }

    /** Below class/infiniband, by name. */
    public List<RdmaClassDevice> rdmaDevices() {
        return files.entries(INFINIBAND).stream()
                .filter(name -> files.isDirectory(INFINIBAND + "/" + name))
                .map(this::rdmaDevice)
                .toList();
    }

    private RdmaClassDevice rdmaDevice(String name) {
        String path = INFINIBAND + "/" + name;
        String device = path + "/device";
        List<Integer> ports = ports(path);
        List<String> netdevs = netdevs(path, ports);
        return new RdmaClassDevice(
                name,
                leadingNumber(files.read(path + "/node_type")).stream()
                        .mapToObj(NodeType::of)
                        .findFirst()
                        .orElse(NodeType.UNKNOWN),
                guid(files.read(path + "/node_guid")),
                files.linkTargetName(device + "/driver"),
                hexNumber(files.read(device + "/vendor")),
                hexNumber(files.read(device + "/device")),
                files.realPath(device)
                        .map(real -> real.getFileName().toString())
                        .filter(last -> PCI_ADDRESS.matcher(last).matches()),
                netdevs,
                numaNode(device, netdevs),
                ports);
    }

    private List<Integer> ports(String path) {
        var ports = new TreeSet<Integer>();
        for (String entry : files.entries(path + "/ports")) {
            decimalNumber(entry).ifPresent(ports::add);
        }
        return List.copyOf(ports);
    }

    // In order of how much each says: a card's own interfaces; the interface that a soft device was made on; and, for a
    // card whose interface is another PCI function (eRDMA), what the kernel bound its GIDs to.
    private List<String> netdevs(String path, List<Integer> ports) {
        List<String> below = files.entries(path + "/device/net");
        if (!below.isEmpty()) {
            return below;
        }
        Optional<String> parent = files.read(path + "/parent").filter(SysfsTree::isInterfaceName);
        if (parent.isPresent()) {
            return List.of(parent.get());
        }
        var bound = new TreeSet<String>();
        for (int port : ports) {
            String ndevs = path + "/ports/" + port + "/gid_attrs/ndevs";
            files.entries(ndevs).stream()
                    .flatMapToInt(slot -> decimalNumber(slot).stream())
                    .sorted()
                    .limit(GID_SLOTS_TO_LOOK_AT)
                    .mapToObj(slot -> files.read(ndevs + "/" + slot))
                    .flatMap(Optional::stream)
                    .filter(SysfsTree::isInterfaceName)
                    .forEach(bound::add);
        }
        return List.copyOf(bound);
    }

    private OptionalInt numaNode(String device, List<String> netdevs) {
        OptionalInt own = onlineNode(files.read(device + "/numa_node"));
        if (own.isPresent()) {
            return own;
        }
        return netdevs.stream()
                .map(this::netdevNumaNode)
                .filter(OptionalInt::isPresent)
                .findFirst()
                .orElse(OptionalInt.empty());
    }

    /** Below class/infiniband_verbs, by name. */
    public List<UverbsClassDevice> uverbsDevices() {
        var devices = new ArrayList<UverbsClassDevice>();
        for (String name : files.entries(INFINIBAND_VERBS)) {
            String path = INFINIBAND_VERBS + "/" + name;
            Optional<String> rdmaDevice = files.read(path + "/ibdev").filter(ibdev -> !ibdev.isEmpty());
            if (rdmaDevice.isEmpty()) {
                continue;
            }
            OptionalInt major = OptionalInt.empty();
            OptionalInt minor = OptionalInt.empty();
            Matcher number = DEVICE_NUMBER.matcher(files.read(path + "/dev").orElse(""));
            if (number.matches()) {
                major = OptionalInt.of(Integer.parseInt(number.group(1)));
                minor = OptionalInt.of(Integer.parseInt(number.group(2)));
            }
            OptionalInt abi = decimalNumber(files.read(path + "/abi_version").orElse(""));
            devices.add(new UverbsClassDevice(name, rdmaDevice.get(), major, minor, abi));
        }
        return List.copyOf(devices);
    }

    public Optional<PortState> portState(String rdmaDevice, int port) {
        if (!SysfsFiles.isPlainName(rdmaDevice)) {
            return Optional.empty();
        }
        return leadingNumber(files.read(INFINIBAND + "/" + rdmaDevice + "/ports/" + port + "/state")).stream()
                .mapToObj(PortState::of)
                .findFirst();
    }

    /** NUMA node of a network interface's nearest PCI ancestor; see {@link RdmaClassDevice#numaNode}. */
    public OptionalInt netdevNumaNode(String netdev) {
        if (!SysfsFiles.isPlainName(netdev)) {
            return OptionalInt.empty();
        }
        Optional<Path> at = files.realPath(NET + "/" + netdev + "/device");
        // A virtio interface's device is the virtioN below the PCI function, which alone has numa_node.
        while (at.isPresent() && files.isBelowRoot(at.get())) {
            if (Files.exists(at.get().resolve("numa_node"))) {
                return onlineNode(files.read(at.get().resolve("numa_node")));
            }
            at = Optional.ofNullable(at.get().getParent());
        }
        return OptionalInt.empty();
    }

    /** The compat_mode parameter of a loaded out-of-tree erdma module; empty when there is no such file. */
    public Optional<Boolean> erdmaCompatMode() {
        return files.read("module/erdma/parameters/compat_mode").flatMap(value -> switch (value) {
            case "Y", "y", "1" -> Optional.of(true);
            case "N", "n", "0" -> Optional.of(false);
            default -> Optional.empty();
        });
    }

    /** The maker's board id, which {@code ibv_devinfo} prints where the driver gives one. */
    public Optional<String> boardId(String rdmaDevice) {
        return deviceText(rdmaDevice, "board_id");
    }

    /** The maker's name of the card type, where the driver gives one. */
    public Optional<String> hcaType(String rdmaDevice) {
        return deviceText(rdmaDevice, "hca_type");
    }

    private Optional<String> deviceText(String rdmaDevice, String file) {
        if (!SysfsFiles.isPlainName(rdmaDevice)) {
            return Optional.empty();
        }
        return files.read(INFINIBAND + "/" + rdmaDevice + "/" + file).filter(text -> !text.isEmpty());
    }

    /** The node's number if the kernel says that this node is online. */
    private OptionalInt onlineNode(Optional<String> text) {
        OptionalInt node = decimalNumber(text.orElse(""));
        if (node.isEmpty()) {
            return node;
        }
        String online = files.read("devices/system/node/online").orElse("");
        for (String part : online.split(",", -1)) {
            Matcher range = NODE_RANGE.matcher(part.strip());
            if (range.matches()) {
                int first = Integer.parseInt(range.group(1));
                int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
                if (first <= node.getAsInt() && node.getAsInt() <= last) {
                    return node;
                }
            }
        }
        return OptionalInt.empty();
    }

    /** A GUID that can't be read must not hide the device: other makers' cards write odd ones. */
    private static NodeGuid guid(Optional<String> text) {
        return text.filter(value -> GUID.matcher(value).matches())
                .map(value -> new NodeGuid(Long.parseUnsignedLong(value.replace(":", ""), 16)))
                .orElse(new NodeGuid(0));
    }

    /** "4: ACTIVE" → 4. */
    private static OptionalInt leadingNumber(Optional<String> text) {
        return decimalNumber(text.orElse("").split(":", 2)[0].strip());
    }

    /** Empty unless the text is an unsigned number of at most nine digits. */
    private static OptionalInt decimalNumber(String text) {
        if (text.isEmpty() || text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(Integer.parseInt(text));
    }

    /** "0x1ded" → 0x1ded. */
    private static OptionalInt hexNumber(Optional<String> text) {
        String digits = text.orElse("");
        if (!digits.matches("0x[0-9a-fA-F]{1,7}")) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(Integer.parseInt(digits.substring(2), 16));
    }

    private static boolean isInterfaceName(String name) {
        return SysfsFiles.isPlainName(name)
                && name.length() <= 15
                && name.chars().noneMatch(Character::isWhitespace);
    }

    /**
     * An RDMA device.
     *
     * @param driver name of the bound kernel driver ("erdma"), from the device/driver link
     * @param pciVendor 0x1ded for Alibaba Cloud
     * @param pciAddress "0000:00:07.0"
     * @param netdevs interfaces named below device/net, by the GID table's ndevs, or by the "parent" file of software
     *     devices
     * @param numaNode of the device, else of its netdev's PCI ancestor; absent when negative, missing, unreadable, not a
     *     number, or not among the online nodes
     * @param ports numbers of its ports, ascending
     */
    public record RdmaClassDevice(
            String name,
            NodeType nodeType,
            NodeGuid nodeGuid,
            Optional<String> driver,
            OptionalInt pciVendor,
            OptionalInt pciDevice,
            Optional<String> pciAddress,
            List<String> netdevs,
            OptionalInt numaNode,
            List<Integer> ports) {
        public RdmaClassDevice {
            netdevs = List.copyOf(netdevs);
            ports = List.copyOf(ports);
        }
    }

    /**
     * A uverbs node as sysfs knows it.
     *
     * @param name "uverbs0"
     * @param rdmaDevice "erdma_0"
     */
    public record UverbsClassDevice(
            String name, String rdmaDevice, OptionalInt major, OptionalInt minor, OptionalInt abi) {}
}
