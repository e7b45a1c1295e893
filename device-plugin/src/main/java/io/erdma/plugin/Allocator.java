package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.log.Quote;
import io.erdma.netlink.MacAddress;
import io.erdma.plugin.Allocation.DeviceNode;
import io.erdma.plugin.Allocation.Granted;
import io.erdma.plugin.Allocation.Malformed;
import io.erdma.plugin.Allocation.NotReady;
import io.erdma.plugin.Allocation.Unknown;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Decides what a container gets for the shares the kubelet chose for it. It remembers nothing: the kubelet asks again
 * with the same shares after its restart, and gives those of an init container to the containers after it.
 */
public final class Allocator {
    /** The PNETID by which SMC-R in the container joins its interface and the device. */
    static final String SMCR_PNET = "SMCR_PNET";

    static final String NCCL_IB_HCA = "NCCL_IB_HCA";

    /** Where libibverbs and librdmacm look in any container. */
    private static final Path CONTAINER_DIRECTORY = Path.of("/dev/infiniband");

    private static final String ASK_AGAIN = "The kubelet chose from an old list: create the pod again, and if it fails"
            + " again, restart the eRDMA agent's pod on this node.";
    private static final String MORE = " 'erdma devinfo --explain' in the agent's pod tells more.";

    private final PluginSettings settings;

    public Allocator(PluginSettings settings) {
        this.settings = requireNonNull(settings, "settings is null");
    }

    /**
     * @param ids the shares that the kubelet chose
     * @param offer the node's devices now
     * @param exists whether a device node of the host exists now
     * @param cdi which CDI devices the runtime can resolve now
     */
    public Allocation allocate(Collection<String> ids, AdvertisedDevices offer, Predicate<Path> exists, CdiNames cdi) {
        if (ids.isEmpty()) {
            return new Malformed("the request names no share of " + settings.resourceName()
                    + "; a container that asks for the resource gets at least one");
        }
        Set<String> seen = new HashSet<>();
        NavigableMap<String, RdmaDevice> granted = new TreeMap<>();
        for (String id : ids) {
            Optional<ShareId> parsed = ShareId.parse(id);
            if (parsed.isEmpty()) {
                return new Malformed("share " + Quote.of(id) + " is malformed, expected <device>/<number> such as"
                        + " erdma_0/17. " + ASK_AGAIN);
            }
            if (!seen.add(id)) {
                return new Malformed(
                        "share " + Quote.of(id) + " is named twice in one container's request. " + ASK_AGAIN);
            }
            ShareId share = parsed.get();
            Optional<AdvertisedDevices.Entry> entry = offer.find(share.device());
            if (entry.isEmpty()) {
                return new Unknown("share " + Quote.of(id) + " is unknown: this node has "
                        + (offer.devices().isEmpty() ? "no eRDMA device" : "the devices " + names(offer)) + ". "
                        + ASK_AGAIN);
            }
            if (share.number() >= settings.sharesPerDevice()) {
                return new Unknown("share " + Quote.of(id) + " is unknown: a device has " + settings.sharesPerDevice()
                        + " shares, numbered from 0. " + ASK_AGAIN);
            }
            Optional<NotReady> missing = missing(share, entry.get().device(), offer, exists, cdi);
            if (missing.isPresent()) {
                return missing.get();
            }
            granted.put(share.device(), entry.get().device());
        }
        if (settings.allocateAllDevices()) {
            for (AdvertisedDevices.Entry entry : offer.devices()) {
                RdmaDevice device = entry.device();
                if (entry.health().isHealthy()
                        && missing(device, offer, exists, cdi).isEmpty()) {
                    granted.put(device.name(), device);
                }
            }
        }
        return grant(granted.values(), offer, exists, cdi);
    }

    private Optional<NotReady> missing(
            ShareId share, RdmaDevice device, AdvertisedDevices offer, Predicate<Path> exists, CdiNames cdi) {
        return missing(device, offer, exists, cdi)
                .map(what ->
                        new NotReady("share " + Quote.of(share.toString()) + " can't be used now: " + what + MORE));
    }

