package io.erdma.node.driver;

import io.erdma.libc.OutputPipe;
import io.erdma.libc.Poller;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What one program writes to its two outputs, kept in part. Read by the thread that waits for the program, so nothing is
 * left of it when that one has waited long enough, whoever still holds the program's outputs.
 */
abstract sealed class ProgramOutput implements AutoCloseable {
    final BoundedText out = new BoundedText();
    final BoundedText err = new BoundedText();

    /** Through pipes. Who writes on after the program's end gets EPIPE. */
    static ProgramOutput piped() throws IOException {
        return new Piped();
    }

    /** Both into one file, so that the program does not depend on this process's life. */
    static ProgramOutput into(Path file) {
        return new Filed(file);
    }

    abstract void redirect(ProcessBuilder program);

    /** To be called once the program runs. */
    abstract void started();

    /** Waits until the program writes or ends, at most so long, and takes what it wrote. */
    abstract void await(Process program, Duration atMost) throws IOException, InterruptedException;

    /** Takes what is there now that the program has ended. */
    abstract void takeRest() throws IOException;

    @Override
    public abstract void close();

    private static final class Piped extends ProgramOutput {
        /** What a child that was left behind may still write while we take the rest: it might never end. */
        private static final int REST_CHUNKS = 1_000;

        private final Poller poller;
        private final OutputPipe outPipe;
        private final OutputPipe errPipe;

        /** By descriptor; a pipe that has ended is not asked again. */
        private final Map<Integer, Stream> open = new HashMap<>();

        private final byte[] chunk = new byte[8 << 10];

        private record Stream(OutputPipe pipe, BoundedText text) {}

        Piped() throws IOException {
            poller = Poller.open();
            OutputPipe first = null;
            OutputPipe second = null;
            try {
                first = OutputPipe.open();
                second = OutputPipe.open();
            } finally {
                if (second == null) {
                    if (first != null) {
                        first.close();
                    }
                    poller.close();
                }
            }
            outPipe = first;
            errPipe = second;
            open.put(outPipe.descriptor(), new Stream(outPipe, out));
            open.put(errPipe.descriptor(), new Stream(errPipe, err));
        }

        @Override
        void redirect(ProcessBuilder program) {
            program.redirectOutput(outPipe.writingEnd().toFile());
            program.redirectError(errPipe.writingEnd().toFile());
        }

        @Override
        void started() {
            outPipe.leaveWritingEnd();
            errPipe.leaveWritingEnd();
        }

        @Override
        void await(Process program, Duration atMost) throws IOException, InterruptedException {
            if (open.isEmpty()) {
                boolean _ = program.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS);
                return;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            Poller.Ready ready = poller.await(open.keySet(), atMost);
            for (int descriptor : open.keySet().toArray(Integer[]::new)) {
                if (ready.readable().contains(descriptor) || ready.broken().contains(descriptor)) {
                    boolean _ = take(descriptor);
                }
            }
        }

        @Override
        void takeRest() throws IOException {
            for (int descriptor : open.keySet().toArray(Integer[]::new)) {
                boolean more = true;
                for (int chunks = 0; more && chunks < REST_CHUNKS; chunks++) {
                    more = take(descriptor);
                }
            }
        }

        /** @return whether there was something */
        private boolean take(int descriptor) throws IOException {
            Stream stream = open.get(descriptor);
            int length = stream.pipe().read(chunk);
            if (length > 0) {
                stream.text().add(chunk, length);
            }
            if (length < 0) {
                open.remove(descriptor);
            }
            return length > 0;
        }

        @Override
        public void close() {
            outPipe.close();
            errPipe.close();
            poller.close();
        }
    }

    private static final class Filed extends ProgramOutput {
        private final Path file;

        Filed(Path file) {
            this.file = file;
        }

        @Override
        void redirect(ProcessBuilder program) {
            program.redirectErrorStream(true).redirectOutput(file.toFile());
        }

        @Override
        void started() {
            // The program has the file, and this process nothing.
        }

        @Override
        void await(Process program, Duration atMost) throws InterruptedException {
            boolean _ = program.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        void takeRest() throws IOException {
            try (InputStream written = Files.newInputStream(file)) {
                out.readAll(written);
            }
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
