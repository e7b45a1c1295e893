package io.erdma.plugin;

import io.erdma.libc.Inotify;
import io.erdma.libc.NativeException;
import io.erdma.libc.Poller;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Told by the kernel, at once. */
final class InotifyWatch implements DirectoryWatch {
    private final Poller poller;
    private final Inotify inotify;
    private boolean intact = true;

    private InotifyWatch(Poller poller, Inotify inotify) {
        this.poller = poller;
        this.inotify = inotify;
    }

    static InotifyWatch open(Path directory) throws NativeException {
        Inotify inotify = Inotify.open();
        try {
            inotify.watch(directory);
            return new InotifyWatch(Poller.open(), inotify);
        } catch (NativeException e) {
            inotify.close();
            throw e;
        }
    }

    @Override
    public void await(Duration atMost) throws NativeException {
        poller.await(List.of(inotify.descriptor()), atMost);
        for (Inotify.Change change : inotify.read()) {
            intact &= !change.directoryGone();
        }
    }

    @Override
    public void wakeUp() {
        poller.wakeUp();
    }

    @Override
    public boolean intact() {
        return intact;
    }

    @Override
    public void close() {
        inotify.close();
        poller.close();
    }
}
