package io.erdma.doctor;

/**
 * TCP ports.
 *
 * @param first 1 to 65535
 * @param last not below {@code first}
 */
public record PortRange(int first, int last) {
    /** Where the API server takes NodePorts from unless --service-node-port-range says otherwise. */
    public static final PortRange NODE_PORTS = new PortRange(30000, 32767);

    /** How many ports the out-of-tree driver reserves in RoCE-compatible mode. */
    static final int RESERVED = 16;

    /** Where it begins to unless its parameter reserve_ports_base says otherwise. */
    static final int DEFAULT_RESERVED_BASE = 30608;

    private static final int HIGHEST = 65535;

    public PortRange {
        if (first < 1 || last > HIGHEST || first > last) {
            throw new IllegalArgumentException(
                    "ports " + first + "-" + last + ": they are numbered from 1 to " + HIGHEST);
        }
    }

    /** @throws IllegalArgumentException for anything but {@code FIRST-LAST} */
    public static PortRange parse(String text) {
        if (!text.matches("[0-9]{1,5}-[0-9]{1,5}")) {
            throw new IllegalArgumentException("'" + text + "' is not a range of ports such as " + NODE_PORTS);
        }
        String[] ends = text.split("-", 2);
        return new PortRange(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]));
    }

    boolean overlaps(PortRange other) {
        return first <= other.last && other.first <= last;
    }

    @Override
    public String toString() {
        return first + "-" + last;
    }
}
