package io.erdma.node.page;

import static java.util.Objects.requireNonNull;

import io.erdma.device.DeviceHealth;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.log.RecentLines;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.UsageSnapshot;
import io.erdma.traffic.TrafficHistory;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What the node's page tells, at one moment.
 *
 * @param node the Node object's name
 * @param version the agent's
 * @param resource what pods ask for
 * @param started when the agent did
 * @param scanned whether the node's devices have been looked at
 * @param suspended why no device is in service, while that is so
 * @param driver absent before the first look at it
 * @param plans as {@code /plans} has them, one line each
 * @param queuePairBudget how many queue pairs the instance may have; absent when nobody told
 * @param events the latest first
 */
public record NodePage(
        String node,
        String version,
        String resource,
        Instant at,
        Instant started,
        SessionStatus kubelet,
        boolean scanned,
        Optional<String> suspended,
        Optional<DriverStatus> driver,
        List<Device> devices,
        List<String> plans,
        Use use,
        OptionalLong queuePairBudget,
        List<RecentLines.Line> events) {
    /**
     * One device.
     *
     * @param shares how many it is offered as
     * @param traffic absent before the first reading of its counters
     */
    public record Device(
            String name,
            Offer offer,
            String driver,
            Optional<String> netdev,
            Optional<String> pciAddress,
            OptionalInt numaNode,
            int shares,
            Optional<TrafficHistory.Series> traffic) {
        public Device {
            requireNonNull(name, "name is null");
            requireNonNull(offer, "offer is null");
            requireNonNull(driver, "driver is null");
            requireNonNull(netdev, "netdev is null");
            requireNonNull(pciAddress, "pciAddress is null");
            requireNonNull(numaNode, "numaNode is null");
            requireNonNull(traffic, "traffic is null");
        }
    }

    /** How the kubelet has a device. */
    public sealed interface Offer {
        record Offered(DeviceHealth health) implements Offer {}

        /** @param reason why pods can't have it */
        record Withheld(String reason) implements Offer {}
    }

    /** Who uses the devices. */
    public sealed interface Use {
        record Known(UsageSnapshot snapshot) implements Use {}

        /** @param reason for people, with what to do */
        record Unknown(String reason) implements Use {}
    }

    public NodePage {
        requireNonNull(node, "node is null");
        requireNonNull(version, "version is null");
        requireNonNull(resource, "resource is null");
        requireNonNull(at, "at is null");
        requireNonNull(started, "started is null");
        requireNonNull(kubelet, "kubelet is null");
        requireNonNull(suspended, "suspended is null");
        requireNonNull(driver, "driver is null");
        devices = List.copyOf(devices);
        plans = List.copyOf(plans);
        requireNonNull(use, "use is null");
        requireNonNull(queuePairBudget, "queuePairBudget is null");
        events = List.copyOf(events);
    }
}
