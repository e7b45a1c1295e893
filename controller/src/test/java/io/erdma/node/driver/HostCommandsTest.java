package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.erdma.node.driver.HostCommands.FailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostCommandsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(300);

    private final HostCommands host = HostCommands.direct();

    @TempDir
    private Path directory;

    private static List<String> sh(String script) {
        return List.of("sh", "-c", script);
    }

    @Test
    void answersWithExitCodeAndBothOutputs() throws Exception {
        HostCommands.Result result = host.run(LONG, sh("echo out; echo err >&2; exit 3"));
        assertThat(result).isEqualTo(new HostCommands.Result(3, "out\n", "err\n"));
    }

    @Test
    void putsTheLastWordsIntoTheErrorText() {
        assertThatThrownBy(() -> host.check(LONG, sh("echo no such module >&2; exit 1")))
                .isInstanceOf(FailedException.class)
                .hasMessageStartingWith("sh -c ")
                .hasMessageEndingWith("failed with exit code 1: no such module");
    }

    @Test
    void p44_endsAProgramThatHangs() {
        long start = System.nanoTime();
        assertThatThrownBy(() -> host.run(SHORT, List.of("sleep", "1000")))
                .isInstanceOf(FailedException.class)
                .hasMessageContaining("sleep 1000 did not end within 0 s and was killed");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void endsTheChildrenOfItsChildrenToo() throws Exception {
        Path pids = directory.resolve("pids");
        assertThatThrownBy(() -> host.run(
                        SHORT,
                        sh("(sh -c 'sleep 1000 & echo $! >> " + pids + "; echo $$ >> " + pids + "; wait') & echo $$ >> "
                                + pids + "; wait")))
                .hasMessageContaining("was killed");
        assertThat(Files.readAllLines(pids)).hasSize(3);
        allHaveEnded(pids);
    }

    /** Its parent has ended, and it is in a session of its own: neither descent nor a process group leads to it. */
    @Test
    void endsAlsoWhatHasLeftTheProgramsTree() throws Exception {
        Path pids = directory.resolve("pids");
        assertThatThrownBy(() -> host.run(
                        SHORT,
                        sh("(setsid sh -c 'echo $$ >> " + pids + "; exec sleep 1000' &); echo $$ >> " + pids
                                + "; sleep 1000")))
                .hasMessageContaining("was killed");
        assertThat(Files.readAllLines(pids)).hasSize(2);
        allHaveEnded(pids);
    }

    @Test
    void endsNobodyElse() throws Exception {
        Process other = new ProcessBuilder("sleep", "1000").start();
        Path pid = directory.resolve("pid");
        host.check(LONG, sh("setsid sleep 1000 & echo $! > " + pid));
        long left = Long.parseLong(Files.readString(pid).strip());
        try {
            assertThatThrownBy(() -> host.run(SHORT, List.of("sleep", "1000"))).hasMessageContaining("was killed");
            assertThat(other.isAlive()).isTrue();
            assertThat(ended(left)).as("what an earlier program left running").isFalse();
        } finally {
            other.destroyForcibly();
            ProcessHandle.of(left).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private static void allHaveEnded(Path pids) throws IOException {
        for (String pid : Files.readAllLines(pids)) {
            await().until(() -> ended(Long.parseLong(pid)));
        }
    }

    private static boolean ended(long pid) throws IOException {
        Path status = Path.of("/proc/" + pid + "/status");
        try {
            // One whose parent was killed too waits for init to take note of it.
            return !Files.exists(status) || Files.readString(status).contains("State:\tZ");
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void keepsTheBeginningAndTheEndOfWhatAProgramWrites() throws Exception {
        HostCommands.Result result = host.run(
                LONG, sh("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last; echo also >&2"));
        assertThat(result.out())
                .startsWith("first\nxxx")
                .contains("bytes left out]")
                .endsWith("xxx\nlast\n");
        assertThat(result.out().length()).isLessThan(70_000);
        assertThat(result.err()).isEqualTo("also\n");
    }

    @Test
    void isNotHeldUpByWhatAProgramLeavesBehindAndKeepsNothingForIt() throws Exception {
        host.check(LONG, sh("echo warm"));
        Path pids = directory.resolve("pids");
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        long descriptors = descriptors();
        long start = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            HostCommands.Result result = host.run(LONG, sh("sleep 1000 & echo $! >> " + pids + "; echo done"));
            assertThat(result.out()).isEqualTo("done\n");
        }
        try {
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(40));
            assertThat(descriptors()).isLessThan(descriptors + 20);
            await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !threads.contains(thread))
                            .map(Thread::getName))
                    .noneMatch(name -> name.startsWith("erdma")));
            for (String pid : Files.readAllLines(pids)) {
                assertThat(ended(Long.parseLong(pid))).isFalse();
            }
        } finally {
            for (String pid : Files.readAllLines(pids)) {
                ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
            }
        }
    }

    private static long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    @Test
    void seesTheEndOfAProgramThatClosedItsOutputs() throws Exception {
        assertThat(host.run(LONG, sh("echo last; exec >&- 2>&-; sleep 0.3; exit 5")))
                .isEqualTo(new HostCommands.Result(5, "last\n", ""));
    }

    @Test
    void isNotHeldUpByALeftoverThatWritesOnAndOn() throws Exception {
        Path pid = directory.resolve("pid");
        HostCommands.Result result = host.run(LONG, sh("yes & echo $! > " + pid));
        assertThat(result.code()).isZero();
        // yes writes into a pipe that nobody reads any more.
        await().until(() -> ended(Long.parseLong(Files.readString(pid).strip())));
    }

    @Test
    void namesTheSignalThatEndedAProgram() {
        assertThatThrownBy(() -> host.check(LONG, sh("kill -SEGV $$")))
                .hasMessageEndingWith("failed with exit code 139 (ended by signal 11)");
    }

    @Test
    void writesIntoAFileThatOutlivesThisProcess() throws Exception {
        Path log = directory.resolve("log");
        HostCommands.Result result =
                host.run(LONG, sh("echo out; echo err >&2; exit 4"), Map.of(), Optional.of(log), started -> {});
        assertThat(result).isEqualTo(new HostCommands.Result(4, "out\nerr\n", ""));
        assertThat(Files.readString(log)).isEqualTo("out\nerr\n");
    }

    @Test
    void passesNothingOfItsOwnEnvironmentOn() throws Exception {
        String told = host.run(
                        LONG, List.of("env"), Map.of("ERDMA_CM_NO_BOUND_IF", "1"), Optional.empty(), started -> {})
                .out();
        assertThat(told.lines().map(line -> line.replaceFirst("=.*", "")))
                .containsExactlyInAnyOrder("PATH", "LC_ALL", "HOME", "ERDMA_AGENT_RUN", "ERDMA_CM_NO_BOUND_IF");
    }

    @Test
    void doesNotInterpretArguments() throws Exception {
        assertThat(host.run(LONG, List.of("echo", "$HOME; `id` *")).out()).isEqualTo("$HOME; `id` *\n");
    }

    @Test
    void saysWhenTheProgramIsNotThere() {
        assertThatThrownBy(() -> host.run(LONG, List.of("no-such-program-of-erdma")))
                .isInstanceOf(FailedException.class)
                .hasMessageStartingWith("cannot run no-such-program-of-erdma: ");
    }

    @Test
    void endsTheProgramWhenWhatFollowsItsStartFails() {
        long[] pid = new long[1];
        assertThatThrownBy(() -> host.run(LONG, List.of("sleep", "1000"), Map.of(), Optional.empty(), started -> {
                    pid[0] = started.pid();
                    throw new IOException("no cgroup");
                }))
                .isInstanceOf(FailedException.class)
                .hasMessage("sleep 1000 was killed: no cgroup");
        await().until(() -> ended(pid[0]));
    }

    private Path proc(String pidNamespace, String ownMount, String hostMount, String capabilities) throws IOException {
        Files.createDirectories(directory.resolve("self/ns"));
        Files.createDirectories(directory.resolve("1/ns"));
        Files.createSymbolicLink(directory.resolve("self/ns/pid"), Path.of(pidNamespace));
        Files.createSymbolicLink(directory.resolve("self/ns/mnt"), Path.of(ownMount));
        if (!hostMount.isEmpty()) {
            Files.createSymbolicLink(directory.resolve("1/ns/mnt"), Path.of(hostMount));
        }
        Files.writeString(directory.resolve("self/status"), "Name:\tjava\nCapEff:\t" + capabilities + "\n");
        return directory;
    }

    @Test
    void runsDirectlyOnTheHost() throws Exception {
        HostCommands found =
                HostCommands.find(proc("pid:[4026531836]", "mnt:[4026531840]", "mnt:[4026531840]", "0000000000010000"));
        assertThat(found.problem()).isEmpty();
        assertThat(found).hasToString("directly");
        assertThat(found.here(Path.of("/var/tmp"))).isEqualTo(Path.of("/var/tmp"));
    }

    @Test
    void entersTheHostsMountNamespaceFromAPod() throws Exception {
        HostCommands found =
                HostCommands.find(proc("pid:[4026531836]", "mnt:[4026533333]", "mnt:[4026531840]", "00000000002d0000"));
        assertThat(found.problem()).isEmpty();
        assertThat(found).hasToString("in the host's mount namespace");
        assertThat(found.here(Path.of("/var/tmp"))).isEqualTo(directory.resolve("1/root/var/tmp"));
    }

    @Test
    void saysWhichRightsAreMissing() throws Exception {
        HostCommands found =
                HostCommands.find(proc("pid:[4026531836]", "mnt:[4026533333]", "mnt:[4026531840]", "00000000000c0000"));
        assertThat(found.problem())
                .hasValueSatisfying(problem -> assertThat(problem)
                        .startsWith("this process lacks CAP_SYS_MODULE, CAP_SYS_ADMIN;")
                        .contains("--manage-driver=false"));
        assertThatThrownBy(() -> found.run(LONG, List.of("true")))
                .hasMessageStartingWith("cannot run true: this process lacks CAP_SYS_MODULE");
    }

    @Test
    void staysAwayFromAHostThatIsNotItsOwn() throws Exception {
        assertThat(HostCommands.find(
                                proc("pid:[4026532222]", "mnt:[4026533333]", "mnt:[4026533333]", "ffffffffffffffff"))
                        .problem())
                .hasValueSatisfying(problem -> assertThat(problem).contains("hostPID: true"));
    }

    @Test
    void saysWhenTheHostIsOutOfSight() throws Exception {
        assertThat(HostCommands.find(proc("pid:[4026531836]", "mnt:[4026533333]", "", "ffffffffffffffff"))
                        .problem())
                .hasValueSatisfying(problem -> assertThat(problem).contains("CAP_SYS_PTRACE"));
    }
}
