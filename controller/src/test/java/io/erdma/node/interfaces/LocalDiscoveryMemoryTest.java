package io.erdma.node.interfaces;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Kubernetes client is a third of an agent's memory, so an agent that does not need it must not load it. */
class LocalDiscoveryMemoryTest {
    @TempDir
    private Path directory;

    @Test
    void loadsNoKubernetesClientAndNoHttpClientEvenInACluster() throws Exception {
        Files.writeString(directory.resolve("token"), "t");
        Path classes = directory.resolve("classes");
        Path output = directory.resolve("output");
        try (FakeMetadata metadata = FakeMetadata.start()
                .value("mac", "00:16:3e:00:00:01")
                .eni("00:16:3e:00:00:02", "10.9.1.3", "10.9.1.253")) {
            ProcessBuilder builder = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-Xlog:class+load:file=" + classes,
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            LocalDiscoveryProgram.class.getName(),
                            Integer.toString(metadata.address().getPort()),
                            directory.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().put("KUBERNETES_SERVICE_HOST", "10.0.0.1");
            // Nobody is there: what went through it would be lost.
            builder.environment().put("http_proxy", "http://127.0.0.1:1");
            Process process = builder.start();
            boolean ended = process.waitFor(60, TimeUnit.SECONDS);
            process.destroyForcibly();
            assertThat(ended && process.exitValue() == 0)
                    .as(Files.readString(output))
                    .isTrue();
        }

        List<String> loaded = Files.readAllLines(classes);
        assertThat(loaded).anyMatch(line -> line.contains("io.erdma.node.interfaces.LocalSource"));
        assertThat(loaded)
                .noneMatch(line -> line.contains(" io.fabric8.")
                        || line.contains(" com.fasterxml.jackson.databind.")
                        || line.contains(" java.net.http.")
                        || line.contains(" org.slf4j."));
    }
}
