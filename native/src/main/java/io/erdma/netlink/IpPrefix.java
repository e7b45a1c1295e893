package io.erdma.netlink;

import static java.util.Objects.requireNonNull;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * An address and how many of its leading bits name the network: {@code 10.9.0.3/24} for an interface's own address,
 * {@code 10.9.0.0/24} for a network.
 *
 * @param address IPv4 or IPv6, without a scope
 * @param length 0 to 32 for IPv4, 0 to 128 for IPv6
 */
public record IpPrefix(InetAddress address, int length) {
    public IpPrefix {
        requireNonNull(address, "address is null");
        int bits = address.getAddress().length * Byte.SIZE;
        if (length < 0 || length > bits) {
            throw new IllegalArgumentException(
                    "a prefix of " + address.getHostAddress() + " has 0 to " + bits + " bits, not " + length);
        }
    }

    /** @throws IllegalArgumentException for anything but {@code ADDRESS/LENGTH} in digits; no name is looked up */
    public static IpPrefix parse(String text) {
        String[] parts = text.strip().split("/", -1);
        if (parts.length != 2 || !parts[1].matches("[0-9]{1,3}")) {
            throw new IllegalArgumentException("not an address with a prefix length, such as 10.9.0.0/24: " + text);
        }
        return new IpPrefix(address(parts[0]), Integer.parseInt(parts[1]));
    }

    /** @throws IllegalArgumentException for anything but digits; no name is looked up */
    public static InetAddress address(String text) {
        // The JDK also takes the short forms of IPv4, such as 10.9, and scopes, which are no addresses of the wire.
        if (!text.matches("([0-9]+[.]){3}[0-9]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
            throw new IllegalArgumentException("not an IP address: " + text);
        }
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("not an IP address: " + text, e);
        }
    }

    public boolean isIpv4() {
        return address instanceof Inet4Address;
    }

    /** The same with all bits behind the prefix cleared, as routes want it. */
    public IpPrefix network() {
        byte[] bytes = address.getAddress();
        for (int bit = length; bit < bytes.length * Byte.SIZE; bit++) {
            bytes[bit / Byte.SIZE] &= (byte) ~(0x80 >> bit % Byte.SIZE);
        }
        return new IpPrefix(of(bytes), length);
    }

    public boolean contains(InetAddress other) {
        return other.getAddress().length == address.getAddress().length
                && new IpPrefix(other, length).network().equals(network());
    }

    /** @param bytes 4 for IPv4, 16 for IPv6 */
    static InetAddress of(byte[] bytes) {
        try {
            // InetAddress would turn ::ffff:10.9.0.3 into the IPv4 address.
            return bytes.length == 16 ? Inet6Address.getByAddress(null, bytes, -1) : InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    @Override
    public String toString() {
        return address.getHostAddress() + "/" + length;
    }
}
