package io.erdma.node.net;

import io.erdma.libc.NativeException;
import io.erdma.netlink.Route;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The model kernel as a network to look after, which tests may make refuse things. It notifies of nothing. */
final class ModelNetwork implements HostNetwork {
    private final ModelKernel kernel;
    private Predicate<NetChange> refused = _ -> false;
    private int errno;
    private Optional<String> explanation = Optional.empty();
    private Optional<NativeException> unreadable = Optional.empty();
    private Optional<RuntimeException> fault = Optional.empty();
    private int reads;
    private boolean closed;

    ModelNetwork(ModelKernel kernel) {
        this.kernel = kernel;
    }

    synchronized void refuse(Predicate<NetChange> changes, int withErrno, Optional<String> words) {
        refused = changes;
        errno = withErrno;
        explanation = words;
    }

    synchronized void failToRead(Optional<NativeException> failure) {
        unreadable = failure;
    }

    synchronized void fault(Optional<RuntimeException> thrown) {
        fault = thrown;
    }

    synchronized int reads() {
        return reads;
    }

    /** What others do while the keeper is at work. */
    synchronized void change(Runnable change) {
        change.run();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    synchronized ModelNetwork opened() {
        closed = false;
        return this;
    }

    @Override
    public synchronized NetState read(WantedInterfaces wanted) throws NativeException {
        reads++;
        if (fault.isPresent()) {
            throw fault.get();
        }
        if (unreadable.isPresent()) {
            throw unreadable.get();
        }
        return asRead(kernel.state(), wanted);
    }

    /** Of all that there is, what the real network would have read. */
    static NetState asRead(NetState all, WantedInterfaces wanted) {
        var withoutRoutes = new NetState(all.links(), all.addresses(), List.of());
        try {
            return new NetState(
                    all.links(),
                    all.addresses(),
                    RouteInterest.of(withoutRoutes, wanted)
                            .read(passing -> pass(all.routes(), passing.get()), RouteInterest.NONE)
                            .routes());
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Route> pass(List<Route> routes, Predicate<Route> these) {
        return routes.stream().filter(these).toList();
    }

    @Override
    public synchronized void make(NetChange change) throws NativeException {
        if (refused.test(change)) {
            throw new NativeException("netlink", errno, "the model", explanation);
        }
        kernel.make(change);
    }

    @Override
    public Set<Integer> descriptors() {
        return Set.of();
    }

    @Override
    public boolean anythingChanged() {
        return false;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
