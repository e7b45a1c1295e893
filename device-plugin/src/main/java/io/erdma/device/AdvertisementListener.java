package io.erdma.device;

/** Receives what the node offers whenever that changes. */
@FunctionalInterface
public interface AdvertisementListener {
    /**
     * Called on the health monitor's thread; must not block.
     *
     * @param devices the complete offer, replacing the former one
     * @param observedNanos {@link System#nanoTime} at which the monitor read the event that led to it
     */
    void advertise(AdvertisedDevices devices, long observedNanos);
}
