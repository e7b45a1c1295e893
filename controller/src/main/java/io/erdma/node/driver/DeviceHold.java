package io.erdma.node.driver;

import io.erdma.health.HealthMonitor;
import java.time.Duration;

/** Takes this process's own hands off the devices for a while; the health monitor does it. */
public interface DeviceHold {
    /** Has all shares told unusable at once, then closes this process's contexts. Does not wait for either. */
    void suspend(String reason);

    /** @return true once the kubelet has been told and all contexts are closed; false when a driver keeps one */
    boolean awaitSuspended(Duration atMost);

    /** Looks at the devices anew and offers those that work. Harmless when nothing is suspended. */
    void resume();

    static DeviceHold of(HealthMonitor monitor) {
        return new DeviceHold() {
            @Override
            public void suspend(String reason) {
                monitor.suspend(reason);
            }

            @Override
            public boolean awaitSuspended(Duration atMost) {
                return monitor.awaitSuspended(atMost);
            }

            @Override
            public void resume() {
                monitor.resume();
            }
        };
    }
}
