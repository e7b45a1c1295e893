package io.erdma.netlink;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;

/** Prints what RDMA netlink and the links say, one fact a line, so that the lab can compare it with what rdma(8) says. */
public final class RdmaNetlinkProbe {
    private RdmaNetlinkProbe() {}

    public static void main(String[] args) throws NativeException {
        print(System.out);
    }

    public static void print(PrintStream out) throws NativeException {
        try (RtNetlink links = RtNetlink.open()) {
            for (Link link : links.links()) {
                out.printf(
                        "link %d %s up=%s carrier=%s oper=%d mtu=%d mac=%s permanent=%s kind=%s parent=%s%n",
                        link.index(),
                        link.name(),
                        link.isUp(),
                        link.hasCarrier(),
                        link.operState(),
                        link.mtu(),
                        link.address().map(Object::toString).orElse("-"),
                        link.permanentAddress().map(Object::toString).orElse("-"),
                        link.kind().orElse("-"),
                        link.parentDevice().orElse("-"));
            }
        }
        try (RdmaNetlink rdma = RdmaNetlink.openWithNotifications()) {
            out.println("netns-mode " + rdma.netnsMode());
            out.println("notifications " + rdma.changeDescriptor().isPresent());
            for (RdmaLink device : rdma.devices()) {
                print(out, rdma, device);
            }
            try {
                out.println("ports-of-unknown-device " + rdma.ports(9999));
            } catch (NativeException e) {
                out.println("ports-of-unknown-device " + Errno.describe(e.errno()));
            }
            out.println("chardev-of-unknown-device "
                    + rdma.characterDevice(9999).map(Object::toString).orElse("-"));
            out.println("changes " + rdma.drainChanges());
        } catch (NativeException e) {
            if (e.errno() != Errno.EPROTONOSUPPORT) {
                throw e;
            }
            out.println("no-rdma " + e.getMessage());
        }
    }

    private static void print(PrintStream out, RdmaNetlink rdma, RdmaLink device) throws NativeException {
        out.printf(
                "device %d %s ports=%d guid=%s type=%s firmware=%s protocol=%s%n",
                device.index(),
                device.name(),
                device.ports(),
                device.nodeGuid(),
                device.nodeType(),
                device.firmware().isEmpty() ? "-" : device.firmware(),
                device.protocol());
        for (RdmaPort port : rdma.ports(device.index())) {
            out.printf(
                    "port %s/%d state=%s physical=%d netdev=%s ifindex=%s%n",
                    device.name(),
                    port.port(),
                    port.state(),
                    port.physState(),
                    port.netdevName().orElse("-"),
                    port.netdevIndex().isPresent() ? port.netdevIndex().getAsInt() : "-");
        }
        out.println("chardev " + device.name() + " "
                + rdma.characterDevice(device.index())
                        .map(node -> "%s driver=%d dev=%d:%d abi=%d"
                                .formatted(node.name(), node.driverId(), node.major(), node.minor(), node.abi()))
                        .orElse("-"));
        Map<String, Long> resources = new TreeMap<>(rdma.resources(device.index()));
        out.println("resources " + device.name() + " " + resources);
        rdma.contexts(device.index())
                .ifPresentOrElse(
                        contexts -> contexts.forEach(context -> out.printf(
                                "ctx %s number=%d owner=%s%n",
                                device.name(),
                                context.number(),
                                context.thread().isPresent() ? context.thread().getAsLong() : "-")),
                        () -> out.println("ctx " + device.name() + " untold"));
        for (RdmaQueuePair pair : rdma.queuePairs(device.index())) {
            out.printf(
                    "qp %s/%d number=%d type=%d state=%d owner=%s%n",
                    device.name(),
                    pair.port(),
                    pair.localNumber(),
                    pair.type(),
                    pair.state(),
                    pair.thread().isPresent()
                            ? pair.thread().getAsLong()
                            : pair.kernelName().orElse("-"));
        }
    }
}
