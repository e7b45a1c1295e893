package io.erdma.node.log;

import java.util.logging.LogManager;

/**
 * A log that lasts until the process ends. The JDK's own manager takes all handlers away as soon as the JVM begins to
 * shut down, so that the agent's last lines, which tell how the closing went, would be lost.
 */
public final class LastingLogManager extends LogManager {
    /** Made by java.util.logging, which finds the class by its system property. */
    public LastingLogManager() {}

    @Override
    public void reset() {
        // Called by the JDK's shutdown hook, and once at the start, when there is nothing to take away.
    }
}
