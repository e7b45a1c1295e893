package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.plugin.FakeKubelet;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code bin/erdma}: which Java, which flags, which start-up cache, and what it needs of the machine. */
class LauncherIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String STALE =
            "erdma: the start-up cache does not belong to these jars and this Java; starting without it";

    @TempDir
    private Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();

    /** A tree of its own, whose cache and jars a test may change. */
    private Path tree;

    @BeforeEach
    void copyTheTree() throws IOException, InterruptedException {
        tree = directory.resolve("a tree");
        shell("cp -a \"$0\" \"$1\" && rm -f \"$1\"/lib/agent.aot*", AgentProcess.DIST.toString(), tree.toString());
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private static void shell(String line, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", line));
        command.addAll(List.of(arguments));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                .as(line)
                .isZero();
    }

    private AgentProcess run(Map<String, String> environment, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(tree.resolve("bin/erdma").toString()));
        command.addAll(List.of(words));
        return closing(AgentProcess.startCommand(directory, environment, command));
    }

    private String fingerprint() throws IOException, InterruptedException {
        AgentProcess process = run(Map.of("ERDMA_AOT", "fingerprint"), "agent");
        assertThat(process.exitCode(SOON)).isZero();
        return process.log();
    }

    /** A cache that claims to be made for the tree as it is now. */
    private void placeCache() throws IOException, InterruptedException {
        Files.writeString(tree.resolve("lib/agent.aot"), "not what the JVM expects");
        Files.writeString(tree.resolve("lib/agent.aot.made-of"), fingerprint());
    }

    /** The words with which an idle agent's JVM was started. */
    private List<String> commandLine(Map<String, String> environment) throws IOException {
        Path node = directory.resolve("empty node");
        Files.createDirectories(node);
        AgentProcess agent = run(
                environment,
                "agent",
                "--kubelet-root-dir=" + node,
                "--sysfs-root=" + node,
                "--dev-root=" + node,
                "--probe-address=",
                "--page-address=");
        Path file = Path.of("/proc", Long.toString(agent.pid()), "cmdline");
        await().atMost(SOON)
                .until(() -> Files.readString(file).contains(AgentMain.class.getName())
                        && Files.readString(file).startsWith("/"));
        List<String> words = List.of(Files.readString(file).split("\0"));
        agent.close();
        return words;
    }

    @Test
    void usesTheCacheThatBelongsToItsJars() throws Exception {
        placeCache();

        assertThat(commandLine(Map.of())).contains("-XX:AOTCache=" + tree.resolve("lib/agent.aot"));
        assertThat(commandLine(Map.of("ERDMA_AOT", "off"))).noneMatch(word -> word.startsWith("-XX:AOT"));
    }

    @Test
    void startsWithoutACacheThatTheJvmRefuses() throws Exception {
        placeCache();

        AgentProcess help = run(Map.of(), "agent", "--help");

        assertThat(help.exitCode(SOON)).as(help.log()).isZero();
        assertThat(help.log()).contains("Usage: erdma agent");
    }

    @Test
    void leavesACacheAsideWhenOneOfItsOwnJarsWasExchanged() throws Exception {
        placeCache();
        Path jar;
        try (var jars = Files.newDirectoryStream(tree.resolve("lib"), "erdma-native-*.jar")) {
            jar = jars.iterator().next();
        }
        // As many bytes as before, as an exchange within one version may have.
        byte[] bytes = Files.readAllBytes(jar);
        bytes[10] ^= 1;
        Files.write(jar, bytes);

        startsWithOneLineAboutTheCache();
    }

    @Test
    void leavesACacheAsideWhenAForeignJarWasExchanged() throws Exception {
        placeCache();
        Path jar;
        try (var jars = Files.newDirectoryStream(tree.resolve("lib"), "picocli-*.jar")) {
            jar = jars.iterator().next();
        }
        Files.write(jar, new byte[1], StandardOpenOption.APPEND);

        startsWithOneLineAboutTheCache();
    }

    private void startsWithOneLineAboutTheCache() throws Exception {
        AgentProcess help = run(Map.of(), "agent", "--help");
        assertThat(help.exitCode(SOON)).as(help.log()).isZero();
        assertThat(help.log()).startsWith(STALE + "\nUsage: erdma agent").containsOnlyOnce("cache");
        assertThat(commandLine(Map.of())).noneMatch(word -> word.startsWith("-XX:AOTCache"));

        AgentProcess off = run(Map.of("ERDMA_AOT", "off"), "agent", "--help");
        assertThat(off.exitCode(SOON)).isZero();
        assertThat(off.log()).startsWith("Usage: erdma agent");
    }

    @Test
    void refusesToStartWithoutACacheWhenToldToHaveOne() throws Exception {
        AgentProcess agent = run(Map.of("ERDMA_AOT", "on"), "agent", "--help");

        assertThat(agent.exitCode(SOON)).isEqualTo(69);
        assertThat(agent.log())
                .isEqualTo("erdma: ERDMA_AOT=on, and there is no usable cache; make one with build/aot-cache.sh\n");
    }

    @Test
    void keepsTheArchivesAddressRandomWhenAsked() throws Exception {
        assertThat(commandLine(Map.of())).contains("-XX:ArchiveRelocationMode=0");
        assertThat(commandLine(Map.of("ERDMA_ASLR", "1"))).noneMatch(word -> word.contains("ArchiveRelocationMode"));
    }

    @Test
    void givesTheOperatorsOptionsToTheJvmLastAndAsTheyAre() throws Exception {
        List<String> words = commandLine(Map.of("ERDMA_JAVA_OPTS", "-Xmx48m -Dpattern=/*"));

        assertThat(words).contains("-Dpattern=/*");
        assertThat(words.indexOf("-Xmx48m")).isGreaterThan(words.indexOf("-Xmx24m"));
    }

    @Test
    void startsThroughALinkFromAPathWithBlanks() throws Exception {
        Path link = Files.createDirectory(directory.resolve("b c")).resolve("erdma link");
        Files.createSymbolicLink(link, tree.resolve("bin/erdma"));

        AgentProcess version = closing(AgentProcess.startCommand(
                directory, Map.of("JAVA_TOOL_OPTIONS", "-Dx=y"), List.of(link.toString(), "version")));

        assertThat(version.exitCode(SOON)).as(version.log()).isZero();
        assertThat(version.log()).contains("0.1.0").doesNotContain("JAVA_TOOL_OPTIONS");
    }

    @Test
    void saysInOneLineThatThereIsNoJava() throws Exception {
        AgentProcess agent = closing(AgentProcess.startCommand(
                directory,
                Map.of("JAVA_HOME", directory.toString()),
                List.of(
                        "unshare",
                        "--mount",
                        "sh",
                        "-c",
                        "mount -t tmpfs none /usr/lib/jvm && exec \"$0\" agent",
                        tree.resolve("bin/erdma").toString())));

        assertThat(agent.exitCode(SOON)).isEqualTo(69);
        assertThat(agent.log())
                .isEqualTo("erdma: no Java 25 or newer found; install one (under /usr/lib/jvm it is found by itself)"
                        + " or set ERDMA_JAVA_HOME\n");
    }

    @Test
    void callsABrokenInstallationAFaultOfItsOwn() throws Exception {
        shell("rm \"$0\"/lib/netty-transport-4*.jar", tree.toString());

        AgentProcess agent = run(
                Map.of(),
                "agent",
                "--kubelet-root-dir=" + directory,
                "--sysfs-root=" + directory,
                "--dev-root=" + directory,
                "--probe-address=",
                "--page-address=");

        assertThat(agent.exitCode(SOON)).isEqualTo(70);
        assertThat(agent.log().lines().filter(line -> line.contains(" ERROR ")))
                .singleElement()
                .asString()
                .contains("the agent failed");
    }

    /** How a hardened node may deny what a native stub is usually unpacked into. */
    enum Machine {
        TMP_NOEXEC("mkdir -p tmp && mount -t tmpfs -o noexec none tmp"),
        ROOT_READ_ONLY("mount --bind . . && mount --bind / /mnt && mount -o remount,bind,ro /mnt"
                + " && for each in proc sys dev; do mount --rbind /$each /mnt/$each; done"
                + " && mount --bind \"$PWD\" \"/mnt$PWD\" && set -- chroot /mnt env -C \"$PWD\" \"$@\""),
        NOT_ROOT("chmod -R a+rwX . && set -- setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"");

        private final String preparation;

        Machine(String preparation) {
            this.preparation = preparation;
        }

        List<String> command(Path erdma) {
            return List.of("unshare", "--mount", "sh", "-c", preparation + " && exec \"$@\"", "sh", erdma.toString());
        }
    }

    /** R10. */
    @ParameterizedTest
    @EnumSource
    void theAgentRunsOn(Machine machine) throws Exception {
        var node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));
        var verbs = FakeVerbs.tree(directory.resolve("verbs"));
        verbs.device("erdma_0").uverbs("uverbs0").guid("0216:3eff:fe00:0001");
        Path library = Files.copy(FakeVerbs.library(), directory.resolve("libfakeverbs.so"));
        FakeKubelet kubelet = closing(FakeKubelet.start(directory.resolve("k")));
        AgentProcess agent = on(
                machine,
                verbs.environment(),
                "agent",
                "--kubelet-root-dir=" + directory.resolve("k"),
                "--sysfs-root=" + node.sysfs(),
                "--dev-root=" + node.dev(),
                "--verbs-library=" + library,
                "--shares-per-device=2",
                "--probe-address=",
                "--page-address=");

        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);

        assertThat(agent.terminate(Duration.ofSeconds(5))).as(agent.log()).isZero();
        assertThat(agent.log()).contains("erdma_0 healthy").doesNotContain("UnsatisfiedLinkError", "\tat ");
    }

    /** R10. */
    @ParameterizedTest
    @EnumSource
    void theCommandLineRunsOn(Machine machine) throws Exception {
        var node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));
        var verbs = FakeVerbs.tree(directory.resolve("verbs"));
        verbs.device("erdma_0").uverbs("uverbs0").guid("0216:3eff:fe00:0001");
        Path library = Files.copy(FakeVerbs.library(), directory.resolve("libfakeverbs.so"));

        AgentProcess devinfo = on(
                machine,
                verbs.environment(),
                "devinfo",
                "--verbs-library=" + library,
                "--sysfs-root=" + node.sysfs(),
                "--dev-root=" + node.dev());
        assertThat(devinfo.exitCode(SOON)).as(devinfo.log()).isZero();
        assertThat(devinfo.log()).startsWith("hca_id:\terdma_0\n").doesNotContain("UnsatisfiedLinkError", "\tat ");

        AgentProcess version = on(machine, Map.of(), "version");
        assertThat(version.exitCode(SOON)).as(version.log()).isZero();
        assertThat(version.log()).contains("0.1.0").doesNotContain("UnsatisfiedLinkError", "\tat ");
    }

    private AgentProcess on(Machine machine, Map<String, String> environment, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("env", "-C", directory.toString()));
        command.addAll(machine.command(tree.resolve("bin/erdma")));
        command.addAll(List.of(words));
        String temporary = switch (machine) {
            case TMP_NOEXEC -> directory.resolve("tmp").toString();
            case ROOT_READ_ONLY -> "/usr";
            case NOT_ROOT -> "/tmp";
        };
        Map<String, String> all = new HashMap<>(environment);
        all.put("TMPDIR", temporary);
        all.put("ERDMA_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);
        return closing(AgentProcess.startCommand(directory, all, command));
    }
}
