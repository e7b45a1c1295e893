package io.erdma.cli;

import io.erdma.inventory.DeviceInventory;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** One scan of the node's devices for somebody who waits for it. */
final class DeviceScan {
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private DeviceScan() {}

    /** A second scan leaves out the device whose driver let the first one wait. */
    static InventorySnapshot of(DeviceInventory inventory) {
        return Patience.within(PATIENCE, "devices", inventory::scan)
                .or(() -> Patience.within(PATIENCE, "devices", inventory::scan))
                .orElseGet(DeviceScan::unanswered);
    }

    private static InventorySnapshot unanswered() {
        Optional<String> problem =
                Optional.of("did not answer within " + PATIENCE.toSeconds() + " s; see the kernel log");
        return new InventorySnapshot(
                List.of(),
                Stream.of(Source.values())
                        .map(source -> new SourceStatus(source, problem))
                        .toList(),
                Optional.empty(),
                NetnsMode.SHARED);
    }
}
