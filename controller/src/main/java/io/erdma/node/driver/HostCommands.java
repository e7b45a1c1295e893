package io.erdma.node.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs programs of the host, since only the host's own kmod reads the host's modules: directly where this process is on
 * the host, else in the mount namespace of PID 1. Never through a shell; each has a deadline, and whoever is still there
 * then is killed with its children and theirs. The calling thread waits.
 */
public final class HostCommands {
    /** The number that the kernel gives its first pid namespace (PROC_PID_INIT_INO). */
    private static final String HOST_PID_NAMESPACE = "pid:[4026531836]";

    private static final Map<String, Integer> CAPABILITIES_INSIDE = capabilities(true);
    private static final Map<String, Integer> CAPABILITIES_ON_HOST = capabilities(false);

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C", "HOME", "/root");

    /** For what a killed program's pipes still hold. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private static final int KILL_ROUNDS = 10;

    private final List<String> prefix;
    private final Path root;
    private final Optional<String> problem;

    /** How a program ended. Its outputs are kept in part when they are long. */
    public record Result(int code, String out, String err) {
        public boolean succeeded() {
            return code == 0;
        }
    }

    /** A program that could not be run or did not end well; the message holds the command and its last words. */
    public static final class FailedException extends IOException {
        private static final long serialVersionUID = 1L;

        FailedException(String message) {
            super(message);
        }

        FailedException(String message, IOException cause) {
            super(message, cause);
        }
    }

    private HostCommands(List<String> prefix, Path root, Optional<String> problem) {
        this.prefix = List.copyOf(prefix);
        this.root = root;
        this.problem = problem;
    }

    /** Programs as this process sees them. */
    static HostCommands direct() {
        return new HostCommands(List.of(), Path.of("/"), Optional.empty());
    }

    /** Programs by way of another one, which gets them as its arguments. */
    static HostCommands through(List<String> prefix) {
        return new HostCommands(prefix, Path.of("/"), Optional.empty());
    }

    private static HostCommands unavailable(String reason) {
        return new HostCommands(List.of(), Path.of("/"), Optional.of(reason));
    }

    /**
     * Finds out where this process is and what it may.
     *
     * @param proc usually /proc
     */
    public static HostCommands find(Path proc) {
        try {
            if (!link(proc.resolve("self/ns/pid")).equals(HOST_PID_NAMESPACE)) {
                return unavailable(
                        "this process is not in the host's pid namespace; set hostPID: true in the agent's pod");
            }
            boolean onHost;
            try {
                onHost = link(proc.resolve("self/ns/mnt")).equals(link(proc.resolve("1/ns/mnt")));
            } catch (IOException e) {
                return unavailable("the host's mount namespace cannot be looked at (" + e + "); give the agent"
                        + " CAP_SYS_PTRACE and root");
            }
            List<String> missing = missing(proc, onHost ? CAPABILITIES_ON_HOST : CAPABILITIES_INSIDE);
            if (!missing.isEmpty()) {
                return unavailable("this process lacks " + String.join(", ", missing)
                        + "; give them to the agent's container, or set --manage-driver=false");
            }
            return onHost
                    ? direct()
                    : new HostCommands(
                            List.of("nsenter", "--target", "1", "--mount", "--"),
                            proc.resolve("1/root"),
                            Optional.empty());
        } catch (IOException e) {
            return unavailable("this process's own namespaces cannot be read: " + e);
        }
    }

    private static String link(Path path) throws IOException {
        return Files.readSymbolicLink(path).toString();
    }

    private static Map<String, Integer> capabilities(boolean inside) {
        Map<String, Integer> bits = new LinkedHashMap<>();
        bits.put("CAP_SYS_MODULE", 16);
        if (inside) {
            // To look into PID 1, and to enter its mount namespace.
            bits.put("CAP_SYS_PTRACE", 19);
            bits.put("CAP_SYS_CHROOT", 18);
            bits.put("CAP_SYS_ADMIN", 21);
        }
        return bits;
    }

