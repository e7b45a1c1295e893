package io.erdma.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import jnr.ffi.LibraryLoader;

/**
 * Devices for the stand-in of libibverbs ({@code src/test/c/fakeverbs.c}): this class writes the tree of files that the
 * stand-in reads anew at each call, so a change is seen at once, by this process and by any other.
 *
 * <p>In this process:
 *
 * <pre>{@code
 * try (FakeVerbs fake = FakeVerbs.at(directory)) {          // compiles once per JVM; this process now sees directory
 *     FakeVerbs.Device erdma0 = fake.device("erdma_0").uverbs("uverbs0").gid(0, "::ffff:10.0.0.4", ROCE_V2, 2);
 *     Verbs verbs = Verbs.load(FakeVerbs.library().toString());
 *     ...
 *     erdma0.portDown();                                    // state and event, as a driver does it
 *     erdma0.failing(Call.QUERY_PORT, Errno.EIO);           // any single call
 *     erdma0.hanging(Call.OPEN_DEVICE); ... erdma0.answering(Call.OPEN_DEVICE);
 *     erdma0.remove();                                      // a hot unplug: DEVICE_FATAL, then EIO
 *     assertThat(fake.count(Counter.OPEN_DEVICE)).isEqualTo(fake.count(Counter.CLOSE_DEVICE));
 * }
 * }</pre>
 *
 * <p>For another process: start it with {@link #environment()} and {@link #library()} as its verbs library, and change
 * devices and emit events from here; {@link #count(Counter, long)} reads its counters. The stand-in ends the process
 * with one line on stderr when it is used wrongly: after free, closed twice, closed under a call, acknowledged without
 * an event.
 *
 * <p>A process has one root at a time, so tests of one JVM that use this class must not run side by side.
 */
public final class FakeVerbs implements AutoCloseable {
    private static final String ROOT_VARIABLE = "ERDMA_FAKEVERBS";

    /** Compiled at the first use, for the life of the JVM. */
    private static final class Compiled {
        static final Path LIBRARY = compile();
        static final Control CONTROL = LibraryLoader.create(Control.class).load(LIBRARY.toString());
    }

    /** The functions of the stand-in that the real library hasn't. */
    public interface Control {
        void fakeverbs_root(String path);

        long fakeverbs_count(String name);

        int fakeverbs_calls_under_way();
    }

    /** What can be made to fail or hang. */
    public enum Call {
        GET_DEVICE_LIST,
        OPEN_DEVICE,
        QUERY_DEVICE,
        QUERY_PORT,
        QUERY_GID,
        QUERY_GID_EX,
        QUERY_GID_TABLE,
        GET_ASYNC_EVENT;

        private String file(String suffix) {
            return name().toLowerCase(Locale.ROOT) + suffix;
        }
    }

    /** Calls that returned well, in the order of the C enum; a query counts when it failed, too. */
    public enum Counter {
        GET_DEVICE_LIST(0),
        FREE_DEVICE_LIST(1),
        OPEN_DEVICE(2),
        CLOSE_DEVICE(3),
        GET_ASYNC_EVENT(4),
        ACK_ASYNC_EVENT(5),
        QUERY_DEVICE(6),
        QUERY_PORT(7),
        QUERY_GID(8);

        private final int place;

        Counter(int place) {
            this.place = place;
        }
    }

    private final Path root;

    private FakeVerbs(Path root) {
        this.root = root;
    }

    /** The stand-in's file, to be given where {@code libibverbs.so.1} would stand. */
    public static Path library() {
        return Compiled.LIBRARY;
    }

    /** Another build of the stand-in: {@code -DWITHOUT_GID_TABLE} is one from before IBVERBS_1.11. */
    static Path library(Path directory, String define) {
        return CCompiler.compile(
                "fakeverbs.c", directory, "libfakeverbs-variant.so", "-shared", "-fPIC", "-pthread", define);
    }

    /** Makes {@code root} if need be and has this process' stand-in read it; its counters begin at 0. */
    public static FakeVerbs at(Path root) {
        FakeVerbs fake = tree(root);
        Compiled.CONTROL.fakeverbs_root(root.toString());
        return fake;
    }

