package io.erdma.health;

import io.erdma.device.DeviceHealth;
import io.erdma.device.DeviceHealth.Healthy;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.PortState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;

/** Decides whether a device can carry traffic. Pure; DESIGN.md lists the rules in their order. */
final class HealthRules {
    private static final int OPER_UNKNOWN = 0;
    private static final int OPER_UP = 6;

    /** The bound network interface, as far as it is known. */
    sealed interface LinkView {
        record Seen(Link link) implements LinkView {}

        /** It was bound to the device, and is no more in this namespace. */
        record Gone(String name) implements LinkView {}

        /** None is bound here, or the links can't be read: the port's own state decides. */
        record NotJudged() implements LinkView {}
    }

    /**
     * What is known of a device at one moment.
     *
     * @param answer the last answer of the device
     * @param age how long ago that was; since the device is known when it has not answered yet
     * @param silence why the latest attempt to ask got no answer
     * @param suspicion an event that a fresh good answer has not yet disproved
     */
    record Observation(
            RdmaDevice device,
            boolean uverbsPresent,
            boolean rdmaCmPresent,
            NetnsMode netnsMode,
            LinkView link,
            Optional<ProbeResult> answer,
            Duration age,
            Optional<String> silence,
            Optional<String> suspicion) {}

    private HealthRules() {}

    /** Keeps the time of the last change as long as the outcome stays the same. */
    static DeviceHealth judge(Observation seen, Duration grace, Optional<DeviceHealth> former, Instant now) {
        return outcome(whyUnhealthy(seen, grace), former, now);
    }

    /** @param reason why the device is unhealthy; empty when it is healthy */
    static DeviceHealth outcome(Optional<String> reason, Optional<DeviceHealth> former, Instant now) {
        if (reason.isEmpty()) {
            return former.filter(DeviceHealth::isHealthy).orElseGet(() -> new Healthy(now));
        }
        Instant since = former.filter(Unhealthy.class::isInstance)
                .map(health -> ((Unhealthy) health).since())
                .orElse(now);
        return new Unhealthy(reason.get(), since);
    }

    static Optional<String> whyUnhealthy(Observation seen, Duration grace) {
        if (seen.netnsMode() == NetnsMode.EXCLUSIVE) {
            return Optional.of("the RDMA subsystem is in exclusive namespace mode, in which pods can't see the device;"
                    + " switch it back with 'rdma system set netns shared'");
        }
        if (seen.device().uverbs().isEmpty()) {
            return Optional.of("the kernel made no uverbs node for it");
        }
        if (!seen.uverbsPresent()) {
            return Optional.of(seen.device().uverbs().get() + " is missing");
        }
        if (seen.device().rdmaCm() == RdmaCmUse.REQUIRED && !seen.rdmaCmPresent()) {
            return Optional.of("/dev/infiniband/rdma_cm is missing, which this driver mode needs; load rdma_ucm");
        }
        if (seen.suspicion().isPresent()) {
            return seen.suspicion();
        }
        if (seen.answer().isEmpty() && seen.age().compareTo(grace) <= 0) {
            return Optional.of("has not answered yet"
                    + seen.silence().map(why -> ": " + why).orElse(""));
        }
        if (seen.age().compareTo(grace) > 0) {
            return Optional.of("has not answered for " + seconds(grace)
                    + seen.silence().map(why -> ": " + why).orElse(""));
        }
        return seen.answer().flatMap(HealthRules::whyByAnswer).or(() -> whyByLink(seen.link()));
    }

    private static Optional<String> whyByAnswer(ProbeResult answer) {
        return switch (answer) {
            case ProbeResult.Answered answered ->
                answered.state() == PortState.ACTIVE ? Optional.empty() : Optional.of("port 1 is " + answered.state());
            case ProbeResult.Failed failed -> Optional.of(failed.reason());
            case ProbeResult.Unanswered unanswered -> Optional.of("has not answered: " + describe(unanswered));
        };
    }

    /** The out-of-tree driver takes no notice of a lost carrier, so its port says ACTIVE still. */
    static Optional<String> whyByLink(LinkView view) {
        return switch (view) {
            case LinkView.NotJudged _ -> Optional.empty();
            case LinkView.Gone gone -> Optional.of("netdev " + gone.name() + " is gone");
            case LinkView.Seen(Link link) -> {
                if (!link.isUp()) {
                    yield Optional.of("netdev " + link.name() + " is down");
                }
                boolean operational = link.operState() == OPER_UP || link.operState() == OPER_UNKNOWN;
                yield link.hasCarrier() && operational
                        ? Optional.empty()
                        : Optional.of("netdev " + link.name() + " has no carrier");
            }
        };
    }

    static String describe(ProbeResult.Unanswered unanswered) {
        return unanswered.unused().stream()
                .map(status -> status.source() + ": " + status.problem().orElse(""))
                .collect(Collectors.joining("; "));
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
    }
}
