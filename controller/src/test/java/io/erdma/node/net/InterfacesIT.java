package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Interfaces of a node in a network namespace made for each scenario, looked after by a running keeper; needs root. */
class InterfacesIT {
    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    void areLookedAfter(InterfacesScenario scenario) throws Exception {
        Path output = directory.resolve("output");
        // The heap is the agent's, also where the node has more than would fit into it.
        Process process = new ProcessBuilder(List.of(
                        "unshare",
                        "--net",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx24m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        InterfacesScenario.class.getName(),
                        scenario.name()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(120, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as("%s ended within two minutes:%n%s", scenario, text).isTrue();
        assertThat(process.exitValue()).as("%s:%n%s", scenario, text).isZero();
        assertThat(text).contains("scenario done");
    }
}
