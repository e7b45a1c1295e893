package io.erdma.node.interfaces;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaDevice;
import io.erdma.netlink.MacAddress;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** By which hardware addresses a device can be found among interfaces. */
final class DeviceMacs {
    /** In the middle of a GUID that was made of a MAC address. */
    private static final long FILLING = 0xfffeL;
    /** The universal/local bit, which such a GUID has the other way round. */
    private static final long FLIPPED = 0x02L << 40;

    private DeviceMacs() {}

    /**
     * The permanent address that the node GUID is made of, then the interface's present one. An eRDMA device has the first
     * also while its interface is in another namespace; what other drivers put into the GUID need not be an address.
     */
    static Set<MacAddress> of(RdmaDevice device) {
        Set<MacAddress> macs = new LinkedHashSet<>();
        ofGuid(device.nodeGuid().value()).ifPresent(macs::add);
        device.netdev().flatMap(Netdev::mac).ifPresent(macs::add);
        return macs;
    }

    private static Optional<MacAddress> ofGuid(long guid) {
        if ((guid >>> 24 & 0xffff) != FILLING) {
            return Optional.empty();
        }
        return Optional.of(new MacAddress((guid >>> 40 << 24 | (guid & 0xffffff)) ^ FLIPPED));
    }
}
