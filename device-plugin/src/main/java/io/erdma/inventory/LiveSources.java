package io.erdma.inventory;

import io.erdma.libc.Inotify;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import io.erdma.netlink.RdmaCharacterDevice;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink;
import io.erdma.netlink.RdmaPort;
import io.erdma.netlink.RtNetlink;
import io.erdma.sysfs.SysfsTree;
import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import io.erdma.verbs.PortState;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsContext;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsEvent;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The kernel and libibverbs of this machine. */
public final class LiveSources implements NodeSources {
    private final String verbsLibrary;
    private final NodePaths paths;
    private final SysfsSource sysfs;

    private Verbs verbs;

    /**
     * Opens nothing yet: a library or module that is missing now may come later.
     *
     * @param verbsLibrary a soname or an absolute path, see {@link Verbs#DEFAULT_LIBRARY}
     */
    public LiveSources(String verbsLibrary, NodePaths paths) {
        this.verbsLibrary = verbsLibrary;
        this.paths = paths;
        this.sysfs = new LiveSysfs(new SysfsTree(paths.sys()));
    }

    @Override
    public List<VerbsDevice> verbsDevices() throws VerbsUnavailableException, NativeException {
        return verbs().devices();
    }

    @Override
    public OpenDevice open(String device) throws VerbsUnavailableException, NativeException {
        return new LiveDevice(verbs().open(device));
    }

    @Override
    public RdmaSource rdma() throws NativeException {
        return new LiveRdma(RdmaNetlink.open());
    }

    @Override
    public List<Link> links() throws NativeException {
        try (RtNetlink netlink = RtNetlink.open()) {
            return netlink.links();
        }
    }

    // SysfsTree answers "absent" to whatever it can't read, so that there are no files to open (a used-up descriptor
    // limit, a wrong mount) would look like a node without devices.
    @Override
    public SysfsSource sysfs() throws IOException {
        try (DirectoryStream<Path> classes =
                Files.newDirectoryStream(paths.sys().resolve("class"))) {
            if (!classes.iterator().hasNext()) {
                throw new IOException(paths.sys().resolve("class") + " is empty; is sysfs mounted there?");
            }
        }
        return sysfs;
    }

    @Override
    public Watch<LinkChange> watchLinks() throws NativeException {
        RtNetlink netlink = RtNetlink.openWithNotifications();
        return new Watch<>() {
            @Override
            public int descriptor() {
                return netlink.changeDescriptor();
            }

            @Override
            public List<LinkChange> read() throws NativeException {
                return netlink.nextChanges();
            }

            @Override
            public void close() {
                netlink.close();
            }
        };
    }

    @Override
    public Optional<Watch<RdmaChange>> watchRdma() throws NativeException {
        RdmaNetlink netlink = RdmaNetlink.openWithNotifications();
        OptionalInt descriptor = netlink.changeDescriptor();
        if (descriptor.isEmpty()) {
            netlink.close();
            return Optional.empty();
        }
        return Optional.of(new Watch<>() {
            @Override
            public int descriptor() {
                return descriptor.getAsInt();
            }

            @Override
            public List<RdmaChange> read() throws NativeException {
                return netlink.drainChanges() ? List.of(RdmaChange.DEVICES) : List.of();
            }

            @Override
            public void close() {
                netlink.close();
            }
        });
    }

    @Override
    public DirectoryWatch watchDirectories() throws NativeException {
        Inotify inotify = Inotify.open();
        return new DirectoryWatch() {
            @Override
            public void watch(Path directory) throws NativeException {
                inotify.watch(directory);
            }

            @Override
            public int descriptor() {
                return inotify.descriptor();
            }

            @Override
            public List<Inotify.Change> read() throws NativeException {
                return inotify.read();
            }

            @Override
            public void close() {
                inotify.close();
            }
        };
    }

    /** Nothing is kept open here but the library, which stays for the life of the process. */
    @Override
    public void close() {
        // Every socket belongs to the one who asked for it.
    }

    private synchronized Verbs verbs() throws VerbsUnavailableException {
        if (verbs == null) {
            verbs = Verbs.load(verbsLibrary);
        }
        return verbs;
    }

    private record LiveDevice(VerbsContext context) implements OpenDevice {
        @Override
        public PortState portState(int port) throws NativeException {
            return context.queryPort(port).state();
        }

        @Override
        public int asyncDescriptor() {
            return context.asyncDescriptor();
        }

        @Override
        public Optional<VerbsEvent> nextEvent() throws NativeException {
            return context.nextEvent();
        }

        @Override
        public void close() {
            context.close();
        }
    }

    private record LiveRdma(RdmaNetlink netlink) implements RdmaSource {
        @Override
        public List<RdmaLink> devices() throws NativeException {
            return netlink.devices();
        }

        @Override
        public List<RdmaPort> ports(int deviceIndex) throws NativeException {
            return netlink.ports(deviceIndex);
        }

        @Override
        public Optional<RdmaCharacterDevice> characterDevice(int deviceIndex) throws NativeException {
            return netlink.characterDevice(deviceIndex);
        }

        @Override
        public RdmaNetlink.NetnsMode netnsMode() throws NativeException {
            return netlink.netnsMode();
        }

        @Override
        public void close() {
            netlink.close();
        }
    }

    private record LiveSysfs(SysfsTree tree) implements SysfsSource {
        @Override
        public List<RdmaClassDevice> rdmaDevices() {
            return tree.rdmaDevices();
        }

        @Override
        public List<UverbsClassDevice> uverbsDevices() {
            return tree.uverbsDevices();
        }

        @Override
        public Optional<PortState> portState(String device, int port) {
            return tree.portState(device, port);
        }

        @Override
        public OptionalInt netdevNumaNode(String netdev) {
            return tree.netdevNumaNode(netdev);
        }

        @Override
        public Optional<Boolean> erdmaCompatMode() {
            return tree.erdmaCompatMode();
        }
    }
}