    /** What a container would lack that gets this device, and what to do; empty when it is complete. */
    private Optional<String> missing(RdmaDevice device, AdvertisedDevices offer, Predicate<Path> exists, CdiNames cdi) {
        if (device.uverbs().isEmpty()) {
            return Optional.of("the kernel made no uverbs node for " + Quote.of(device.name())
                    + ". Load ib_uverbs on the node and create the pod again.");
        }
        Path uverbs = device.uverbs().get();
        if (!exists.test(uverbs)) {
            return Optional.of(uverbs + " does not exist on the node. Load ib_uverbs, or see whether the driver was"
                    + " reloaded, and create the pod again.");
        }
        if (settings.cdi() == CdiMode.ONLY && !resolvable(device, cdi)) {
            return Optional.of("the CDI spec in " + settings.cdiDirectory() + " does not hold it. See the agent's log"
                    + " for the reason, or set cdi to off.");
        }
        if (device.rdmaCm() == RdmaCmUse.REQUIRED && !rdmaCmGiven(offer, exists, cdi)) {
            return Optional.of("its driver mode connects through rdma_cm, whose node does not exist"
                    + (settings.cdi() == CdiMode.ONLY ? " or is missing in the CDI spec" : "")
                    + ". Load rdma_ucm on the node and create the pod again.");
        }
        return Optional.empty();
    }

    private Granted grant(
            Collection<RdmaDevice> devices, AdvertisedDevices offer, Predicate<Path> exists, CdiNames cdi) {
        boolean withRdmaCm = devices.stream().anyMatch(device -> device.rdmaCm() != RdmaCmUse.UNUSED)
                && rdmaCmGiven(offer, exists, cdi);
        return new Granted(
                settings.cdi() == CdiMode.ONLY
                        ? List.of()
                        : nodes(devices, withRdmaCm ? offer.rdmaCm() : Optional.empty()),
                environment(devices),
                settings.cdi() == CdiMode.OFF ? List.of() : cdiDevices(devices, withRdmaCm, cdi));
    }

    private static List<DeviceNode> nodes(Collection<RdmaDevice> devices, Optional<Path> rdmaCm) {
        // A set: the kubelet merges by container path and two equal paths would be one device anyway.
        Set<DeviceNode> nodes = new LinkedHashSet<>();
        for (RdmaDevice device : devices) {
            device.uverbs().map(Allocator::node).ifPresent(nodes::add);
        }
        rdmaCm.map(Allocator::node).ifPresent(nodes::add);
        return List.copyOf(nodes);
    }

    private static DeviceNode node(Path host) {
        return new DeviceNode(containerPath(host), host);
    }

    static Path containerPath(Path host) {
        return CONTAINER_DIRECTORY.resolve(host.getFileName());
    }

    private Map<String, String> environment(Collection<RdmaDevice> devices) {
        Map<String, String> environment = new LinkedHashMap<>();
        devices.stream()
                .flatMap(device -> device.netdev().stream())
                .flatMap(netdev -> netdev.mac().stream())
                .findFirst()
                .map(MacAddress::compact)
                .ifPresent(mac -> environment.put(SMCR_PNET, mac));
        // NCCL's list has no escape; a device left out of it would not be used, so then nothing is said.
        if (settings.ncclIbHca()
                && devices.stream().noneMatch(device -> device.name().matches(".*[,:].*"))) {
            environment.put(
                    NCCL_IB_HCA, devices.stream().map(RdmaDevice::name).collect(Collectors.joining(",", "=", "")));
        }
        return environment;
    }

    private static List<String> cdiDevices(Collection<RdmaDevice> devices, boolean withRdmaCm, CdiNames cdi) {
        List<String> names = new ArrayList<>();
        for (RdmaDevice device : devices) {
            CdiSpec.qualifiedName(device).filter(cdi::resolvable).ifPresent(names::add);
        }
        if (withRdmaCm && cdi.resolvable(CdiSpec.RDMA_CM)) {
            names.add(CdiSpec.RDMA_CM);
        }
        return names;
    }

    private boolean rdmaCmGiven(AdvertisedDevices offer, Predicate<Path> exists, CdiNames cdi) {
        return offer.rdmaCm().filter(exists).isPresent()
                && (settings.cdi() != CdiMode.ONLY || cdi.resolvable(CdiSpec.RDMA_CM));
    }

    private static boolean resolvable(RdmaDevice device, CdiNames cdi) {
        return CdiSpec.qualifiedName(device).filter(cdi::resolvable).isPresent();
    }

    private static String names(AdvertisedDevices offer) {
        return offer.devices().stream()
                .map(entry -> Quote.of(entry.device().name()))
                .collect(Collectors.joining(", "));
    }
}
