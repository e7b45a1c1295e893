package io.erdma.node.interfaces;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.RdmaDevice;
import io.erdma.log.Log;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ErdmaDeviceWatch;
import io.erdma.node.net.WantedInterfaces;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps current which interfaces and devices of the node are ours: those that it has, by rules, or those that its
 * ERdmaDevice object names. One thread owns all that is asked and known; nobody waits for it but who wants to, and a
 * service that does not answer delays nothing else. See DESIGN.md of this package.
 */
public final class InterfaceSource implements AdvertisementListener, AutoCloseable {
    private static final Log LOG = Log.of(InterfaceSource.class);

    private static final Duration AFTER_FAULT = Duration.ofSeconds(1);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(1);

    /** What the source's two kinds have in common; on the source's thread alone. */
    interface Kind extends AutoCloseable {
        /** Before anything has been asked. */
        InterfacesStatus initial();

        /** Asks what is due, and tells what is known; publishes on the way what must not wait for the rest. */
        InterfacesStatus turn(Publisher publisher);

        /** After which there is something due. */
        Duration due();

        /** Ends what is under way, from any thread; the next turn fails soon. */
        void interrupt();

        @Override
        void close();
    }

    /** Takes a status before the turn has ended. */
    @FunctionalInterface
    interface Publisher {
        void publish(InterfacesStatus status);
    }

    private final Kind kind;
    private final Thread thread;
    private final CountDownLatch decided = new CountDownLatch(1);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    /** Guarded by the lock. */
    private boolean wakeUp;

    private volatile boolean stopping;
    private volatile InterfacesStatus status;
    private volatile List<RdmaDevice> found = List.of();
    /** Set by start, before the thread begins. */
    private volatile InterfacesListener listener = (wanted, choice) -> {};

    // The thread's own.
    private Optional<String> fault = Optional.empty();

    /** @param cluster how the cluster's API is reached, where it is */
    public InterfaceSource(InterfaceSettings settings, Optional<ClusterAccess> cluster) {
        this(settings, cluster, MetadataClient.Patience.STANDARD, ErdmaDeviceWatch.Pace.STANDARD);
    }

    InterfaceSource(
            InterfaceSettings settings,
            Optional<ClusterAccess> cluster,
            MetadataClient.Patience patience,
            ErdmaDeviceWatch.Pace pace) {
        var metadata = new MetadataFacts(new MetadataClient(settings.metadata(), patience));
        this.kind = settings.localDiscovery()
                ? new LocalSource(settings, cluster, () -> found, metadata)
                : new ObjectSource(settings, cluster, metadata, this::wakeUp, pace);
        this.status = kind.initial();
        this.thread = Thread.ofPlatform().daemon().name("erdma-interfaces").unstarted(this::run);
    }

    /** Tells the listener what is known without asking anybody, then goes on in a thread of its own; once. */
    public void start(InterfacesListener told) {
        listener = told;
        logSource(status);
        if (status.decided()) {
            logOffered(status);
        }
        tell(status);
        thread.start();
    }

    /** From any thread. */
    public InterfacesStatus status() {
        return status;
    }

    /**
     * Waits until it is known which devices to offer. Registering before that tells the kubelet of a node without
     * devices, which takes back what running pods hold.
     *
     * @return false when it is not known by then
     */
    public boolean awaitDecision(Duration atMost) {
        try {
            return decided.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Takes the devices that the node has now, whatever their health: local discovery looks after their interfaces. */
    @Override
    public void advertise(AdvertisedDevices devices, long observedNanos) {
        List<RdmaDevice> now =
                devices.devices().stream().map(AdvertisedDevices.Entry::device).toList();
        if (!now.equals(found)) {
            found = now;
            wakeUp();
        }
    }

    /** Ends within a second, also while nobody answers. */
    @Override
    public void close() {
        stopping = true;
        kind.interrupt();
        wakeUp();
        if (thread.getState() == Thread.State.NEW) {
            // The agent could not start, and there is nothing to wait for.
            kind.close();
            return;
        }
        thread.interrupt();
        boolean interrupted = false;
        try {
            thread.join(CLOSE_WITHIN);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void wakeUp() {
        lock.lock();
        try {
            wakeUp = true;
            woken.signal();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try (kind) {
            while (!stopping) {
                turn();
            }
        }
    }

    private void turn() {
        Duration due = AFTER_FAULT;
        try {
            publish(kind.turn(this::publish));
            due = kind.due();
            fault = Optional.empty();
        } catch (RuntimeException e) {
            if (!stopping && !fault.equals(Optional.of(e.toString()))) {
                fault = Optional.of(e.toString());
                LOG.error("looking after the node's interfaces met a fault; it goes on", e);
            }
        }
        pause(due);
    }

    private void pause(Duration atMost) {
        lock.lock();
        try {
            long left = atMost.toNanos();
            while (!wakeUp && !stopping && left > 0) {
                left = woken.awaitNanos(left);
            }
            wakeUp = false;
        } catch (InterruptedException e) {
            // Only closing interrupts.
            stopping = true;
        } finally {
            lock.unlock();
        }
    }

    private void publish(InterfacesStatus next) {
        InterfacesStatus former = status;
        if (stopping || next.equals(former)) {
            return;
        }
        status = next;
        log(former, next);
        if (!next.offered().equals(former.offered()) || !next.wanted().equals(former.wanted())) {
            tell(next);
        }
        if (next.decided()) {
            decided.countDown();
        }
    }

    private void tell(InterfacesStatus next) {
        listener.changed(next.wanted(), next.offered());
        if (next.decided()) {
            decided.countDown();
        }
    }

    private static void log(InterfacesStatus former, InterfacesStatus next) {
        if (!next.source().equals(former.source())) {
            logSource(next);
        }
        if (!next.offered().equals(former.offered())) {
            logOffered(next);
        }
        if (!next.wanted().secondary().equals(former.wanted().secondary())) {
            LOG.info("interfaces to look after: " + describe(next.wanted()));
        }
        next.problems().stream()
                .filter(problem -> !former.problems().contains(problem))
                .forEach(LOG::warn);
        former.problems().stream()
                .filter(problem -> !next.problems().contains(problem))
                .forEach(problem -> LOG.info("no longer so: " + problem));
    }

    private static void logSource(InterfacesStatus next) {
        LOG.info("the node's eRDMA interfaces come from " + next.source());
    }

    private static void logOffered(InterfacesStatus next) {
        String line = "devices to offer: " + next.offered().describe();
        if (next.offered() instanceof OfferedDevices.Nothing) {
            LOG.warn(line);
        } else {
            LOG.info(line);
        }
    }

    private static String describe(WantedInterfaces wanted) {
        return wanted.secondary().isEmpty()
                ? "none"
                : String.join(
                        ", ",
                        wanted.secondary().stream()
                                .map(one -> one.mac()
                                        + one.address()
                                                .map(address -> " " + address)
                                                .orElse(" without IPv4"))
                                .toList());
    }
}
