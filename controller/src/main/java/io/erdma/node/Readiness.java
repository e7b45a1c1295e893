package io.erdma.node;

import io.erdma.health.MonitorStatus;
import io.erdma.node.http.Verdict;
import io.erdma.plugin.SessionStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** When the agent counts as alive, and when as doing its job. */
final class Readiness {
    static final Duration OLDEST_HEALTH_LOOP = Duration.ofSeconds(60);

    /** A scan may be late, as when a driver holds up the one before; beyond this it does not come any more. */
    static final Duration OLDEST_SCAN = Duration.ofSeconds(60);

    private Readiness() {}

    /** Alive: the loop that everything rests on goes round. A restart cures it when it does not. */
    static Verdict alive(Duration healthLoopAge) {
        return healthLoopAge.compareTo(OLDEST_HEALTH_LOOP) <= 0
                ? Verdict.YES
                : new Verdict(List.of("the health loop last went round " + healthLoopAge.toSeconds()
                        + " s ago; at most " + OLDEST_HEALTH_LOOP.toSeconds() + " s are normal"));
    }

    /**
     * Ready: the kubelet knows us and listens, and of each device it can be told whether it works. A device that is
     * down does not make the agent unready, and a node without devices is ready too: telling that is the job. Nor does one
     * that is withheld; and while the monitor is suspended the kubelet is told so of each device, so nothing is missed.
     *
     * @param rescan how often the node's devices are looked at
     */
    static Verdict ready(SessionStatus session, MonitorStatus monitor, Duration rescan, Instant now) {
        List<String> failures = new ArrayList<>();
        if (monitor.lastScan().isEmpty()) {
            failures.add("the node's devices have not been looked at yet");
        } else if (monitor.suspended().isEmpty()) {
            Duration age = Duration.between(monitor.lastScan().get(), now);
            Duration longest = Collections.max(List.of(OLDEST_SCAN, rescan.multipliedBy(3)));
            if (age.compareTo(longest) > 0) {
                failures.add("the node's devices were last looked at " + age.toSeconds() + " s ago; at most "
                        + longest.toSeconds() + " s are normal; does sysfs or a driver hang?");
            }
        }
        session.problem().ifPresent(failures::add);
        if (!session.registered() && session.problem().isEmpty()) {
            failures.add("not registered with the kubelet");
        }
        if (session.registered() && session.streams() == 0) {
            failures.add("the kubelet holds no ListAndWatch stream open");
        }
        for (MonitorStatus.DeviceStatus device : monitor.devices()) {
            boolean withheld = monitor.withheld().stream()
                    .anyMatch(one -> one.device().equals(device.device().name()));
            if (device.source().isEmpty() && !withheld && monitor.suspended().isEmpty()) {
                failures.add("no source tells the state of " + device.device().name());
            }
        }
        return new Verdict(failures);
    }
}
