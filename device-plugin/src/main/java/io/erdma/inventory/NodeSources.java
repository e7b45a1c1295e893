package io.erdma.inventory;

import io.erdma.libc.Inotify;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import io.erdma.netlink.RdmaCharacterDevice;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.RdmaPort;
import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsEvent;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where knowledge about the node's RDMA devices comes from. Safe for use from several threads: no call waits for
 * another, so one that hangs inside a driver holds up only its own thread.
 */
public interface NodeSources extends AutoCloseable {
    List<VerbsDevice> verbsDevices() throws VerbsUnavailableException, NativeException;

    OpenDevice open(String device) throws VerbsUnavailableException, NativeException;

    /** A connection of its own; to be closed by the caller. */
    RdmaSource rdma() throws NativeException;

    List<Link> links() throws NativeException;

    /** @throws IOException when the tree can't be read at all */
    SysfsSource sysfs() throws IOException;

    Watch<LinkChange> watchLinks() throws NativeException;

    /** Empty when the kernel has no such notifications. */
    Optional<Watch<RdmaChange>> watchRdma() throws NativeException;

    DirectoryWatch watchDirectories() throws NativeException;

    @Override
    void close();

    /** An open verbs context. */
    interface OpenDevice extends AutoCloseable {
        PortState portState(int port) throws NativeException;

        int asyncDescriptor();

        /** Never blocks; empty when no event waits. */
        Optional<VerbsEvent> nextEvent() throws NativeException;

        /** May hang as long as a call under way does. */
        @Override
        void close();
    }

    /** What RDMA netlink tells. */
    interface RdmaSource extends AutoCloseable {
        List<RdmaLink> devices() throws NativeException;

        /** Asks the driver, so it may hang. */
        List<RdmaPort> ports(int deviceIndex) throws NativeException;

        Optional<RdmaCharacterDevice> characterDevice(int deviceIndex) throws NativeException;

        NetnsMode netnsMode() throws NativeException;

        @Override
        void close();
    }

    /** What sysfs tells. */
    interface SysfsSource {
        List<RdmaClassDevice> rdmaDevices();

        List<UverbsClassDevice> uverbsDevices();

        /** Asks the driver, so it may hang. */
        Optional<PortState> portState(String device, int port);

        OptionalInt netdevNumaNode(String netdev);

        Optional<Boolean> erdmaCompatMode();
    }

    /** A stream of notifications behind a descriptor to poll; read by one thread. */
    interface Watch<T> extends AutoCloseable {
        int descriptor();

        /** Never blocks; an empty list when nothing has happened. */
        List<T> read() throws NativeException;

        @Override
        void close();
    }

    /** Notifications about the entries of directories. */
    interface DirectoryWatch extends Watch<Inotify.Change> {
        void watch(Path directory) throws NativeException;
    }

    /** RDMA netlink notified something; what, is found by a scan. */
    enum RdmaChange {
        DEVICES
    }
}
