package io.erdma.health;

import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.SourceStatus;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the health monitor knows at one moment, for pages, metrics and people; the kubelet gets the calmed-down form.
 *
 * @param devices the selected ones, sorted by name
 * @param sources how the last scan fared with each source
 * @param lastScan when the last completed scan ended
 * @param rdmaCm {@code /dev/infiniband/rdma_cm} if it exists
 * @param polling why changes of /dev are polled instead of notified, if so
 * @param withheld those of the devices that are not offered, sorted by name
 * @param suspended why no device is asked or opened, while that is so
 */
public record MonitorStatus(
        List<DeviceStatus> devices,
        List<SourceStatus> sources,
        Optional<Instant> lastScan,
        NetnsMode netnsMode,
        Optional<Path> rdmaCm,
        Optional<String> polling,
        List<Withheld> withheld,
        Optional<String> suspended) {
    public static final MonitorStatus NOT_YET = new MonitorStatus(
            List.of(),
            List.of(),
            Optional.empty(),
            NetnsMode.SHARED,
            Optional.empty(),
            Optional.empty(),
            List.of(),
            Optional.empty());

    /**
     * One device.
     *
     * @param health as it is now, which the kubelet may hear a moment later
     * @param portState of port 1, as last answered
     * @param source what told something of the device, a refusal too; absent when nothing could
     * @param unused sources that come before it in preference, each with the reason why it was not used
     */
    public record DeviceStatus(
            RdmaDevice device,
            DeviceHealth health,
            Optional<PortState> portState,
            Optional<SourceStatus.Source> source,
            List<SourceStatus> unused) {
        public DeviceStatus {
            unused = List.copyOf(unused);
        }
    }

    /** A device that is watched and, by choice, not offered. */
    public record Withheld(String device, String reason) {}

    public MonitorStatus {
        devices = List.copyOf(devices);
        sources = List.copyOf(sources);
        withheld = List.copyOf(withheld);
    }
}
