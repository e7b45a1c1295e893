package io.erdma.netlink;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A network interface as RTM_NEWLINK describes it.
 *
 * @param flags IFF_ bits
 * @param operState IF_OPER_ number: 0 unknown, 2 down, 3 lower layer down, 5 dormant, 6 up
 * @param carrier empty when the kernel did not say
 * @param permanentAddress the address burnt in, which eRDMA binds to; absent on kernels that do not give it
 * @param parentDevice address on the parent bus (PCI "0000:00:05.0"), where given
 * @param master index of the bridge, bond or VRF that it belongs to
 */
public record Link(
        int index,
        String name,
        int flags,
        int mtu,
        int operState,
        Optional<Boolean> carrier,
        Optional<MacAddress> address,
        Optional<MacAddress> permanentAddress,
        Optional<String> kind,
        Optional<String> parentDevice,
        OptionalInt master) {
    public static final int IFF_UP = 1;
    public static final int IFF_LOOPBACK = 8;
    public static final int IFF_RUNNING = 0x40;
    public static final int IFF_LOWER_UP = 0x10000;

    /** One that belongs to no other. */
    public Link(
            int index,
            String name,
            int flags,
            int mtu,
            int operState,
            Optional<Boolean> carrier,
            Optional<MacAddress> address,
            Optional<MacAddress> permanentAddress,
            Optional<String> kind,
            Optional<String> parentDevice) {
        this(
                index,
                name,
                flags,
                mtu,
                operState,
                carrier,
                address,
                permanentAddress,
                kind,
                parentDevice,
                OptionalInt.empty());
    }

    public boolean isUp() {
        return (flags & IFF_UP) != 0;
    }

    /** Up, and the other side of the cable answers: what the in-tree driver calls an active port. */
    public boolean hasCarrier() {
        return isUp() && (flags & IFF_LOWER_UP) != 0 && carrier.orElse(true);
    }
}
