package io.erdma.libc;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One inotify instance: names created in, moved into and removed from directories. Safe for use from several threads.
 *
 * <p>A watch follows the directory, not its path: when the directory is removed, moved or unmounted the watch ends with
 * a change that says {@code directoryGone}, and what is created at that path afterwards is seen only after
 * {@link #watch} is called again. A path that is a symbolic link watches the directory that it leads to now.
 */
public final class Inotify implements AutoCloseable {
    private static final String SUBJECT = "the inotify instance";

    private static final int IN_MOVED_FROM = 0x40;
    private static final int IN_MOVED_TO = 0x80;
    private static final int IN_CREATE = 0x100;
    private static final int IN_DELETE = 0x200;
    private static final int IN_DELETE_SELF = 0x400;
    private static final int IN_MOVE_SELF = 0x800;
    private static final int IN_UNMOUNT = 0x2000;
    private static final int IN_Q_OVERFLOW = 0x4000;
    private static final int IN_IGNORED = 0x8000;
    private static final int IN_ONLYDIR = 0x0100_0000;

    private static final int WANTED =
            IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    private static final int APPEARED = IN_CREATE | IN_MOVED_TO;
    private static final int WENT = IN_DELETE | IN_MOVED_FROM;
    private static final int GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

    /** Room for many events; one with the longest name (255 bytes) needs 272. */
    private static final int BUFFER = 16 * 1024;

    /**
     * One change.
     *
     * @param directory the watched directory, as it was given to {@link #watch}; empty for an overflow
     * @param name the entry's name; empty when the event is about the directory itself
     * @param created true: it appeared (created or moved in); false: it went
     * @param directoryGone the watched directory itself was removed, moved or unmounted; its watch has ended
     * @param overflow the kernel dropped events: look at everything anew
     */
    public record Change(Path directory, String name, boolean created, boolean directoryGone, boolean overflow) {}

    private final LibC libc;
    private final int fd;
    private final Map<Integer, Path> directories = new HashMap<>();
    private boolean closed;

    private Inotify(LibC libc, int fd) {
        this.libc = libc;
        this.fd = fd;
    }

    /** @throws NativeException with EMFILE when the user's inotify instances are used up (fs.inotify.max_user_instances) */
    public static Inotify open() throws NativeException {
        LibC libc = LibC.load();
        return new Inotify(
                libc,
                SystemCall.checked(
                        "inotify_init1", SUBJECT, () -> libc.inotify_init1(LibC.IN_NONBLOCK | LibC.IN_CLOEXEC)));
    }

    /**
     * Watching a directory again replaces the former watch.
     *
     * @throws NativeException ENOENT when there is no such directory, ENOSPC when the user's watches are used up
     *     (fs.inotify.max_user_watches)
     */
    public synchronized void watch(Path directory) throws NativeException {
        requireNonNull(directory, "directory is null");
        requireOpen();
        int watch = SystemCall.checked(
                "inotify_add_watch",
                directory.toString(),
                () -> libc.inotify_add_watch(fd, directory.toString(), WANTED));
        // The path may lead to another directory than before. Where it is the same one, the kernel gives the same
        // number.
        directories.entrySet().stream()
                .filter(entry -> entry.getValue().equals(directory) && entry.getKey() != watch)
                .map(Map.Entry::getKey)
                .toList()
                .forEach(this::end);
        directories.put(watch, directory);
    }

    /** Never blocks; an empty list when nothing has happened. */
    public synchronized List<Change> read() throws NativeException {
        requireOpen();
        List<Change> changes = new ArrayList<>();
        byte[] buffer = new byte[BUFFER];
        while (true) {
            int length = readInto(buffer);
            if (length == 0) {
                return List.copyOf(changes);
            }
            for (InotifyEvent event : InotifyEvent.parse(buffer, length)) {
                change(event).ifPresent(changes::add);
            }
        }
    }

    /** 0 when nothing waits. */
    private int readInto(byte[] buffer) throws NativeException {
        try {
            return (int) SystemCall.checkedLong("read", SUBJECT, () -> libc.read(fd, buffer, buffer.length));
        } catch (NativeException e) {
            if (e.errno() == Errno.EAGAIN) {
                return 0;
            }
            throw e;
        }
    }

    private Optional<Change> change(InotifyEvent event) {
        if ((event.mask() & IN_Q_OVERFLOW) != 0) {
            return Optional.of(new Change(Path.of(""), "", false, false, true));
        }
        Path directory = directories.get(event.watch());
        if (directory == null) {
            // The end of a watch that was reported or replaced before.
            return Optional.empty();
        }
        if ((event.mask() & GONE) != 0) {
            directories.remove(event.watch());
            if ((event.mask() & IN_MOVE_SELF) != 0) {
                // The directory lives on under another path, and so would its watch.
                end(event.watch());
            }
            return Optional.of(new Change(directory, "", false, true, false));
        }
        if ((event.mask() & (APPEARED | WENT)) == 0) {
            return Optional.empty();
        }
        return Optional.of(new Change(directory, event.name(), (event.mask() & APPEARED) != 0, false, false));
    }

    /** Ends a watch; EINVAL means that the kernel has ended it before, and then there is nothing to do. */
    private void end(int watch) {
        directories.remove(watch);
        libc.inotify_rm_watch(fd, watch);
    }

    public synchronized int descriptor() {
        requireOpen();
        return fd;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        // Nothing to flush: close can't fail in a way that anyone could act upon.
        libc.close(fd);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the inotify instance has been closed");
        }
    }
}
