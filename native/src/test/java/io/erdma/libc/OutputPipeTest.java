package io.erdma.libc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutputPipeTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void readsWhatAProgramWritesToItsEnd() throws Exception {
        try (OutputPipe pipe = OutputPipe.open();
                Poller poller = Poller.open()) {
            Process program = start(pipe, "echo one; echo two");
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] chunk = new byte[5];
            int read = pipe.read(chunk);
            while (read >= 0) {
                all.write(chunk, 0, read);
                poller.await(List.of(pipe.descriptor()), LONG);
                read = pipe.read(chunk);
            }
            assertThat(all.toString(UTF_8)).isEqualTo("one\ntwo\n");
            assertThat(program.waitFor()).isZero();
        }
    }

    @Test
    void doesNotBlockWhileNothingComes() throws Exception {
        try (OutputPipe pipe = OutputPipe.open()) {
            assertThat(pipe.read(new byte[10])).isZero();
            pipe.leaveWritingEnd();
            assertThat(pipe.read(new byte[10])).isEqualTo(-1);
        }
    }

    @Test
    void canBeGivenUpWhileSomebodyHoldsTheOtherEnd() throws Exception {
        Process program;
        try (OutputPipe pipe = OutputPipe.open()) {
            program = start(pipe, "exec sleep 1000");
            assertThat(pipe.read(new byte[10])).isZero();
        }
        program.destroyForcibly();
    }

    @Test
    void keepsNoDescriptor() throws Exception {
        try (OutputPipe warm = OutputPipe.open()) {
            assertThat(warm.read(new byte[1])).isZero();
        }
        long before = descriptors();
        for (int i = 0; i < 200; i++) {
            OutputPipe pipe = OutputPipe.open();
            pipe.close();
            pipe.close();
            assertThatThrownBy(pipe::descriptor).isInstanceOf(IllegalStateException.class);
        }
        // Others of this JVM may open something meanwhile.
        assertThat(descriptors()).isLessThan(before + 100);
    }

    private static long descriptors() throws Exception {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    private static Process start(OutputPipe pipe, String script) throws Exception {
        Process program = new ProcessBuilder("sh", "-c", script)
                .redirectOutput(pipe.writingEnd().toFile())
                .start();
        pipe.leaveWritingEnd();
        return program;
    }
}
