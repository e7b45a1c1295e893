package io.erdma.node.net;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the node's interfaces and carries plans out, one change after the other: the only writer of links, addresses and
 * routes. For one thread.
 */
public final class InterfaceConfigurer implements AutoCloseable {
    private final HostNetwork network;

    /**
     * What became of a list of changes.
     *
     * @param made in their order
     * @param failures of one interface the first; what was left of its changes then was not tried
     */
    public record Outcome(List<NetChange> made, List<Failure> failures) {
        public Outcome {
            made = List.copyOf(made);
            failures = List.copyOf(failures);
        }
    }

    /** @param message what failed, why, and what to do */
    public record Failure(NetChange change, int errno, String message) {}

    InterfaceConfigurer(HostNetwork network) {
        this.network = network;
    }

    /** For the network namespace of the calling thread. */
    public static InterfaceConfigurer open() throws NativeException {
        return new InterfaceConfigurer(KernelNetwork.open());
    }

    /** The node as it is; of its routes, our own and what belongs to them. */
    public NetState found() throws NativeException {
        return network.read(WantedInterfaces.NONE);
    }

    /**
     * An interface with a change that fails keeps what it has: what comes later builds upon it, and an old route must not
     * go where the new one could not be added. The other interfaces go on. An MTU that is refused stops nothing.
     */
    public Outcome apply(List<NetChange> changes) {
        List<NetChange> made = new ArrayList<>();
        List<Failure> failures = new ArrayList<>();
        Set<Integer> failed = new HashSet<>();
        for (NetChange change : changes) {
            if (failed.contains(change.link())) {
                continue;
            }
            try {
                network.make(change);
                made.add(change);
            } catch (NativeException e) {
                if (isDoneAnyway(change, e.errno())) {
                    continue;
                }
                failures.add(new Failure(change, e.errno(), message(change, e)));
                if (!(change instanceof NetChange.SetMtu)) {
                    failed.add(change.link());
                }
            }
        }
        return new Outcome(made, failures);
    }

    /** Somebody else was faster. */
    private static boolean isDoneAnyway(NetChange change, int errno) {
        return switch (change) {
            case NetChange.DeleteRoute _ -> errno == Errno.ESRCH;
            case NetChange.DeleteAddress _ -> errno == Errno.EADDRNOTAVAIL;
            case NetChange.AddAddress _, NetChange.AddRoute _, NetChange.SetMtu _, NetChange.SetUp _ -> false;
        };
    }

    private static String message(NetChange change, NativeException e) {
        String words = e.explanation().map(text -> ", \"" + text + "\"").orElse("");
        return "cannot " + change.describe() + ": the kernel answered " + Errno.describe(e.errno()) + words + ". "
                + remedy(change, e.errno());
    }

    private static String remedy(NetChange change, int errno) {
        return switch (errno) {
            case Errno.EPERM, Errno.EACCES ->
                "Give the agent container CAP_NET_ADMIN (values.yaml: agent.securityContext) and the host's network"
                        + " (hostNetwork: true).";
            case Errno.EEXIST, Errno.ENETDOWN, Errno.ENODEV ->
                "Somebody else changed the interface at the same time; it is looked at again.";
            case Errno.ENETUNREACH ->
                "The gateway has to be within the interface's vSwitch; compare its entry in the metadata service.";
            case Errno.EINVAL ->
                change instanceof NetChange.SetMtu
                        ? "The card does not take this MTU; lower --jumbo-frame-mtu."
                        : "It is tried again.";
            default -> "It is tried again.";
        };
    }

    @Override
    public void close() {
        network.close();
    }
}
