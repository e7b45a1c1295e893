package io.erdma.inventory;

import io.erdma.device.RdmaDevice;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * All RDMA devices of the node at one moment, eRDMA or not, sorted by name.
 *
 * @param rdmaCm {@code /dev/infiniband/rdma_cm} if it exists
 * @param links all links of the namespace, RDMA or not; empty when they can't be read, as {@link Source#LINKS} tells
 */
public record InventorySnapshot(
        List<Found> devices,
        List<SourceStatus> sources,
        Optional<Path> rdmaCm,
        NetnsMode netnsMode,
        Optional<List<Link>> links) {
    /**
     * One device.
     *
     * @param selected whether the selectors choose it, that is, whether we would offer it
     * @param why the rule that chose it, or why none did
     * @param inVerbs whether libibverbs lists it
     * @param missingFromVerbs why libibverbs does not, as far as can be told
     * @param uverbsPresent whether its character device exists
     */
    public record Found(
            RdmaDevice device,
            boolean selected,
            String why,
            boolean inVerbs,
            Optional<String> missingFromVerbs,
            boolean uverbsPresent) {}

    public InventorySnapshot {
        devices = List.copyOf(devices);
        sources = List.copyOf(sources);
        links = links.map(List::copyOf);
    }

    public boolean usable(Source source) {
        return sources.stream().anyMatch(status -> status.source() == source && status.usable());
    }
}
