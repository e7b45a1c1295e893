package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Waits for something to happen in a directory. It may wake for nothing: whoever waits looks at the directory itself. */
interface DirectoryWatch extends AutoCloseable {
    /** Makes a watch; the live one is {@link InotifyWatch#open}. */
    @FunctionalInterface
    interface Factory {
        DirectoryWatch open(Path directory) throws IOException;
    }

    /** Returns after a change, a wake-up or that time, whichever comes first. */
    void await(Duration atMost) throws IOException;

    /** From any thread: the current or the next await returns at once. */
    void wakeUp();

    /** False once the directory itself has gone: a new one of that name is another one, and needs another watch. */
    boolean intact();

    @Override
    void close();
}
