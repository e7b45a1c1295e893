package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.Locking;
import io.erdma.doctor.Facts.MemoryLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessReaderTest {
    @TempDir
    private Path proc;

    private void process(String name, String file, String text) throws IOException {
        Files.createDirectories(proc.resolve(name));
        Files.writeString(proc.resolve(name).resolve(file), text);
    }

    private static String limits(String soft) {
        return """
                Limit                     Soft Limit           Hard Limit           Units
                Max processes             7823                 7823                 processes
                Max locked memory         %s                8388608              bytes
                """.formatted(soft);
    }

    @Test
    void readsTheSoftLimitAndTheCapability() throws IOException {
        process("self", "limits", limits("65536"));
        process("self", "status", "Name:\tx\nCapPrm:\t0000000000004000\nCapEff:\t0000000000004000\n");

        assertThat(new ProcessReader(proc).locking("self"))
                .isEqualTo(Fact.known(new Locking(new MemoryLimit(OptionalLong.of(65_536)), true)));
    }

    @Test
    void holdsNoCapabilityThatIsOnlyPermitted() throws IOException {
        process("self", "limits", limits("unlimited"));
        process("self", "status", "CapPrm:\t0000000000004000\nCapEff:\t0000000000000000\n");

        assertThat(new ProcessReader(proc).locking("self"))
                .isEqualTo(Fact.known(new Locking(MemoryLimit.UNLIMITED, false)));
    }

    @Test
    void readsTheLimitOfThisVeryProcess() {
        assertThat(new ProcessReader(Path.of("/proc")).locking("self")).isInstanceOf(Fact.Known.class);
    }

    @Test
    void saysThatAProcessTellsNothing() {
        assertThat(new ProcessReader(proc).locking("self")).isInstanceOf(Fact.Unknown.class);
        assertThat(ProcessReader.limitIn("Max locked memory   much   much   bytes"))
                .isEmpty();
    }

    @Test
    void findsTheServicesByTheirNames() throws IOException {
        process("812", "comm", "containerd\n");
        process("812", "limits", limits("8388608"));
        process("813", "comm", "containerd-shim\n");
        process("813", "limits", limits("1"));
        process("900", "comm", "kubelet\n");
        process("900", "limits", limits("unlimited"));
        process("net", "comm", "kubelet\n");

        assertThat(new ProcessReader(proc).services())
                .isEqualTo(Fact.known(Map.of(
                        "containerd", new MemoryLimit(OptionalLong.of(8_388_608)), "kubelet", MemoryLimit.UNLIMITED)));
    }
}
