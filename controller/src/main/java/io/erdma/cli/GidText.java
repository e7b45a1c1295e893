package io.erdma.cli;

import io.erdma.verbs.Gid;

/** The two spellings of a GID. */
final class GidText {
    private static final int GROUPS = 8;

    private GidText() {}

    /** Eight groups of four hex digits, as sysfs writes it. */
    static String groups(Gid gid) {
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            String hex = Integer.toHexString(group(gid, i));
            text.append(i == 0 ? "" : ":").repeat('0', 4 - hex.length()).append(hex);
        }
        return text.toString();
    }

    /**
     * As the IPv6 address that a RoCE v2 GID is, in the form of {@code inet_ntop}: the longest run of two or more zero
     * groups shortened, the first of equally long ones; the last 32 bits dotted where the address maps or embeds IPv4.
     */
    static String address(Gid gid) {
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < GROUPS; i++) {
            int length = 0;
            while (i + length < GROUPS && group(gid, i + length) == 0) {
                length++;
            }
            if (length > runLength) {
                runStart = i;
                runLength = length;
            }
            i += length;
        }
        boolean embedsIpv4 = runStart == 0 && (runLength == 6 || (runLength == 5 && group(gid, 5) == 0xffff));
        StringBuilder text = new StringBuilder(46);
        for (int i = 0; i < GROUPS; i++) {
            if (i == runStart) {
                text.append("::");
                i += runLength - 1;
            } else if (i == 6 && embedsIpv4) {
                return text.append(separator(text)).append(dotted(gid)).toString();
            } else {
                text.append(separator(text)).append(Integer.toHexString(group(gid, i)));
            }
        }
        return text.toString();
    }

    /** fe80::/10: good for the own link only, so a queue pair that takes it can't be routed. */
    static boolean isLinkLocal(Gid gid) {
        return gid.high() >>> 54 == 0xfe80 >>> 6;
    }

    private static String separator(StringBuilder text) {
        return text.isEmpty() || text.charAt(text.length() - 1) == ':' ? "" : ":";
    }

    private static String dotted(Gid gid) {
        return (gid.low() >>> 24 & 0xff) + "." + (gid.low() >>> 16 & 0xff) + "." + (gid.low() >>> 8 & 0xff) + "."
                + (gid.low() & 0xff);
    }

    private static int group(Gid gid, int index) {
        long half = index < 4 ? gid.high() : gid.low();
        return (int) (half >>> (48 - 16 * (index % 4))) & 0xffff;
    }
}
