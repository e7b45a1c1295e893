package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.dockerjava.api.command.InspectImageResponse;
import com.github.dockerjava.api.model.ContainerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.DockerClientFactory;

/** What is in the image, and that each command starts in it. */
class ImageIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long SIZE_LIMIT = 200_000_000;

    /** project.build.outputTimestamp, which the entries of the jars bear as well. */
    private static final String EPOCH =
            Long.toString(Instant.parse("2026-12-01T00:00:00Z").getEpochSecond());

    /** Does nothing, and is there to be looked into. */
    private static RunningContainer shell;

    private static InspectImageResponse image;

    @BeforeAll
    static void start() {
        shell = RunningContainer.startInsteadOfTheLauncher(ContainerShape.ALONE, "sleep", "infinity");
        image = DockerClientFactory.instance()
                .client()
                .inspectImageCmd(Image.NAME)
                .exec();
    }

    @AfterAll
    static void stop() {
        shell.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "version",
                "devinfo",
                "devinfo --explain",
                "devinfo --json",
                "stat",
                "stat --json",
                "stat --pods",
                "doctor",
                "doctor --json",
                "nccl-check /etc/os-release",
                "nccl-check --json /etc/os-release",
                "cleanup",
                "agent --help",
                "--help"
            })
    void eachCommandHasAllThatItNeeds(String command) {
        var result = shell.exec(("erdma " + command).split(" ", -1));

        String said = result.getStdout() + result.getStderr();
        // 70 is what both programs end with after a fault of their own.
        assertThat(result.getExitCode()).as(said).isLessThan(64);
        assertThat(said)
                .isNotBlank()
                .doesNotContain("\tat ", "NoClassDefFoundError", "ClassNotFoundException", "UnsatisfiedLinkError");
        assertThat(result.getStderr()).doesNotContain("WARNING");
    }

    @Test
    void theStartUpCacheHoldsTheAgentsClasses() {
        try (RunningContainer agent = RunningContainer.start(
                ContainerShape.ALONE
                        .with("ERDMA_AOT", "on")
                        .with("ERDMA_MANAGE_DRIVER", "false")
                        .with("ERDMA_JAVA_OPTS", "-Xlog:class+load:file=/tmp/classes"),
                "agent")) {
            await().atMost(SOON).until(() -> agent.log().contains("waiting for it") || !agent.isRunning());
            assertThat(agent.isRunning()).as(agent.log()).isTrue();
            long shared =
                    Long.parseLong(agent.shell("grep -c 'io.erdma.*source: shared objects file' /tmp/classes || :"));
            long parsed = Long.parseLong(agent.shell("grep -c 'io.erdma.*source: file:' /tmp/classes || :"));

            assertThat(shared).isGreaterThan(200);
            assertThat(parsed).isLessThan(shared / 20);
        }
    }

    @Test
    void startsTheAgentByItselfAndSaysWhatItIs() {
        ContainerConfig config = image.getConfig();

        assertThat(config.getEntrypoint()).containsExactly("/opt/erdma/bin/erdma");
        assertThat(config.getCmd()).containsExactly("agent");
        assertThat(config.getLabels())
                .containsEntry("org.opencontainers.image.version", Image.VERSION)
                .containsEntry("org.opencontainers.image.licenses", "Apache-2.0")
                .containsKeys("org.opencontainers.image.title", "org.opencontainers.image.revision");
    }

    @Test
    void isSmall() {
        assertThat(image.getSize()).isLessThan(SIZE_LIMIT);
    }

    @Test
    void eachFileIsAsOldAsTheBuildSays() {
        // Not what the engine puts over it, such as /etc/hosts.
        String times = shell.shell("ls -lRA --time-style=+%s /opt /root /usr /var | grep -oE ' [0-9]{10} ' | sort -u");

        assertThat(times).isEqualTo(EPOCH);
    }

    @Test
    void eachJarIsAmongTheComponentsWithItsDigest() throws IOException {
        Map<String, String> named = new TreeMap<>();
        for (JsonNode component : components("java.cdx.json")) {
            for (JsonNode hash : component.path("hashes")) {
                if (hash.path("alg").asText().equals("SHA-256")) {
                    named.put(
                            hash.path("content").asText(),
                            component.path("purl").asText());
                }
            }
        }

        List<String> jars =
                shell.shell("cd /opt/erdma/lib && sha256sum *.jar").lines().toList();

        assertThat(jars).hasSizeGreaterThan(40).allSatisfy(line -> {
            String jar = line.substring(66);
            // Our own modules are packaged in this build, so that they have no digest yet.
            if (!jar.startsWith("erdma-")) {
                assertThat(named).as(jar).containsKey(line.substring(0, 64));
                assertThat(named.get(line.substring(0, 64))).startsWith("pkg:maven/");
            }
        });
        assertThat(named.values())
                .as("the native stub")
                .anyMatch(url -> url.contains("jffi@") && url.contains("native"));
    }

    @Test
    void eachDebianPackageIsAmongTheComponents() throws IOException {
        List<String> installed = shell.shell("sed -n 's/^Package: //p' /var/lib/dpkg/status")
                .lines()
                .toList();

        assertThat(installed).contains("libibverbs1", "ibverbs-providers", "librdmacm1", "kmod", "util-linux");
        assertThat(StreamSupport.stream(components("debian.cdx.json").spliterator(), false)
                        .map(component -> component.path("name").asText()))
                .containsExactlyInAnyOrderElementsOf(installed);
    }

    private static JsonNode components(String file) throws IOException {
        JsonNode document = new ObjectMapper().readTree(shell.shell("cat /opt/erdma/sbom/" + file));
        assertThat(document.path("bomFormat").asText()).isEqualTo("CycloneDX");
        return document.path("components");
    }

    @Test
    void libibverbsKnowsErdma() {
        assertThat(shell.shell("ls /usr/lib/*/libibverbs/")).contains("liberdma-rdmav34.so");
        assertThat(shell.shell("cat /etc/libibverbs.d/erdma.driver")).isEqualTo("driver erdma");
    }

    @Test
    void noProgramOfItLacksALibrary() throws IOException {
        // As the dynamic linker says it, without starting anything.
        String missing = shell.shell(
                "for file in /usr/bin/* /usr/sbin/* /usr/lib/*/libibverbs/*.so; do"
                        + " [ -L $file ] || /lib64/ld-linux-x86-64.so.2 --list $file 2>/dev/null | grep 'not found' || :; done");

        assertThat(missing).isEmpty();
    }

    @Test
    void theArchiveForNodesWithoutARegistryIsThere() throws IOException {
        try (Stream<Path> files = Files.list(Image.PROJECT.resolve("target/image"))) {
            assertThat(files.map(file -> file.getFileName().toString())).contains("erdma-controller.tar");
        }
    }
}
