package io.erdma.node.net;

import io.erdma.libc.NativeException;
import java.util.Set;

/** The network that is looked after: the node's, or a test's. Used by one thread. */
interface HostNetwork extends AutoCloseable {
    /** Opens it in the network namespace of the calling thread. */
    @FunctionalInterface
    interface Opener {
        HostNetwork open() throws NativeException;
    }

    /** @param wanted what the plan will be about: of routes, those that matter to it are read, and our own */
    NetState read(WantedInterfaces wanted) throws NativeException;

    void make(NetChange change) throws NativeException;

    /** Descriptors that become readable when something has changed. */
    Set<Integer> descriptors();

    /** Whether something that the last reading was about may have changed since the last call; never blocks. */
    boolean anythingChanged() throws NativeException;

    @Override
    void close();
}
