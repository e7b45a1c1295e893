package io.erdma.libc;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;

/**
 * A pipe for what a program writes. Its reading end never blocks, so its owner can give it up at any time; a reader of
 * {@link Process#getInputStream} waits on for as long as any child that the program left behind holds the other end.
 *
 * <p>For one thread; a {@link Poller} tells when there is something to read.
 */
public final class OutputPipe implements AutoCloseable {
    private static final String SUBJECT = "a pipe for a program's output";
    private static final int CLOSED = -1;

    private final LibC libc;
    private final int reading;
    private int writing;
    private boolean closed;

    private OutputPipe(LibC libc, int reading, int writing) {
        this.libc = libc;
        this.reading = reading;
        this.writing = writing;
    }

    public static OutputPipe open() throws NativeException {
        LibC libc = LibC.load();
        int[] ends = new int[2];
        SystemCall.checked("pipe2", SUBJECT, () -> libc.pipe2(ends, LibC.O_CLOEXEC));
        OutputPipe pipe = new OutputPipe(libc, ends[0], ends[1]);
        try {
            // Of this end alone: the program expects to wait where we are slow.
            SystemCall.checked("fcntl", SUBJECT, () -> libc.fcntl(ends[0], LibC.F_SETFL, LibC.O_NONBLOCK));
            return pipe;
        } catch (NativeException e) {
            pipe.close();
            throw e;
        }
    }

    /** Where the program is to write, for {@link ProcessBuilder.Redirect#to}; for this process, and until it was started. */
    public Path writingEnd() {
        requireOpen();
        return Path.of("/proc/self/fd/" + writing);
    }

    /** Leaves the writing end to the program. Without it the end of what is written would never show. */
    public void leaveWritingEnd() {
        if (writing != CLOSED) {
            // Nothing to flush: close can't fail in a way that anyone could act upon.
            libc.close(writing);
            writing = CLOSED;
        }
    }

    /** The reading end, for a {@link Poller}. */
    public int descriptor() {
        requireOpen();
        return reading;
    }

    /** @return how many bytes came; 0 when there is nothing now, -1 when nobody can write any more */
    public int read(byte[] into) throws NativeException {
        requireNonNull(into, "into is null");
        requireOpen();
        try {
            int length = (int) SystemCall.checkedLong("read", SUBJECT, () -> libc.read(reading, into, into.length));
            return length == 0 ? -1 : length;
        } catch (NativeException e) {
            if (e.errno() == Errno.EAGAIN) {
                return 0;
            }
            throw e;
        }
    }

    /** Who still writes gets EPIPE from now on. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        leaveWritingEnd();
        libc.close(reading);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the pipe has been closed");
        }
    }
}
