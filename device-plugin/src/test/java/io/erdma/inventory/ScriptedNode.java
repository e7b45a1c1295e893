package io.erdma.inventory;

import io.erdma.libc.Errno;
import io.erdma.libc.LibC;
import io.erdma.libc.NativeException;
import io.erdma.libc.SystemCall;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaCharacterDevice;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.RdmaPort;
import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.sysfs.SysfsTree.UverbsClassDevice;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsEvent;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A node whose every source says what the test tells it to, with real descriptors behind its notifications. */
public final class ScriptedNode implements NodeSources {
    /** A device as all sources see it. */
    public static final class Device {
        final String name;
        final int index;

        public volatile int driverId = RdmaCharacterDevice.DRIVER_ERDMA;
        public volatile NodeType type = NodeType.CA;
        public volatile NodeGuid guid;
        public volatile String uverbs;
        public volatile PortState state = PortState.ACTIVE;
        public volatile OptionalInt netdev = OptionalInt.empty();
        public volatile OptionalInt numaNode = OptionalInt.empty();
        public volatile Optional<String> sysfsDriver = Optional.of("erdma");
        public volatile OptionalInt pciDevice = OptionalInt.of(0x107f);
        public volatile boolean inVerbs = true;
        public volatile boolean inNetlink = true;
        public volatile boolean inSysfs = true;
        public volatile int openErrno;
        public volatile int queryErrno;
        /** Thrown by each open: a fault of the program's own. */
        public volatile Optional<Supplier<Error>> openFault = Optional.empty();

        /** When set, each question for the port's state gets the next of them, in turn. */
        public volatile List<PortState> states = List.of();

        public final AtomicInteger asked = new AtomicInteger();
        public final AtomicInteger openAttempts = new AtomicInteger();

        /** While set, whoever asks the driver waits for it. */
        public volatile Optional<CountDownLatch> hang = Optional.empty();

        /** While set, whoever opens the device waits for it. */
        public volatile Optional<CountDownLatch> openHang = Optional.empty();

        /** While set, opening, asking and closing the device by verbs meet a bug of ours. */
        public volatile Optional<String> fault = Optional.empty();

        /** While set, asking the open device meets a bug of ours. */
        public volatile Optional<String> askFault = Optional.empty();

        public final AtomicInteger faults = new AtomicInteger();

        final Queue<VerbsEvent> events = new ArrayDeque<>();
        final List<Context> contexts = new ArrayList<>();

        Device(String name, int index) {
            this.name = name;
            this.index = index;
            this.uverbs = "uverbs" + index;
            this.guid = new NodeGuid(0x0216_3eff_fe00_0000L + index);
        }

        void meetFault() {
            fault.ifPresent(message -> {
                faults.incrementAndGet();
                throw new IllegalStateException(message);
            });
        }

        void meetHang() {
            hang.ifPresent(ScriptedNode::await);
        }
    }

    private final Map<String, Device> devices = new TreeMap<>();
    private final Map<Integer, Link> links = new TreeMap<>();
    private final Path root;
    private final LibC libc;

    public final AtomicInteger opened = new AtomicInteger();
    public final AtomicInteger closed = new AtomicInteger();
    public final AtomicInteger scans = new AtomicInteger();

    public volatile Optional<String> verbsProblem = Optional.empty();
    public volatile int netlinkErrno;
    public volatile int linksErrno;
    public volatile Optional<String> sysfsProblem = Optional.empty();

    /** While set, the next so many readings of sysfs wait for it. */
    public volatile Optional<CountDownLatch> sysfsHang = Optional.empty();

    public final AtomicInteger sysfsHangs = new AtomicInteger();

    public volatile int inotifyErrno;
    public volatile NetnsMode netnsMode = NetnsMode.SHARED;
    public volatile Optional<Boolean> compatMode = Optional.empty();
    public volatile boolean rdmaNotifies;

    private final List<Notifications<LinkChange>> linkWatches = new ArrayList<>();
    private final List<Notifications<RdmaChange>> rdmaWatches = new ArrayList<>();

    /** @param root an empty directory; its dev is the node's /dev */
    public ScriptedNode(Path root) throws IOException {
        this.root = root;
        this.libc = LibC.load();
        Files.createDirectories(root.resolve("dev"));
        Files.createDirectories(root.resolve("etc/libibverbs.d"));
    }

    public NodePaths paths() {
        return new NodePaths(root.resolve("sys"), root.resolve("dev"), root.resolve("etc"));
    }

