package io.erdma.health;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Tells people what changes at the devices, each change once. Owned by the health thread. */
final class HealthLog {
    private static final Log LOG = Log.of(HealthLog.class);

    private final Set<String> notSelected = new HashSet<>();
    private final Map<String, Boolean> toldHealthy = new HashMap<>();
    private final Map<Source, String> problems = new HashMap<>();
    /** Sources that can't be used where nothing was missed so far. */
    private final Set<Source> unwarned = EnumSet.noneOf(Source.class);

    private final Map<String, String> withoutVerbs = new HashMap<>();
    private final Set<String> faultyJobs = new HashSet<>();
    private List<MonitorStatus.Withheld> withheld = List.of();

    /** Where sysfs knows no RDMA device there is nothing that a source could miss: an ordinary node without RDMA. */
    void sources(InventorySnapshot snapshot) {
        boolean nothingMissed =
                snapshot.usable(Source.SYSFS) && snapshot.devices().isEmpty();
        for (SourceStatus status : snapshot.sources()) {
            Optional<String> former = Optional.ofNullable(problems.get(status.source()));
            if (status.problem().isPresent()) {
                problems.put(status.source(), status.problem().get());
                String line = "source " + status.source() + " is not usable: "
                        + status.problem().get();
                if (former.isEmpty() && nothingMissed) {
                    unwarned.add(status.source());
                    LOG.info(line + "; there is no RDMA device that it could tell of");
                } else if (!nothingMissed && (unwarned.remove(status.source()) || former.isEmpty())) {
                    LOG.warn(line);
                }
            } else if (former.isPresent()) {
                problems.remove(status.source());
                unwarned.remove(status.source());
                LOG.info("source " + status.source() + " is usable again");
            }
        }
    }

    void notSelected(Found found) {
        String name = found.device().name();
        if (notSelected.add(name)) {
            LOG.info(name + " is not offered: " + found.why(), of(name));
        }
    }

    /** Forgets those that were not selected and are no more. */
    void scanned(InventorySnapshot snapshot) {
        notSelected.retainAll(
                snapshot.devices().stream().map(found -> found.device().name()).toList());
    }

    /** One that is only no longer selected was told as that. */
    void gone(String name) {
        withoutVerbs.remove(name);
        if (!notSelected.contains(name)) {
            LOG.info(name + " has gone", of(name));
        }
    }

    /** Said once for each reason; where no device can be opened, the source itself says so. */
    void verbs(String name, Optional<String> whyNot) {
        Optional<String> former = Optional.ofNullable(withoutVerbs.get(name));
        Optional<String> latter = problems.containsKey(Source.VERBS) ? Optional.empty() : whyNot;
        if (latter.equals(former)) {
            return;
        }
        if (latter.isPresent()) {
            withoutVerbs.put(name, latter.get());
            LOG.warn(
                    name + " is watched without verbs events: " + latter.get()
                            + "; its state comes from RDMA netlink or sysfs, and from link events",
                    of(name));
        } else {
            withoutVerbs.remove(name);
            LOG.info(name + " is watched by verbs events", of(name));
        }
    }

    /** One that is offered again is told by its health. */
    void withheld(List<MonitorStatus.Withheld> now) {
        now.stream()
                .filter(one -> !withheld.contains(one))
                .forEach(one -> LOG.info(one.device() + " is withheld: " + one.reason(), of(one.device())));
        withheld = now;
    }

    void offer(AdvertisedDevices offer) {
        for (AdvertisedDevices.Entry entry : offer.devices()) {
            String name = entry.device().name();
            Optional<Boolean> former =
                    Optional.ofNullable(toldHealthy.put(name, entry.health().isHealthy()));
            if (former.equals(Optional.of(entry.health().isHealthy()))) {
                continue;
            }
            switch (entry.health()) {
                case DeviceHealth.Healthy _ -> LOG.info(name + " healthy", of(name));
                case DeviceHealth.Unhealthy unhealthy -> LOG.warn(name + " unhealthy: " + unhealthy.reason(), of(name));
            }
        }
        toldHealthy.keySet().removeIf(name -> offer.find(name).isEmpty());
    }

    /** A fault of ours, said once until the job succeeds. */
    void jobDied(String job, Throwable cause) {
        if (faultyJobs.add(job)) {
            LOG.error("the check " + job + " died of a fault of ours; it is tried again and again", cause);
        }
    }

    void jobSucceeded(String job) {
        if (faultyJobs.remove(job)) {
            LOG.info("the check " + job + " works again");
        }
    }

    /** It is not tried again. */
    void jobIsOver(String job) {
        faultyJobs.remove(job);
    }

    private static Field of(String device) {
        return Field.of("device", device);
    }
}
