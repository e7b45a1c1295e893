package io.erdma.image;

import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;

/** The tests wait for what they need; a container without ports is ready for Testcontainers at once. */
final class NoWait extends AbstractWaitStrategy {
    @Override
    protected void waitUntilReady() {}
}