    private static List<String> missing(Path proc, Map<String, Integer> wanted) throws IOException {
        long effective = Files.readAllLines(proc.resolve("self/status")).stream()
                .filter(line -> line.startsWith("CapEff:"))
                .map(line -> line.substring("CapEff:".length()).strip())
                .filter(digits -> digits.matches("[0-9a-f]{1,16}"))
                .mapToLong(digits -> Long.parseUnsignedLong(digits, 16))
                .findFirst()
                .orElse(0);
        return wanted.entrySet().stream()
                .filter(entry -> (effective >>> entry.getValue() & 1) == 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Why nothing can be run on the host, and what to do; absent when it can. */
    public Optional<String> problem() {
        return problem;
    }

    /** A path of the host as this process sees it. */
    Path here(Path onHost) {
        return root.resolve(Path.of("/").relativize(onHost));
    }

    /**
     * Runs a program to its end, whatever that is.
     *
     * @throws FailedException when it can't be started or does not end in time
     */
    public Result run(Duration deadline, List<String> command) throws FailedException {
        return run(deadline, command, Map.of(), started -> {});
    }

    /**
     * @param environment beside PATH and LC_ALL, which are fixed; nothing of this process's own is passed on
     * @param started is called with the process's id as soon as there is one
     */
    Result run(Duration deadline, List<String> command, Map<String, String> environment, Started started)
            throws FailedException {
        if (problem.isPresent()) {
            throw new FailedException("cannot run " + String.join(" ", command) + ": " + problem.get());
        }
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all)
                .directory(Path.of("/").toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
        builder.environment().clear();
        builder.environment().putAll(ENVIRONMENT);
        builder.environment().putAll(environment);
        String name = String.join(" ", command);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new FailedException("cannot run " + name + ": " + e.getMessage(), e);
        }
        boolean wellDone = false;
        try {
            BoundedText out = new BoundedText();
            BoundedText err = new BoundedText();
            Thread outReader = reader("out", () -> out.readAll(process.getInputStream()));
            Thread errReader = reader("err", () -> err.readAll(process.getErrorStream()));
            started.started(process);
            boolean inTime = process.waitFor(deadline.toNanos(), TimeUnit.NANOSECONDS);
            if (!inTime) {
                endWithChildren(process.toHandle());
            }
            wellDone = inTime;
            // What it started and left behind may hold the pipes; that must not hold us.
            outReader.join(LAST_WORDS);
            errReader.join(LAST_WORDS);
            if (!inTime) {
                throw new FailedException(name + " did not end within " + deadline.toSeconds() + " s and was killed"
                        + lastWords(out.text(), err.text()));
            }
            return new Result(process.exitValue(), out.text(), err.text());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FailedException(name + " was killed: the agent stops");
        } catch (IOException e) {
            throw e instanceof FailedException failed
                    ? failed
                    : new FailedException(name + " was killed: " + e.getMessage(), e);
        } finally {
            if (!wellDone) {
                endWithChildren(process.toHandle());
            }
        }
    }

    /** As {@link #run}, and insists on exit code 0. */
    public Result check(Duration deadline, List<String> command) throws FailedException {
        Result result = run(deadline, command);
        if (!result.succeeded()) {
            throw failed(command, result);
        }
        return result;
    }

    static FailedException failed(List<String> command, Result result) {
        return new FailedException(String.join(" ", command) + " failed with exit code " + result.code()
                + lastWords(result.out(), result.err()));
    }

    /** One line of what a program said last: of its complaints, or else of its output. */
    static String lastWords(String out, String err) {
        String said = err.isBlank() ? out : err;
        List<String> lines =
                said.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
        String last = String.join("; ", lines.subList(Math.max(0, lines.size() - 3), lines.size()));
        if (last.isEmpty()) {
            return "";
        }
        return ": " + (last.length() > 500 ? "…" + last.substring(last.length() - 500) : last);
    }

    /** Told of a program that runs, for example to move it to where it may use more memory. */
    @FunctionalInterface
    interface Started {
        /** @throws IOException ends the program */
        void started(Process process) throws IOException;
    }

    private static Thread reader(String stream, Runnable read) {
        return Thread.ofPlatform().daemon().name("erdma-host-" + stream).start(read);
    }

    /** Looks several times: what is about to be killed may start more. */
    static void endWithChildren(ProcessHandle process) {
        Set<ProcessHandle> known = new HashSet<>(Set.of(process));
        Consumer<ProcessHandle> kill = ProcessHandle::destroyForcibly;
        for (int round = 0; round < KILL_ROUNDS; round++) {
            Set<ProcessHandle> found = new HashSet<>();
            known.forEach(handle -> handle.descendants().forEach(found::add));
            known.forEach(kill);
            found.forEach(kill);
            if (!known.addAll(found)) {
                return;
            }
        }
    }

    @Override
    public String toString() {
        return problem.orElse(prefix.isEmpty() ? "directly" : "in the host's mount namespace");
    }
}
