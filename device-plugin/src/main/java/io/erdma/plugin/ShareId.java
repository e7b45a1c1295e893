package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/**
 * The name under which the kubelet knows one share of a device: {@code erdma_0/17}. The form is the Go agent's, so that
 * allocations in the kubelet's checkpoint outlive the change to this one.
 *
 * @param device the RDMA device's name; the kernel allows any character but the slash
 * @param number from zero, written without sign and leading zeros
 */
public record ShareId(String device, int number) {
    /** The kernel's IB_DEVICE_NAME_MAX without the final zero byte. */
    public static final int MAX_DEVICE_NAME = 63;

    private static final int MAX_DIGITS = 9;

    public ShareId {
        requireNonNull(device, "device is null");
        if (!isDeviceName(device)) {
            throw new IllegalArgumentException("not the name of an RDMA device: \"" + device + "\"");
        }
        if (number < 0 || number > 999_999_999) {
            throw new IllegalArgumentException("share number " + number + " is not within 0 to 999999999");
        }
    }

    public static boolean isDeviceName(String name) {
        return !name.isEmpty() && name.length() <= MAX_DEVICE_NAME && name.indexOf('/') < 0;
    }

    /** Accepts exactly what {@link #toString} writes; empty for anything else. */
    public static Optional<ShareId> parse(String id) {
        int slash = id.indexOf('/');
        if (slash < 1 || slash > MAX_DEVICE_NAME) {
            return Optional.empty();
        }
        int digits = id.length() - slash - 1;
        if (digits < 1 || digits > MAX_DIGITS || (digits > 1 && id.charAt(slash + 1) == '0')) {
            return Optional.empty();
        }
        int number = 0;
        for (int i = slash + 1; i < id.length(); i++) {
            char c = id.charAt(i);
            if (c < '0' || c > '9') {
                return Optional.empty();
            }
            number = number * 10 + (c - '0');
        }
        return Optional.of(new ShareId(id.substring(0, slash), number));
    }

    @Override
    public String toString() {
        return device + "/" + number;
    }
}
