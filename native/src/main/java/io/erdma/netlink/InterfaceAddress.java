package io.erdma.netlink;

import static java.util.Objects.requireNonNull;

/**
 * An IP address of a network interface, as RTM_NEWADDR describes it.
 *
 * @param link index of the interface
 * @param address its own address and the prefix length of its network
 * @param flags IFA_F_ bits
 * @param scope RT_SCOPE_ number: 0 global, 253 link, 254 host
 */
public record InterfaceAddress(int link, IpPrefix address, int flags, int scope) {
    /** Another address of the same network was there before. */
    public static final int IFA_F_SECONDARY = 1;

    /** It was not learned with a lifetime. */
    public static final int IFA_F_PERMANENT = 0x80;

    /** The kernel made no route to the address's network. */
    public static final int IFA_F_NOPREFIXROUTE = 0x200;

    public InterfaceAddress {
        requireNonNull(address, "address is null");
    }

    public boolean isGlobal() {
        return scope == Route.SCOPE_UNIVERSE;
    }

    /**
     * The kernel keeps a route to the address's network while the interface is up, as it does for the first address of a
     * network unless told otherwise.
     */
    public boolean bringsPrefixRoute() {
        return (flags & (IFA_F_NOPREFIXROUTE | IFA_F_SECONDARY)) == 0;
    }
}
