package io.erdma.plugin;

import java.time.Duration;

/** Told what the kubelet's side does; called from its threads, must not block. */
public interface PluginObserver {
    PluginObserver NONE = new PluginObserver() {};

    default void allocated(Duration took, boolean granted) {}

    /** @param open number of ListAndWatch streams now open */
    default void streams(int open) {}

    /** @param sinceObserved from the monitor's reading of the event to the hand-over of the message to the transport */
    default void messageSent(Duration sinceObserved) {}

    /** @param again false for the first registration of this process */
    default void registered(boolean again) {}

    default void registrationFailed(String reason) {}
}
