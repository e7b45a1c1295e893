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

    NetState read() throws NativeException;

    void make(NetChange change) throws NativeException;

    /** Descriptors that become readable when something has changed. */
    Set<Integer> descriptors();

    /** Whether something may have changed since the last call; never blocks. */
    boolean anythingChanged() throws NativeException;

    @Override
    void close();
}
