package io.erdma.doctor;

import static java.util.Comparator.comparing;
import static java.util.Comparator.comparingInt;

import io.erdma.doctor.Facts.Device;
import io.erdma.doctor.Facts.Gid;
import io.erdma.doctor.Facts.GidKind;
import java.util.List;
import java.util.Optional;

/** The GID table against what the environment tells NCCL to take of it. */
final class GidChecks {
    private static final String VARIABLE = "NCCL_IB_GID_INDEX";

    private GidChecks() {}

    /** R15: an index that is right for another maker's cards, or for another device of the same host. */
    static List<Finding> gidIndex(Facts facts) {
        Optional<String> value = Optional.ofNullable(facts.nccl().get(VARIABLE)).map(String::strip);
        return DeviceChecks.each(facts, device -> judge(device, value));
    }

    private static Finding judge(Device device, Optional<String> value) {
        if (value.isEmpty() || value.get().isEmpty()) {
            return unset(device, "not set, and NCCL 2.21 and newer choose by themselves");
        }
        if (!value.get().matches("[-+]?[0-9]{1,9}")) {
            return Finding.fail("'" + value.get() + "' is not a number", advice(device))
                    .because(table(device));
        }
        int index = Integer.parseInt(value.get());
        if (index < 0) {
            return unset(device, index + ", so NCCL chooses by itself");
        }
        if (device.gids().isEmpty()) {
            return Finding.notSeen(
                    "its GID table can't be read, so that " + index + " can't be judged",
                    "leave " + VARIABLE + " unset");
        }
        Optional<Gid> chosen =
                device.gids().stream().filter(gid -> gid.index() == index).findFirst();
        if (chosen.isEmpty()) {
            String where =
                    device.gidSlots().isPresent() && index >= device.gidSlots().getAsInt()
                            ? "the table has " + slots(device.gidSlots().getAsInt())
                            : "that slot is empty";
            return Finding.fail(index + " names no GID: " + where, advice(device))
                    .because(table(device));
        }
        if (chosen.get().linkLocal()) {
            return Finding.fail(index + " names a link-local GID, which other hosts can't reach", advice(device))
                    .because(table(device));
        }
        Optional<Gid> right = right(device);
        boolean older = chosen.get().kind() == GidKind.ROCE_V1
                && right.isPresent()
                && right.get().kind() == GidKind.ROCE_V2;
        return older
                ? Finding.warn(
                                VARIABLE + "=" + index + " names a RoCE v1 GID, which no router passes on",
                                advice(device))
                        .because(table(device))
                : Finding.pass(index + " is " + describe(chosen.get()));
    }

    private static Finding unset(Device device, String how) {
        return Finding.pass(how
                + right(device)
                        .map(gid -> "; the one to reach other hosts by is " + gid.index())
                        .orElse(""));
    }

    private static String slots(int count) {
        return count == 1 ? "1 slot, number 0" : count + " slots, numbers 0 to " + (count - 1);
    }

    private static String advice(Device device) {
        return "leave " + VARIABLE + " unset"
                + right(device)
                        .map(gid -> ", or set it to " + gid.index() + " (" + describe(gid) + ")")
                        .orElse("; no GID of " + device.name()
                                + " reaches other hosts: does its interface have an address?");
    }

    private static List<String> table(Device device) {
        return device.gids().stream()
                .map(gid -> "GID " + gid.index() + ": " + describe(gid))
                .toList();
    }

    private static String describe(Gid gid) {
        return switch (gid.kind()) {
                    case IWARP -> "iWARP";
                    case ROCE_V1 -> "RoCE v1";
                    case ROCE_V2 -> "RoCE v2";
                    case INFINIBAND -> "InfiniBand";
                }
                + " " + gid.text() + (gid.linkLocal() ? " (link-local)" : "");
    }

    /** The one to reach other hosts by: routable, RoCE v2 before others, IPv4 before IPv6, then the first. */
    static Optional<Gid> right(Device device) {
        return device.gids().stream()
                .filter(gid -> !gid.linkLocal())
                .min(comparing((Gid gid) -> gid.kind() != GidKind.ROCE_V2)
                        .thenComparing(gid -> !gid.ipv4())
                        .thenComparing(comparingInt(Gid::index)));
    }
}
