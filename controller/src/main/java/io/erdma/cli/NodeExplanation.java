package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.device.DeviceHealth;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What {@code ibv_devinfo} can't tell.
 *
 * @param netnsMode absent when RDMA netlink did not answer
 * @param compatMode the loaded erdma module's parameter; absent where it has none
 * @param rdmaCm {@code /dev/infiniband/rdma_cm} if it exists
 */
record NodeExplanation(
        Optional<NetnsMode> netnsMode,
        Optional<Boolean> compatMode,
        Optional<Path> rdmaCm,
        List<SourceStatus> sources,
        List<Device> devices) {
    /**
     * One device.
     *
     * @param driver which of the drivers it is, in words that are stable
     * @param health by the agent's rules; absent when it could not be judged
     * @param portState of port 1, as the best source told it
     * @param portSource that source
     * @param link the bound interface as it is now
     * @param reading what libibverbs answered; absent when it doesn't list the device
     * @param gids of all ports
     */
    record Device(
            Found found,
            DriverKind driver,
            Optional<DeviceHealth> health,
            Optional<PortState> portState,
            Optional<SourceStatus.Source> portSource,
            Optional<Link> link,
            Optional<DeviceReading> reading,
            List<GidEntry> gids) {
        Device {
            requireNonNull(found, "found is null");
            requireNonNull(driver, "driver is null");
            gids = List.copyOf(gids);
        }

        String name() {
            return found.device().name();
        }
    }

    /** Of the two kernel drivers that are both called erdma, and the rest. */
    enum DriverKind {
        /** Alibaba's, whose compat_mode parameter chooses between iWARP and a RoCE-like device. */
        OUT_OF_TREE,
        /** Without that parameter: the kernel's own, or a release of the other from before it. */
        MODE_UNKNOWN,
        /** Not eRDMA. */
        OTHER
    }

    NodeExplanation {
        sources = List.copyOf(sources);
        devices = List.copyOf(devices);
    }
}
