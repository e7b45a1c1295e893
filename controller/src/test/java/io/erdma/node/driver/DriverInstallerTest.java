package io.erdma.node.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverInstallerTest {
    private static final InstallerArchive.Limits ARCHIVE = new InstallerArchive.Limits(1 << 20, 50);
    private static final DriverInstaller.Limits LIMITS = new DriverInstaller.Limits(
            Duration.ofSeconds(5),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofSeconds(5),
            1 << 20,
            ARCHIVE);
    private static final DriverInstaller.Limits IMPATIENT = new DriverInstaller.Limits(
            Duration.ofSeconds(5),
            Duration.ofMillis(400),
            Duration.ofMillis(400),
            Duration.ofMillis(100),
            1 << 20,
            ARCHIVE);

    @TempDir
    private Path directory;

    private final CountDownLatch end = new CountDownLatch(1);
    private HttpServer server;
    private ExecutorService threads;
    private Path work;
    private Path log;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        threads = Executors.newCachedThreadPool();
        server.setExecutor(threads);
        server.start();
        work = Files.createDirectory(directory.resolve("work"));
        log = directory.resolve("log");
        Files.createDirectory(directory.resolve("cgroup"));
        Files.writeString(directory.resolve("cgroup/cgroup.controllers"), "memory\n");
        Files.writeString(directory.resolve("cgroup/cgroup.procs"), "");
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private void at(String path, int status, byte[] content) {
        server.createContext(path, exchange -> answer(exchange, status, content));
    }

    private static void answer(HttpExchange exchange, int status, byte[] content) throws IOException {
        exchange.sendResponseHeaders(status, content.length == 0 ? -1 : content.length);
        if (content.length > 0) {
            exchange.getResponseBody().write(content);
        }
        exchange.close();
    }

    private byte[] script() {
        return ("#!/bin/sh\necho \"$@ cm=$ERDMA_CM_NO_BOUND_IF mad=$ERDMA_FORCE_MAD_ENABLE\" >>" + log + "\n")
                .getBytes(UTF_8);
    }

    private static String sum(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private DriverInstaller installer(String url, String sum, DriverInstaller.Limits limits) {
        return new DriverInstaller(
                new InstallerSettings(URI.create(url), sum),
                HostCommands.direct(),
                new HostCgroup(directory.resolve("cgroup"), Path.of("/proc")),
                new InstallerDirectories(HostCommands.direct(), Path.of("/proc"), work),
                limits);
    }

    private void nothingWasRunAndNothingIsLeft() {
        assertThat(log).doesNotExist();
        nothingIsLeft();
    }

    private void nothingIsLeft() {
        try (var left = Files.list(work)) {
            assertThat(left).isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void runsAScriptWhoseChecksumIsRightInEachModesWay() throws IOException {
        at("/installer", 200, script());
        DriverInstaller installer = installer(url("/installer"), sum(script()), LIMITS);
        installer.install(DriverMode.DEFAULT);
        installer.install(DriverMode.COMPAT);
        installer.install(DriverMode.OFED);
        assertThat(Files.readAllLines(log))
                .containsExactly("--batch cm=1 mad=", "--batch cm=1 mad=1", "--egs cm= mad=");
        nothingIsLeft();
    }

    @Test
    void runsTheInstallScriptOfAnArchive() throws Exception {
        Path tree = Files.createDirectories(directory.resolve("tree/erdma_installer-1.5.9"));
        Path script = tree.resolve("install.sh");
        Files.write(script, script());
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path archive = directory.resolve("archive");
        HostCommands.direct()
                .check(
                        Duration.ofSeconds(30),
                        List.of(
                                "tar",
                                "-czf",
                                archive.toString(),
                                "-C",
                                directory.resolve("tree").toString(),
                                "erdma_installer-1.5.9"));
        byte[] content = Files.readAllBytes(archive);
        at("/e.tar.gz", 200, content);
        installer(url("/e.tar.gz"), sum(content), LIMITS).install(DriverMode.DEFAULT);
        assertThat(Files.readAllLines(log)).containsExactly("--batch cm=1 mad=");
        nothingIsLeft();
    }

    @Test
    void runsNothingOfAnArchiveThatLeadsOutOfItsDirectory() {
        byte[] evil = new TarGz()
                .file("install.sh", script(), 0755)
                .file("../evil", "x")
                .archive();
        at("/e.tgz", 200, evil);
        assertThatThrownBy(() -> installer(url("/e.tgz"), sum(evil), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("the driver's installer from " + url("/e.tgz") + " cannot be unpacked: ")
                .hasMessageContaining("../evil");
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void runsNoScriptOfSomewhereElseThatAnArchiveLinksTo() throws IOException {
        byte[] linked = new TarGz()
                .directory("real")
                .file("real/run.sh", script(), 0755)
                .link("install.sh", '2', "real/run.sh")
                .archive();
        at("/e.tgz", 200, linked);
        assertThatThrownBy(() -> installer(url("/e.tgz"), sum(linked), LIMITS).install(DriverMode.DEFAULT))
                .hasMessageContaining("holds no install.sh that can be executed");
        nothingWasRunAndNothingIsLeft();
    }

    /** It was moved out of the pod for this: an agent that ends in the middle must not end what it began. */
    @Test
    void waitsForTheInstallerOfAnAgentThatWasEndedInTheMiddle() throws Exception {
        Path former = Files.createDirectory(work.resolve("erdma-agent-installer-4711"));
        Path script = Files.writeString(former.resolve("install.sh"), "#!/bin/sh\nsleep 1000\n");
        Process running = new ProcessBuilder("sh", script.toString(), "--batch").start();
        at("/installer", 200, script());
        DriverInstaller installer = installer(url("/installer"), sum(script()), LIMITS);
        try {
            await().untilAsserted(() -> assertThatThrownBy(() -> installer.install(DriverMode.DEFAULT))
                    .hasMessageContaining("still runs (pid " + running.pid() + ", in " + former + ")"));
            assertThat(script).exists();
            assertThat(log).doesNotExist();
        } finally {
            running.descendants().forEach(ProcessHandle::destroyForcibly);
            running.destroyForcibly().waitFor();
        }
        installer.install(DriverMode.DEFAULT);
        assertThat(log).exists();
        nothingIsLeft();
    }

    @Test
    void tellsHowFarItHasComeWhileItInstalls() throws Exception {
        byte[] slow = ("#!/bin/sh\necho compiling erdma_main.c\nwhile [ ! -e " + directory.resolve("go")
                        + " ]; do sleep 0.05; done\n")
                .getBytes(UTF_8);
        at("/slow", 200, slow);
        DriverInstaller.Limits limits = new DriverInstaller.Limits(
                LIMITS.connect(),
                LIMITS.download(),
                LIMITS.install(),
                Duration.ofMillis(30),
                LIMITS.maxBytes(),
                ARCHIVE);
        try (RecordedLog told = RecordedLog.of(DriverInstaller.class);
                ExecutorService finisher = Executors.newSingleThreadExecutor()) {
            Future<Path> finished = finisher.submit(() -> {
                await().until(() -> !told.linesWith("still installing").isEmpty());
                return Files.writeString(directory.resolve("go"), "");
            });
            installer(url("/slow"), sum(slow), limits).install(DriverMode.DEFAULT);
            assertThat(told.linesWith("still installing the driver").getFirst())
                    .contains("seconds=0", "says=compiling erdma_main.c");
            assertThat(finished.get()).exists();
        }
    }

    @Test
    void p44_runsNothingWithAnotherChecksum() {
        at("/installer", 200, script());
        assertThatThrownBy(() ->
                        installer(url("/installer"), "0".repeat(64), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has the SHA-256 sum " + sum(script()) + " and not " + "0".repeat(64));
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void runsNothingOfADownloadThatEndsEarly() {
        server.createContext("/installer", exchange -> {
            exchange.sendResponseHeaders(200, 1_000);
            exchange.getResponseBody().write(script());
            exchange.getResponseBody().flush();
            exchange.close();
        });
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot download the driver's installer from " + url("/installer"));
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void givesUpOnAServerThatHangs() {
        server.createContext("/installer", exchange -> {
            exchange.sendResponseHeaders(200, 1_000);
            exchange.getResponseBody().write("#!/bin/sh\n".getBytes(UTF_8));
            exchange.getResponseBody().flush();
            awaitEnd();
        });
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), IMPATIENT).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not complete within 0 s (");
        nothingWasRunAndNothingIsLeft();
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void doesNotFillTheHostsDisk() {
        at("/installer", 200, new byte[(1 << 20) + 1]);
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot download");
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void followsARedirectOnTheSameServer() throws IOException {
        at("/there", 200, script());
        redirect("/installer", "/there");
        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT);
        assertThat(log).exists();
    }

    private void redirect(String from, String to) {
        server.createContext(from, exchange -> {
            exchange.getResponseHeaders().add("Location", to);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
    }

    @Test
    void doesNotFollowARedirectToAnotherServerWithoutHttps() {
        redirect("/installer", "http://localhost:" + server.getAddress().getPort() + "/there");
        at("/there", 200, script());
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("redirects to http://localhost")
                .hasMessageContaining("another server without https");
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void doesNotFollowRedirectsForEver() {
        redirect("/installer", "/installer");
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .hasMessageContaining("more than 5 redirects");
    }

    @Test
    void saysWhatTheServerAnswered() {
        at("/installer", 404, "none".getBytes(UTF_8));
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .hasMessageContaining("the server answered 404; check --driver-url and --erdma-installer-version");
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void passesOnWhatTheInstallerSaidLast() {
        byte[] failing = "#!/bin/sh\necho compiling\necho no kernel headers >&2\nexit 3\n".getBytes(UTF_8);
        at("/installer", 200, failing);
        assertThatThrownBy(
                        () -> installer(url("/installer"), sum(failing), LIMITS).install(DriverMode.DEFAULT))
                .hasMessageContaining("failed with exit code 3: compiling; no kernel headers");
        nothingIsLeft();
    }

    @Test
    void endsAnInstallerThatHangs() {
        byte[] hanging = "#!/bin/sh\nsleep 1000\n".getBytes(UTF_8);
        at("/installer", 200, hanging);
        DriverInstaller.Limits limits = new DriverInstaller.Limits(
                LIMITS.connect(),
                LIMITS.download(),
                Duration.ofMillis(300),
                LIMITS.progress(),
                LIMITS.maxBytes(),
                ARCHIVE);
        assertThatThrownBy(
                        () -> installer(url("/installer"), sum(hanging), limits).install(DriverMode.DEFAULT))
                .hasMessageContaining("was killed");
        nothingIsLeft();
    }

    @Test
    void runsTheInstallerOutsideThePodsControlGroupOrNotAtAll() throws IOException {
        at("/installer", 200, script());
        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT);
        assertThat(Files.readString(directory.resolve("cgroup/cgroup.procs"))).matches("[0-9]+");

        Files.delete(log);
        Files.delete(directory.resolve("cgroup/cgroup.procs"));
        byte[] slow = "#!/bin/sh\nsleep 1000\n".getBytes(UTF_8);
        at("/slow", 200, slow);
        assertThatThrownBy(() -> installer(url("/slow"), sum(slow), LIMITS).install(DriverMode.DEFAULT))
                .hasMessageContaining("could not be moved out of the agent's control group");
        nothingWasRunAndNothingIsLeft();
    }

    @Test
    void movesItOutOfEachTreeOfControlGroupsVersion1() throws Exception {
        Path groups = Files.createDirectories(directory.resolve("v1"));
        for (String tree : List.of("memory", "cpu,cpuacct", "systemd")) {
            Files.createDirectories(groups.resolve(tree));
            Files.writeString(groups.resolve(tree).resolve("cgroup.procs"), "");
        }
        Process process = new ProcessBuilder("sleep", "1000").start();
        try {
            Path proc = directory.resolve("proc/" + process.pid());
            Files.createDirectories(proc);
            Files.writeString(
                    proc.resolve("cgroup"),
                    "9:memory:/kubepods/pod1/c1\n4:cpu,cpuacct:/kubepods/pod1/c1\n3:pids:/\n1:name=systemd:/kubepods\n0::/x\n");
            new HostCgroup(groups, directory.resolve("proc")).admit(process);
        } finally {
            process.destroyForcibly();
        }
        for (String tree : List.of("memory", "cpu,cpuacct", "systemd")) {
            assertThat(Files.readString(groups.resolve(tree).resolve("cgroup.procs")))
                    .isEqualTo(Long.toString(process.pid()));
        }
    }

    @Test
    void doesNotTakeAGroupThatItCannotSeeForNone() throws Exception {
        Process process = new ProcessBuilder("sleep", "1000").start();
        try {
            Path proc = Files.createDirectories(directory.resolve("proc/" + process.pid()));
            HostCgroup groups = new HostCgroup(directory.resolve("nowhere"), directory.resolve("proc"));
            for (String group : List.of("0::/kubepods/pod1/c1\n", "9:memory:/kubepods/pod1/c1\n3:pids:/\n")) {
                Files.writeString(proc.resolve("cgroup"), group);
                assertThatThrownBy(() -> groups.admit(process)).hasMessageContaining("/kubepods/pod1/c1");
            }
            Files.writeString(proc.resolve("cgroup"), "0::/\n");
            groups.admit(process);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void removesWhatAnAgentThatWasEndedInTheMiddleLeft() throws IOException {
        Path old = Files.createDirectories(work.resolve("erdma-agent-installer-123/deep"));
        Files.writeString(old.resolve("file"), "x");
        at("/installer", 404, "none".getBytes(UTF_8));
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class);
        nothingIsLeft();
    }

    @Test
    void leavesFilesOfLikeNamesThatAreNotItsOwn() throws IOException {
        Path kept = Files.writeString(work.resolve("erdma-agent-installer-1.4.3.tar.gz"), "x");
        Path sources = Files.createDirectories(work.resolve("erdma-driver-1.4.3"));
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        Path link = Files.createSymbolicLink(work.resolve("erdma-agent-installer-7"), elsewhere);
        at("/installer", 404, "none".getBytes(UTF_8));
        assertThatThrownBy(() ->
                        installer(url("/installer"), sum(script()), LIMITS).install(DriverMode.DEFAULT))
                .isInstanceOf(IOException.class);
        assertThat(List.of(kept, sources, elsewhere)).allMatch(Files::exists);
        assertThat(Files.isSymbolicLink(link)).isTrue();
    }

    @Test
    void tellsNoSignatureOfAUrl() {
        assertThat(new InstallerSettings(
                        URI.create("https://me:password@host:8443/a/erdma.tgz?Expires=1&Signature=abc"),
                        "0".repeat(64)))
                .hasToString("https://host:8443/a/erdma.tgz?…");
    }
}
