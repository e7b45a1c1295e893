package io.erdma.plugin;

import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;

/**
 * Keeps a watch on a directory that may not exist yet, may go and come back, and may be one that the kernel has no watch
 * left for. While it is missing, its nearest ancestor is watched instead. One thread waits; any thread may wake it.
 */
final class WatchKeeper implements AutoCloseable {
    private static final Log LOG = Log.of(WatchKeeper.class);
    private static final Duration TRY_AGAIN = Duration.ofMinutes(1);

    private final Path target;
    private final Duration poll;
    private final DirectoryWatch.Factory factory;
    private final InotifyShortage shortage;

    private final Object lock = new Object();
    private DirectoryWatch watch;
    private boolean wakeUp;

    private Path watched;
    private Object watchedKey;
    private boolean polling;
    private long pollingSince;
    private boolean warned;

    WatchKeeper(Path target, Duration poll, DirectoryWatch.Factory factory, InotifyShortage shortage) {
        this.target = target;
        this.poll = poll;
        this.factory = factory;
        this.shortage = shortage;
        this.watch = new PollingWatch(poll);
        this.watched = target;
        this.watchedKey = "";
    }

    /**
     * Returns after a change, a wake-up or that time; at once when the watch had to be made anew, since something may have
     * happened before it was there.
     */
    void await(Duration atMost) {
        if (refresh()) {
            return;
        }
        synchronized (lock) {
            if (wakeUp) {
                wakeUp = false;
                return;
            }
        }
        try {
            watch.await(atMost);
        } catch (IOException e) {
            fallBack(e);
        }
        synchronized (lock) {
            wakeUp = false;
        }
    }

    void wakeUp() {
        synchronized (lock) {
            wakeUp = true;
            watch.wakeUp();
        }
    }

    private boolean refresh() {
        Path wanted = nearestDirectory();
        if (polling) {
            if (System.nanoTime() - pollingSince < TRY_AGAIN.toNanos()) {
                return false;
            }
        } else if (wanted.equals(watched) && watch.intact() && key(wanted).equals(watchedKey)) {
            return false;
        }
        Object key = key(wanted);
        try {
            replace(factory.open(wanted));
            polling = false;
            watched = wanted;
            watchedKey = key;
        } catch (IOException e) {
            fallBack(e);
        }
        return true;
    }

    private void fallBack(IOException failure) {
        replace(new PollingWatch(poll));
        polling = true;
        pollingSince = System.nanoTime();
        if (!warned) {
            warned = true;
            shortage.tell(
                    LOG,
                    "changes of " + target + " are polled every " + poll.toMillis()
                            + " ms, not notified, so a kubelet restart is noticed later",
                    failure);
        }
    }

    private void replace(DirectoryWatch next) {
        // A wake-up must never reach a closed watch: its descriptor may be another's by then.
        synchronized (lock) {
            watch.close();
            watch = next;
        }
    }

    private Path nearestDirectory() {
        Path nearest = target.toAbsolutePath();
        while (!Files.isDirectory(nearest) && nearest.getParent() != null) {
            nearest = nearest.getParent();
        }
        return nearest;
    }

    private static Object key(Path directory) {
        try {
            Object key = Files.readAttributes(directory, BasicFileAttributes.class, new LinkOption[0])
                    .fileKey();
            return key == null ? "" : key;
        } catch (IOException e) {
            // It went this moment; the next look finds its parent.
            return "";
        }
    }

    @Override
    public void close() {
        synchronized (lock) {
            watch.close();
            watch = new PollingWatch(poll);
        }
    }
}
