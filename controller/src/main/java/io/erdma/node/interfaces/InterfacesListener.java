package io.erdma.node.interfaces;

import io.erdma.health.DeviceChoice;
import io.erdma.node.net.WantedInterfaces;

/** Receives which interfaces and devices of the node are ours, whenever that changes. */
@FunctionalInterface
public interface InterfacesListener {
    /**
     * Called by {@link InterfaceSource#start} and then on the source's thread; must not block.
     *
     * @param wanted the interfaces to look after, all of them
     * @param choice which devices to offer
     */
    void changed(WantedInterfaces wanted, DeviceChoice choice);
}
