package io.erdma.node.page;

import static java.util.Objects.requireNonNull;

import io.erdma.device.DeviceHealth;
import io.erdma.node.driver.DriverStatus;
import io.erdma.pods.FallbackVerdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How the node stands, in a few words.
 *
 * @param headline what is so
 * @param detail why, or what to do; empty when the headline says it all
 */
record Notice(Level level, String headline, String detail) {
    /** How much somebody has to care. */
    enum Level {
        GOOD,
        /** Nothing is wrong, and there is nothing to use. */
        IDLE,
        /** It passes by itself. */
        BUSY,
        WARNING,
        BAD
    }

    Notice {
        requireNonNull(level, "level is null");
        requireNonNull(headline, "headline is null");
        requireNonNull(detail, "detail is null");
    }

    /** What there is to say, the most important first; never empty. */
    static List<Notice> of(NodePage page) {
        List<Notice> notices = new ArrayList<>();
        if (!page.scanned()) {
            notices.add(new Notice(Level.BUSY, "Looking at the devices", "The agent has just started."));
        }
        if (!page.kubelet().registered()) {
            notices.add(new Notice(
                    Level.BAD,
                    "Not registered with the kubelet",
                    page.kubelet()
                            .problem()
                            .orElse("Pods cannot get devices until the kubelet has accepted the agent.")));
        } else if (page.kubelet().streams() == 0) {
            notices.add(new Notice(
                    Level.BAD,
                    "The kubelet does not listen",
                    "It holds no ListAndWatch stream, so it counts every device as unhealthy."));
        }
        page.suspended().ifPresent(why -> notices.add(new Notice(Level.BUSY, "Out of service for a moment", why)));
        if (page.suspended().isEmpty()) {
            devices(page).ifPresent(notices::add);
        }
        page.driver()
                .flatMap(DriverStatus::problem)
                .ifPresent(problem -> notices.add(new Notice(Level.WARNING, "The driver needs attention", problem)));
        fallback(page).ifPresent(notices::add);
        page.driver()
                .flatMap(DriverStatus::pending)
                .ifPresent(
                        why -> notices.add(new Notice(Level.WARNING, "A switch of the driver’s mode is waiting", why)));
        if (page.scanned() && page.devices().isEmpty()) {
            notices.add(new Notice(
                    Level.IDLE,
                    "No eRDMA device on this node",
                    "That is fine for a node without eRDMA; elsewhere, “erdma doctor” tells what is missing."));
        }
        if (notices.isEmpty()) {
            notices.add(inOrder(page));
        }
        return notices;
    }

    private static Optional<Notice> devices(NodePage page) {
        List<String> down = page.devices().stream()
                .filter(device -> device.offer() instanceof NodePage.Offer.Offered(DeviceHealth.Unhealthy _))
                .map(NodePage.Device::name)
                .toList();
        if (down.isEmpty()) {
            return Optional.empty();
        }
        int all = page.devices().size();
        String headline = all == 1
                ? "The device is unhealthy"
                : down.size() + " of " + all + " devices " + (down.size() == 1 ? "is" : "are") + " unhealthy";
        return Optional.of(new Notice(
                Level.BAD,
                headline,
                down.size() == 1 ? "New pods get none of its shares." : "New pods get none of their shares."));
    }

    private static Optional<Notice> fallback(NodePage page) {
        if (!(page.use() instanceof NodePage.Use.Known(var snapshot))) {
            return Optional.empty();
        }
        long asking = snapshot.findings().stream()
                .filter(finding -> finding.verdict() instanceof FallbackVerdict.AsksOnly)
                .count();
        return asking == 0
                ? Optional.empty()
                : Optional.of(new Notice(
                        Level.WARNING,
                        asking == 1
                                ? "A container asked for eRDMA and does not use it"
                                : asking + " containers asked for eRDMA and do not use it",
                        (asking == 1 ? "Its" : "Their") + " traffic goes over TCP; the list of pods tells which."));
    }

    private static Notice inOrder(NodePage page) {
        long offered = page.devices().stream()
                .filter(device -> device.offer() instanceof NodePage.Offer.Offered)
                .count();
        if (offered == 0) {
            return new Notice(Level.IDLE, "No device is offered to pods", "Each device below says why.");
        }
        return new Notice(
                Level.GOOD, offered == 1 ? "The device is healthy" : "All " + offered + " devices are healthy", "");
    }
}