    /** Writes a tree for other processes alone; needs no compiler. */
    public static FakeVerbs tree(Path root) {
        try {
            return new FakeVerbs(Files.createDirectories(root));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path root() {
        return root;
    }

    /** What a process needs in its environment to see these devices. */
    public Map<String, String> environment() {
        return Map.of(ROOT_VARIABLE, root.toString());
    }

    /** The device of that name; made, as a healthy eRDMA device, unless it is there. */
    public Device device(String name) {
        Path directory = root.resolve(name);
        try {
            if (!Files.isDirectory(directory)) {
                // Renamed into place with its GUID, so that no reader sees half a device.
                Path whole = Files.createDirectories(root.resolve(".making-" + name));
                Files.writeString(
                        whole.resolve("guid"), new NodeGuid(0x0216_3eff_fe00_0000L + name.hashCode() % 997).toString());
                Files.move(whole, directory, StandardCopyOption.ATOMIC_MOVE);
            }
            return new Device(name, directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code ibv_get_device_list} fails with it; ENOSYS is a kernel without verbs. */
    public FakeVerbs failingToList(int errno) {
        write(root, Call.GET_DEVICE_LIST.file("_errno"), Integer.toString(errno));
        return this;
    }

    public FakeVerbs hangingToList() {
        write(root, Call.GET_DEVICE_LIST.file("_hang"), "");
        return this;
    }

    /** Ends {@link #failingToList} and {@link #hangingToList}. */
    public FakeVerbs listing() {
        delete(root.resolve(Call.GET_DEVICE_LIST.file("_errno")));
        delete(root.resolve(Call.GET_DEVICE_LIST.file("_hang")));
        return this;
    }

    /** Calls that this process has made since {@link #at}. */
    public long count(Counter counter) {
        return Compiled.CONTROL.fakeverbs_count(counter.name().toLowerCase(Locale.ROOT));
    }

    /** Calls on open devices that this process has begun and that have not returned. */
    public int callsUnderWay() {
        return Compiled.CONTROL.fakeverbs_calls_under_way();
    }

    /** Calls that another process has made; 0 before its first. */
    public long count(Counter counter, long pid) {
        try {
            byte[] counters = Files.readAllBytes(root.resolve(".counters." + pid));
            return ByteBuffer.wrap(counters).order(ByteOrder.nativeOrder()).getLong(counter.place * Long.BYTES);
        } catch (NoSuchFileException e) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** This process' stand-in has no devices any more; the tree stays. */
    @Override
    public void close() {
        Compiled.CONTROL.fakeverbs_root("");
    }

    /** One device; each method takes effect with the next call that any process makes. */
    public static final class Device {
        private final String name;
        private final Path directory;

        private Device(String name, Path directory) {
            this.name = name;
            this.directory = directory;
        }

        public String name() {
            return name;
        }

        public Device nodeType(NodeType type) {
            return attribute("node_type", type.number());
        }

        /** As sysfs writes it: four groups of four hex digits. */
        public Device guid(String guid) {
            return text("guid", guid);
        }

        public Device uverbs(String uverbsName) {
            return text("uverbs", uverbsName);
        }

        /** Place in the device list; equal ones are ordered by name. */
        public Device index(int place) {
            return attribute("index", place);
        }

        /** The list leaves the device out, as it does when its character device is missing. */
        public Device hidden(boolean hidden) {
            return hidden ? text("hidden", "") : without("hidden");
        }

        /** Of every port that has no state of its own; without an event, see {@link #portDown}. */
        public Device portState(PortState state) {
            return attribute("port_state", number(state));
        }

        /** Down with its event, as a driver reports a lost link. */
        public Device portDown() {
            portState(PortState.DOWN);
            emit(new VerbsEvent.PortError(1));
            return this;
        }

        /** Active again with its event. */
        public Device portUp() {
            portState(PortState.ACTIVE);
            emit(new VerbsEvent.PortActive(1));
            return this;
        }

        /** @param field C name of a field of {@code ibv_device_attr} or {@code ibv_port_attr}, for example fw_ver */
        public Device attribute(String field, long value) {
            return text(field, Long.toString(value));
        }

        public Device attribute(String field, String value) {
            return text(field, value);
        }

        public Device portAttribute(int port, String field, long value) {
            return text("ports/" + port + "/" + field, Long.toString(value));
        }

        /** Fills a slot of the GID table of all ports; the address is in IPv6 notation. */
        public Device gid(int slot, String address, GidEntry.Type type, int ifindex) {
            return addGid("gids", slot, address, type, ifindex);
        }

        /** Fills a slot of the GID table of one port, which then has none of the common ones. */
        public Device portGid(int port, int slot, String address, GidEntry.Type type, int ifindex) {
            return addGid("ports/" + port + "/gids", slot, address, type, ifindex);
        }

        private Device addGid(String file, int slot, String address, GidEntry.Type type, int ifindex) {
            try {
                Path gids = directory.resolve(file);
                String before = Files.exists(gids) ? Files.readString(gids) : "";
                return text(file, before + slot + " " + address + " " + number(type) + " " + ifindex + "\n");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        public Device withoutGids() {
            return without("gids");
        }

        public Device failing(Call call, int errno) {
            return text(call.file("_errno"), Integer.toString(errno));
        }

        public Device hanging(Call call) {
            return text(call.file("_hang"), "");
        }

        /** Ends {@link #failing} and {@link #hanging}. */
        public Device answering(Call call) {
            return without(call.file("_errno")).without(call.file("_hang"));
        }

        /** Sends an event to every process that has the device open; answers to how many contexts it went. */
        public int emit(VerbsEvent event) {
            return switch (event) {
                case VerbsEvent.DeviceFatal() -> emit(8, 0);
                case VerbsEvent.PortActive(int port) -> emit(9, port);
                case VerbsEvent.PortError(int port) -> emit(10, port);
                case VerbsEvent.GidChange(int port) -> emit(18, port);
                case VerbsEvent.Other(int type) -> emit(type, 0);
            };
        }

        private int emit(int type, int port) {
            ByteBuffer event = ByteBuffer.allocate(AsyncEvent.BUFFER).order(ByteOrder.nativeOrder());
            event.putInt(AsyncEvent.ELEMENT_PORT_NUM.offset(), port);
            event.putInt(AsyncEvent.EVENT_TYPE.offset(), type);
            int reached = 0;
            for (Path fifo : openContexts()) {
                reached += send(event.duplicate(), fifo) ? 1 : 0;
            }
            return reached;
        }

        /** False when the context was closed since it was listed. */
        private static boolean send(ByteBuffer event, Path fifo) {
            // Opened for both directions, which never waits for the other side.
            try (FileChannel channel = FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                channel.write(event);
                return true;
            } catch (NoSuchFileException e) {
                return false;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** One path for each context that a living process has open. */
        public List<Path> openContexts() {
            List<Path> open = new ArrayList<>();
            try (DirectoryStream<Path> fifos = Files.newDirectoryStream(directory, "events.*")) {
                for (Path fifo : fifos) {
                    String name = fifo.getFileName().toString();
                    String pid = name.substring(name.indexOf('.') + 1, name.lastIndexOf('.'));
                    if (Files.exists(Path.of("/proc", pid))) {
                        open.add(fifo);
                    }
                }
                return open;
            } catch (NoSuchFileException e) {
                return List.of();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A hot unplug: contexts get DEVICE_FATAL, then each of their calls answers EIO. */
        public void remove() {
            emit(new VerbsEvent.DeviceFatal());
            try {
                // Out of sight at once, then taken apart.
                Path gone = directory.resolveSibling(".gone-" + name + "-" + System.nanoTime());
                Files.move(directory, gone, StandardCopyOption.ATOMIC_MOVE);
                try (Stream<Path> files = Files.walk(gone)) {
                    files.sorted(Comparator.reverseOrder()).forEach(FakeVerbs::delete);
                }
            } catch (NoSuchFileException e) {
                throw new IllegalStateException(name + " has been removed already", e);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private Device text(String file, String content) {
            write(directory, file, content);
            return this;
        }

        private Device without(String file) {
            delete(directory.resolve(file));
            return this;
        }
    }

    private static int number(PortState state) {
        return switch (state) {
            case NOP -> 0;
            case DOWN -> 1;
            case INIT -> 2;
            case ARMED -> 3;
            case ACTIVE -> 4;
            case ACTIVE_DEFER -> 5;
            case UNKNOWN -> 99;
        };
    }

    private static int number(GidEntry.Type type) {
        return switch (type) {
            case IB -> 0;
            case ROCE_V1 -> 1;
            case ROCE_V2 -> 2;
        };
    }

    private static void write(Path directory, String file, String content) {
        try {
            Path target = directory.resolve(file);
            Path parent = target.getParent();
            if (!parent.equals(directory)) {
                Files.createDirectories(parent);
            }
            // Renamed into place, so that no reader sees half a file.
            Path whole = parent.resolve(
                    "." + target.getFileName() + "." + Thread.currentThread().threadId());
            Files.writeString(whole, content);
            Files.move(whole, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path compile() {
        try {
            Path directory = Files.createTempDirectory("fakeverbs");
            directory.toFile().deleteOnExit();
            Path library =
                    CCompiler.compile("fakeverbs.c", directory, "libfakeverbs.so", "-shared", "-fPIC", "-pthread");
            directory.resolve("fakeverbs.c").toFile().deleteOnExit();
            library.toFile().deleteOnExit();
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
