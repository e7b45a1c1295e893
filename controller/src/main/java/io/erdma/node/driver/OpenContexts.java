package io.erdma.node.driver;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RdmaContext;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Who holds verbs contexts of RDMA devices. */
@FunctionalInterface
public interface OpenContexts {
    /**
     * @param devices by name; those that are not there count as unused
     * @return one element for each open context: its process, or nothing where the kernel does not tell
     */
    List<OptionalLong> owners(Set<String> devices) throws IOException;

    /** As the kernel tells by RDMA netlink. */
    static List<OptionalLong> byNetlink(Set<String> devices) throws IOException {
        List<OptionalLong> owners = new ArrayList<>();
        try (RdmaNetlink netlink = RdmaNetlink.open()) {
            for (RdmaLink device : netlink.devices()) {
                if (!devices.contains(device.name())) {
                    continue;
                }
                Optional<List<RdmaContext>> contexts = netlink.contexts(device.index());
                if (contexts.isPresent()) {
                    contexts.get().forEach(context -> owners.add(context.pid()));
                }
                // The count also has those whose owners the kernel keeps to itself.
                long count = netlink.resources(device.index()).getOrDefault("ctx", 0L);
                for (long named = contexts.map(List::size).orElse(0); named < count; named++) {
                    owners.add(OptionalLong.empty());
                }
            }
        } catch (NativeException e) {
            if (e.errno() == Errno.EPROTONOSUPPORT) {
                // No RDMA core, so nobody has opened anything.
                return List.of();
            }
            throw e;
        }
        return owners;
    }
}