    // ---- what the test does to the node

    /** Adds a device with its uverbs node and a link that is up. */
    public synchronized Device add(String name, int index) {
        Device device = new Device(name, index);
        device.netdev = OptionalInt.of(10 + index);
        links.put(10 + index, link(10 + index, "eth" + index, true));
        devices.put(name, device);
        makeNode(device.uverbs);
        return device;
    }

    public synchronized Device find(String name) {
        return devices.get(name);
    }

    public synchronized void remove(String name) {
        Device device = devices.remove(name);
        removeNode(device.uverbs);
        device.contexts.forEach(Context::hangUp);
    }

    /** Closes what is left open. */
    public synchronized void closeContexts(Device device) {
        List.copyOf(device.contexts).forEach(Context::close);
    }

    public synchronized void rename(String name, String newName) {
        Device former = devices.remove(name);
        Device latter = new Device(newName, former.index);
        latter.netdev = former.netdev;
        devices.put(newName, latter);
        rdmaWatches.forEach(watch -> watch.add(RdmaChange.DEVICES));
    }

    public void makeNode(String node) {
        try {
            Files.createDirectories(paths().infiniband());
            Files.write(paths().infiniband().resolve(node), new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void removeNode(String node) {
        try {
            Files.deleteIfExists(paths().infiniband().resolve(node));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As kernel 6.1 does it with the last node. */
    public void removeNodeDirectory() {
        try {
            Files.delete(paths().infiniband());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public synchronized void setLink(int index, boolean carrier) {
        Link link = link(index, links.get(index).name(), carrier);
        links.put(index, link);
        linkWatches.forEach(watch -> watch.add(new LinkChange.Changed(link)));
    }

    public synchronized void removeLink(int index) {
        Link link = links.remove(index);
        linkWatches.forEach(watch -> watch.add(new LinkChange.Removed(index, link.name())));
    }

    public synchronized boolean linksWatched() {
        return !linkWatches.isEmpty();
    }

    /** Reading the present notifications of links fails, and closing them too. */
    public synchronized void breakLinkNotifications() {
        linkWatches.forEach(Notifications::breakOff);
        linkWatches.clear();
    }

    public synchronized void loseLinkNotifications() {
        linkWatches.forEach(watch -> watch.add(new LinkChange.Lost()));
    }

    /** Changes a link without a notification. */
    public synchronized void setLinkSilently(int index, boolean carrier) {
        links.put(index, link(index, links.get(index).name(), carrier));
    }

    public synchronized void raise(Device device, VerbsEvent event) {
        device.events.add(event);
        device.contexts.forEach(context -> signal(context.descriptor));
    }

    public synchronized void setPort(Device device, PortState state) {
        device.state = state;
        raise(device, state == PortState.ACTIVE ? new VerbsEvent.PortActive(1) : new VerbsEvent.PortError(1));
    }

    public static Link link(int index, String name, boolean carrier) {
        int flags = Link.IFF_UP | (carrier ? Link.IFF_LOWER_UP | Link.IFF_RUNNING : 0);
        Optional<MacAddress> mac = Optional.of(new MacAddress(0x0016_3e00_0000L + index - 10));
        return new Link(
                index,
                name,
                flags,
                1500,
                carrier ? 6 : 2,
                Optional.of(carrier),
                mac,
                mac,
                Optional.empty(),
                Optional.empty());
    }

    // ---- what the code under test sees

    @Override
    public synchronized List<VerbsDevice> verbsDevices() throws VerbsUnavailableException {
        scans.incrementAndGet();
        requireVerbs();
        return devices.values().stream()
                .filter(device -> device.inVerbs && nodeExists(device))
                .map(device -> new VerbsDevice(device.name, device.uverbs, device.guid, device.type, 0))
                .toList();
    }

    @Override
    public OpenDevice open(String name) throws VerbsUnavailableException, NativeException {
        requireVerbs();
        Device device;
        synchronized (this) {
            device = devices.get(name);
            if (device == null || !device.inVerbs || !nodeExists(device)) {
                throw new NativeException("ibv_open_device", Errno.ENODEV, name);
            }
        }
        device.openAttempts.incrementAndGet();
        device.openHang.ifPresent(ScriptedNode::await);
        device.meetHang();
        device.meetFault();
        device.openFault.ifPresent(fault -> {
            throw fault.get();
        });
        if (device.openErrno != 0) {
            throw new NativeException("ibv_open_device", device.openErrno, name);
        }
        synchronized (this) {
            Context context = new Context(device, eventDescriptor());
            device.contexts.add(context);
            opened.incrementAndGet();
            return context;
        }
    }

    @Override
    public RdmaSource rdma() throws NativeException {
        if (netlinkErrno != 0) {
            throw new NativeException("socket", netlinkErrno, "NETLINK_RDMA");
        }
        return new Rdma();
    }

    @Override
    public synchronized List<Link> links() throws NativeException {
        if (linksErrno != 0) {
            throw new NativeException("socket", linksErrno, "NETLINK_ROUTE");
        }
        return List.copyOf(links.values());
    }

    @Override
    public SysfsSource sysfs() throws IOException {
        if (sysfsHang.isPresent() && sysfsHangs.getAndDecrement() > 0) {
            await(sysfsHang.get());
        }
        if (sysfsProblem.isPresent()) {
            throw new IOException(sysfsProblem.get());
        }
        return new Sysfs();
    }

    @Override
    public synchronized Watch<LinkChange> watchLinks() throws NativeException {
        if (linksErrno != 0) {
            throw new NativeException("socket", linksErrno, "NETLINK_ROUTE");
        }
        Notifications<LinkChange> watch = new Notifications<>(eventDescriptor());
        linkWatches.add(watch);
        return watch;
    }

    @Override
    public synchronized Optional<Watch<RdmaChange>> watchRdma() throws NativeException {
        if (!rdmaNotifies) {
            return Optional.empty();
        }
        Notifications<RdmaChange> watch = new Notifications<>(eventDescriptor());
        rdmaWatches.add(watch);
        return Optional.of(watch);
    }

    /** The real inotify, unless it is to fail. */
    @Override
    public DirectoryWatch watchDirectories() throws NativeException {
        if (inotifyErrno != 0) {
            throw new NativeException("inotify_init1", inotifyErrno, "inotify");
        }
        return new LiveSources("none", paths()).watchDirectories();
    }

    @Override
    public void close() {
        // The contexts and watches are closed by those who asked for them.
    }

    public static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean nodeExists(Device device) {
        return Files.exists(paths().infiniband().resolve(device.uverbs));
    }

    private void requireVerbs() throws VerbsUnavailableException {
        if (verbsProblem.isPresent()) {
            throw new VerbsUnavailableException(verbsProblem.get(), new IOException(verbsProblem.get()));
        }
    }

    private int eventDescriptor() throws NativeException {
        return SystemCall.checked("eventfd", "test", () -> libc.eventfd(0, LibC.EFD_NONBLOCK | LibC.EFD_CLOEXEC));
    }

    private void signal(int descriptor) {
        byte[] one =
                ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(1).array();
        long written = libc.write(descriptor, one, one.length);
        if (written != one.length) {
            throw new IllegalStateException("eventfd took " + written + " bytes");
        }
    }

    /** Reading sets an eventfd's counter back; it is non-blocking, so an empty one only says so. */
    private void calm(int descriptor) {
        byte[] counter = new byte[8];
        long read = libc.read(descriptor, counter, counter.length);
        if (read != counter.length && read != -1) {
            throw new IllegalStateException("eventfd gave " + read + " bytes");
        }
    }

    final class Context implements OpenDevice {
        private final Device device;
        private final int descriptor;
        private boolean gone;
        private boolean over;

        Context(Device device, int descriptor) {
            this.device = device;
            this.descriptor = descriptor;
        }

        void hangUp() {
            gone = true;
            signal(descriptor);
        }

        @Override
        public PortState portState(int port) throws NativeException {
            device.meetHang();
            device.meetFault();
            device.askFault.ifPresent(message -> {
                throw new IllegalStateException(message);
            });
            if (device.queryErrno != 0) {
                throw new NativeException("ibv_query_port", device.queryErrno, device.name + " port " + port);
            }
            List<PortState> states = device.states;
            int turn = device.asked.getAndIncrement();
            return states.isEmpty() ? device.state : states.get(turn % states.size());
        }

        @Override
        public int asyncDescriptor() {
            return descriptor;
        }

        @Override
        public Optional<VerbsEvent> nextEvent() throws NativeException {
            synchronized (ScriptedNode.this) {
                if (over) {
                    throw new IllegalStateException("context of " + device.name + " is closed");
                }
                if (gone) {
                    throw new NativeException("ibv_get_async_event", Errno.EIO, device.name);
                }
                calm(descriptor);
                return Optional.ofNullable(device.events.poll());
            }
        }

        @Override
        public void close() {
            device.meetHang();
            device.meetFault();
            synchronized (ScriptedNode.this) {
                if (over) {
                    throw new IllegalStateException("context of " + device.name + " is closed twice");
                }
                over = true;
                device.contexts.remove(this);
                libc.close(descriptor);
                closed.incrementAndGet();
            }
        }
    }

    private final class Rdma implements RdmaSource {
        private Device find(int index) throws NativeException {
            synchronized (ScriptedNode.this) {
                return devices.values().stream()
                        .filter(device -> device.index == index)
                        .findFirst()
                        .orElseThrow(() -> new NativeException("recv", Errno.ENODEV, "device " + index));
            }
        }

        @Override
        public List<RdmaLink> devices() {
            synchronized (ScriptedNode.this) {
                return devices.values().stream()
                        .filter(device -> device.inNetlink)
                        .map(device ->
                                new RdmaLink(device.index, device.name, 1, device.guid, device.type, "1.0", "roce"))
                        .toList();
            }
        }

        @Override
        public List<RdmaPort> ports(int deviceIndex) throws NativeException {
            Device device = find(deviceIndex);
            device.meetHang();
            return List.of(new RdmaPort(
                    deviceIndex,
                    1,
                    device.state,
                    5,
                    device.netdev,
                    device.netdev.isPresent() ? Optional.of("eth" + deviceIndex) : Optional.empty()));
        }

        @Override
        public Optional<RdmaCharacterDevice> characterDevice(int deviceIndex) throws NativeException {
            Device device = find(deviceIndex);
            return Optional.of(new RdmaCharacterDevice(device.uverbs, device.driverId, 231, 192 + deviceIndex, 1));
        }

        @Override
        public NetnsMode netnsMode() {
            return netnsMode;
        }

        @Override
        public void close() {
            // Owns nothing.
        }
    }

    private final class Sysfs implements SysfsSource {
        @Override
        public List<RdmaClassDevice> rdmaDevices() {
            synchronized (ScriptedNode.this) {
                return devices.values().stream()
                        .filter(device -> device.inSysfs)
                        .map(device -> new RdmaClassDevice(
                                device.name,
                                device.type,
                                device.guid,
                                device.sysfsDriver,
                                OptionalInt.of(0x1ded),
                                device.pciDevice,
                                Optional.of("0000:00:0" + device.index + ".0"),
                                List.of(),
                                device.numaNode,
                                List.of(1)))
                        .toList();
            }
        }

        @Override
        public List<UverbsClassDevice> uverbsDevices() {
            synchronized (ScriptedNode.this) {
                return devices.values().stream()
                        .filter(device -> device.inSysfs)
                        .map(device -> new UverbsClassDevice(
                                device.uverbs,
                                device.name,
                                OptionalInt.of(231),
                                OptionalInt.of(192 + device.index),
                                OptionalInt.of(1)))
                        .toList();
            }
        }

        @Override
        public Optional<PortState> portState(String name, int port) {
            Device device;
            synchronized (ScriptedNode.this) {
                device = devices.get(name);
            }
            if (device == null || !device.inSysfs) {
                return Optional.empty();
            }
            device.meetHang();
            return Optional.of(device.state);
        }

        @Override
        public OptionalInt netdevNumaNode(String netdev) {
            return OptionalInt.empty();
        }

        @Override
        public Optional<Boolean> erdmaCompatMode() {
            return compatMode;
        }
    }

    private final class Notifications<T> implements Watch<T> {
        private final int descriptor;
        private final List<T> waiting = new ArrayList<>();
        private boolean over;
        private boolean broken;

        Notifications(int descriptor) {
            this.descriptor = descriptor;
        }

        void breakOff() {
            broken = true;
            signal(descriptor);
        }

        void add(T change) {
            if (!over) {
                waiting.add(change);
                signal(descriptor);
            }
        }

        @Override
        public int descriptor() {
            return descriptor;
        }

        @Override
        public List<T> read() throws NativeException {
            synchronized (ScriptedNode.this) {
                if (broken) {
                    throw new NativeException("recv", Errno.EIO, "notifications");
                }
                calm(descriptor);
                List<T> changes = List.copyOf(waiting);
                waiting.clear();
                return changes;
            }
        }

        @Override
        public void close() {
            synchronized (ScriptedNode.this) {
                if (!over) {
                    over = true;
                    libc.close(descriptor);
                }
                if (broken) {
                    throw new IllegalStateException("close broke");
                }
            }
        }
    }
}
