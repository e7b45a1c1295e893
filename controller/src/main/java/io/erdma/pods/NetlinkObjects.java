package io.erdma.pods;

import io.erdma.libc.NativeException;
import io.erdma.netlink.RdmaContext;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink;
import io.erdma.netlink.RdmaQueuePair;
import io.erdma.pods.UsageFacts.DeviceObjects;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * RDMA objects of this machine's devices by netlink; the kernel's own, which name it, are left out. The kernel names the
 * thread that made an object, and nobody any more once that thread has ended, though the process lives on.
 */
public final class NetlinkObjects {
    private NetlinkObjects() {}

    /** @see UsageReader.Objects#of */
    public static List<DeviceObjects> list(Predicate<String> wanted) throws NativeException {
        List<DeviceObjects> devices = new ArrayList<>();
        try (RdmaNetlink netlink = RdmaNetlink.open()) {
            for (RdmaLink link : netlink.devices()) {
                if (wanted.test(link.name())) {
                    devices.add(objects(netlink, link));
                }
            }
        }
        return devices;
    }

    private static DeviceObjects objects(RdmaNetlink netlink, RdmaLink link) throws NativeException {
        List<RdmaQueuePair> pairs = netlink.queuePairs(link.index()).stream()
                .filter(pair -> pair.kernelName().isEmpty())
                .toList();
        Optional<List<RdmaContext>> contexts = netlink.contexts(link.index());
        return new DeviceObjects(
                link.name(),
                byOwner(pairs, RdmaQueuePair::thread),
                orphans(pairs, RdmaQueuePair::thread),
                contexts.map(list -> byOwner(list, RdmaContext::thread)),
                contexts.map(list -> orphans(list, RdmaContext::thread)).orElse(0));
    }

    private static <T> Map<Long, Integer> byOwner(List<T> objects, Function<T, OptionalLong> owner) {
        return objects.stream()
                .map(owner)
                .filter(OptionalLong::isPresent)
                .collect(Collectors.toMap(OptionalLong::getAsLong, _ -> 1, Integer::sum));
    }

    private static <T> int orphans(List<T> objects, Function<T, OptionalLong> owner) {
        return (int) objects.stream().map(owner).filter(OptionalLong::isEmpty).count();
    }
}
