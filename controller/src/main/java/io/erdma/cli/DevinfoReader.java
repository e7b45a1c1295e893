package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.DeviceReading.Outcome;
import io.erdma.cli.DeviceReading.Port;
import io.erdma.cli.DeviceReading.PortFailure;
import io.erdma.cli.DeviceReading.Unanswered;
import io.erdma.cli.DeviceReading.Unopened;
import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.sysfs.SysfsTree;
import io.erdma.verbs.DeviceAttributes;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.PortAttributes;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsContext;
import io.erdma.verbs.VerbsDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Asks libibverbs about devices, one after the other; what one of them refuses concerns that one alone. */
final class DevinfoReader {
    private final Verbs verbs;
    private final SysfsTree sysfs;

    DevinfoReader(Verbs verbs, SysfsTree sysfs) {
        this.verbs = requireNonNull(verbs, "verbs is null");
        this.sysfs = requireNonNull(sysfs, "sysfs is null");
    }

    /**
     * @param onlyPort the one to ask; all when absent
     * @param withGids whether to read the GID tables, which can be long
     */
    DeviceReading read(VerbsDevice device, OptionalInt onlyPort, boolean withGids) {
        return new DeviceReading(device, outcome(device, onlyPort, withGids));
    }

    private Outcome outcome(VerbsDevice device, OptionalInt onlyPort, boolean withGids) {
        try (VerbsContext context = verbs.open(device.name())) {
            return answer(device, context, onlyPort, withGids);
        } catch (NativeException e) {
            return new Unopened(
                    "cannot open the device: " + explain(e, device),
                    e.errno() == Errno.EPERM || e.errno() == Errno.EACCES);
        }
    }

    private Outcome answer(VerbsDevice device, VerbsContext context, OptionalInt onlyPort, boolean withGids) {
        DeviceAttributes attributes;
        int completionVectors;
        try {
            attributes = context.queryDevice();
            completionVectors = context.completionVectors();
        } catch (NativeException e) {
            return new Unanswered("cannot read the device's attributes: " + explain(e, device));
        }
        int count = attributes.physPortCount();
        if (onlyPort.isPresent() && onlyPort.getAsInt() > count) {
            return new Unanswered("has no port " + onlyPort.getAsInt()
                    + (count == 1 ? ", only port 1" : ", only ports 1 to " + count));
        }
        List<Port> ports = new ArrayList<>();
        Optional<PortFailure> failure = Optional.empty();
        for (int number = onlyPort.orElse(1); number <= onlyPort.orElse(count) && failure.isEmpty(); number++) {
            failure = port(device, context, number, withGids, ports);
        }
        return new Answered(attributes, sysfs.boardId(device.name()), completionVectors, ports, failure);
    }

    /** Adds what the port answers to the list. */
    private Optional<PortFailure> port(
            VerbsDevice device, VerbsContext context, int number, boolean withGids, List<Port> ports) {
        PortAttributes attributes;
        try {
            attributes = context.queryPort(number);
        } catch (NativeException e) {
            return Optional.of(new PortFailure(number, "cannot read port " + number + ": " + explain(e, device)));
        }
        List<GidEntry> gids = List.of();
        Optional<PortFailure> failure = Optional.empty();
        if (withGids) {
            try {
                gids = context.gids().stream()
                        .filter(entry -> entry.port() == number)
                        .toList();
            } catch (NativeException e) {
                failure = Optional.of(
                        new PortFailure(number, "cannot read the GIDs of port " + number + ": " + explain(e, device)));
            }
        }
        ports.add(new Port(number, attributes, gids));
        return failure;
    }

    private static String explain(NativeException e, VerbsDevice device) {
        String node = "/dev/infiniband/" + device.uverbsName();
        String remedy = switch (e.errno()) {
            case Errno.EPERM ->
                "; the container's device rules refuse " + node
                        + ": request the resource aliyun/erdma, or run privileged";
            case Errno.EACCES -> "; this user may not open " + node + ": run as root or give it rw";
            case Errno.ENOENT, Errno.ENXIO, Errno.ENODEV -> "; " + node + " does not lead to the device (any more)";
            case Errno.EIO -> "; the device or its driver is failing, see the kernel log";
            case Errno.ENOMEM -> "; raise the limit of locked memory (ulimit -l)";
            default -> "";
        };
        return e.function() + " gives " + Errno.describe(e.errno()) + remedy;
    }
}
