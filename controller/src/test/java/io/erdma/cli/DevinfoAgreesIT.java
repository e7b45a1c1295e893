package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The installed {@code ibv_devinfo} and our own, each as a process, on the devices of the same stand-in library. Needs
 * the packages ibverbs-utils, libibverbs-dev and gcc.
 */
class DevinfoAgreesIT {
    @TempDir
    private static Path directory;

    private static Path launcher;

    @BeforeAll
    static void compileTheStandIn() throws Exception {
        Path sources = Recording.directory();
        Finished gcc = run(
                Map.of(),
                "gcc",
                "-shared",
                "-fPIC",
                "-O1",
                "-Wl,-soname,libibverbs.so.1",
                "-Wl,--version-script=" + sources.resolve("verbs-stand-in.map"),
                "-o",
                directory.resolve("libibverbs.so.1").toString(),
                sources.resolve("verbs-stand-in.c").toString());
        assertThat(gcc.output()).isEmpty();
        launcher = Files.writeString(
                directory.resolve("erdma"),
                "#!/bin/sh\nexec '" + System.getProperty("java.home") + "/bin/java' --enable-native-access=ALL-UNNAMED"
                        + " --sun-misc-unsafe-memory-access=allow -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '"
                        + System.getProperty("java.class.path") + "' io.erdma.cli.ErdmaMain \"$@\"\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }

    // Those with many devices cost one run each for -d; their forms are in DevinfoFormatTest.
    static List<String> situations() {
        return List.of("erdma-roce", "erdma-iwarp", "gid-forms", "one-opens", "none-opens", "query-fails", "no-device");
    }

    @ParameterizedTest
    @MethodSource("situations")
    void printsWhatTheInstalledIbvDevinfoPrints(String situation) throws Exception {
        Finished compared = run(environment(situation), script().toString(), launcher.toString());
        assertThat(compared.output()).contains("erdma devinfo agrees with ibv_devinfo");
        assertThat(compared.exitCode()).isZero();
    }

    @Test
    void noticesADifference() throws Exception {
        Path other = Files.writeString(
                directory.resolve("other"), "#!/bin/sh\n'" + launcher + "' \"$@\" | sed 's/ACTIVE/DOWN/'\n");
        assertThat(other.toFile().setExecutable(true)).isTrue();
        Finished compared = run(environment("erdma-roce"), script().toString(), other.toString());
        assertThat(compared.output()).contains("+\t\t\tstate:\t\t\tPORT_DOWN (4)");
        assertThat(compared.exitCode()).isEqualTo(1);
    }

    private static Map<String, String> environment(String situation) {
        return Map.of(
                "LD_LIBRARY_PATH",
                directory.toString(),
                "VERBS_STAND_IN",
                Recording.directory()
                        .resolve("stand-in/" + situation + "/devices.txt")
                        .toString());
    }

    private static Path script() {
        return Path.of(System.getProperty("user.dir")).resolveSibling("e2e/devinfo-agrees.sh");
    }

    private record Finished(int exitCode, String output) {}

    private static Finished run(Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(2, TimeUnit.MINUTES))
                .as("%s ends", command[0])
                .isTrue();
        return new Finished(process.exitValue(), output);
    }
}
