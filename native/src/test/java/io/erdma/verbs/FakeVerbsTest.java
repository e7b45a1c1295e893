package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Poller;
import io.erdma.verbs.FakeVerbs.Counter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That the stand-in would notice what the tests with it are to notice. */
class FakeVerbsTest {
    private static final int SIGABRT = 128 + 6;
    private static final int SIGSEGV = 128 + 11;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"open after free", "free twice", "close twice", "acknowledge nothing"})
    void endsAProcessThatMisusesIt(String way) throws Exception {
        Process process = misuse(way);
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(SIGABRT);
        assertThat(printed).startsWith("fakeverbs: ibv_");
    }

    @Test
    void aDeviceStructIsInaccessibleOnceItsListIsFreed() throws Exception {
        assertThat(misuse("read after free").waitFor()).isEqualTo(SIGSEGV);
    }

    @Test
    void anOpenDeviceKeepsItsStructUntilItIsClosed() throws Exception {
        assertThat(misuse("nothing wrong").waitFor()).isZero();
    }

    @Test
    void anotherProcessGetsEventsAndItsCallsAreCounted() throws Exception {
        FakeVerbs fake = FakeVerbs.tree(directory.resolve("devices"));
        FakeVerbs.Device device = fake.device("erdma_0");
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Watch.class.getName(),
                        FakeVerbs.library().toString())
                .redirectErrorStream(true);
        builder.environment().putAll(fake.environment());
        Process process = builder.start();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> !device.openContexts().isEmpty());
            device.portDown();
            assertThat(lines.readLine()).isEqualTo("PortError[port=1] DOWN");
            device.portUp();
            assertThat(lines.readLine()).isEqualTo("PortActive[port=1] ACTIVE");
            device.emit(new VerbsEvent.DeviceFatal());
            assertThat(lines.readLine()).isEqualTo("DeviceFatal[] ACTIVE");
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroy();
        }
        assertThat(fake.count(Counter.ACK_ASYNC_EVENT, process.pid())).isEqualTo(3);
        assertThat(fake.count(Counter.OPEN_DEVICE, process.pid())).isOne();
        assertThat(fake.count(Counter.CLOSE_DEVICE, process.pid())).isOne();
        assertThat(device.emit(new VerbsEvent.PortActive(1))).isZero();
    }

    /** Prints each event of erdma_0 and the port state that follows it, until the device is dead. */
    static final class Watch {
        private Watch() {}

        public static void main(String[] arguments) throws Exception {
            Verbs verbs = Verbs.load(arguments[0]);
            try (Poller poller = Poller.open();
                    VerbsContext context = verbs.open("erdma_0")) {
                while (true) {
                    poller.await(List.of(context.asyncDescriptor()), Duration.ofSeconds(60));
                    Optional<VerbsEvent> event = context.nextEvent();
                    if (event.isPresent()) {
                        System.out.println(
                                event.get() + " " + context.queryPort(1).state());
                        if (event.get() instanceof VerbsEvent.DeviceFatal) {
                            return;
                        }
                    }
                }
            }
        }
    }

    private Process misuse(String way) throws Exception {
        FakeVerbs fake = FakeVerbs.tree(directory.resolve("devices"));
        fake.device("erdma_0");
        Path library = FakeVerbs.library();
        Path program = CCompiler.compile("misuse.c", directory, "misuse", "-Wno-use-after-free", library.toString());
        ProcessBuilder builder = new ProcessBuilder(program.toString(), way).redirectErrorStream(true);
        builder.environment().putAll(fake.environment());
        return builder.start();
    }
}
