package io.erdma.node.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs programs of the host, since only the host's own kmod reads the host's modules: directly where this process is on
 * the host, else in the mount namespace of PID 1. Never through a shell; each has a deadline, and whoever is still there
 * then is killed with all that it started. What a program that ends in time leaves running is left alone. The calling
 * thread waits and does all the work.
 */
public final class HostCommands {
    /** The number that the kernel gives its first pid namespace (PROC_PID_INIT_INO). */
    private static final String HOST_PID_NAMESPACE = "pid:[4026531836]";

    private static final Map<String, Integer> CAPABILITIES_INSIDE = capabilities(true);
    private static final Map<String, Integer> CAPABILITIES_ON_HOST = capabilities(false);

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C", "HOME", "/root");

    /** How soon the end of a program is noticed that leaves a child with its outputs behind. */
    private static final Duration LOOK = Duration.ofMillis(100);

    private static final int SIGNALLED = 128;

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
    public static HostCommands direct() {
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
        return run(deadline, command, Map.of(), Optional.empty(), started -> {});
    }

    /**
     * @param environment beside PATH and LC_ALL, which are fixed; nothing of this process's own is passed on
     * @param log where both outputs go, for a program that is to survive this process; absent: they are only kept
     */
    Result run(
            Duration deadline, List<String> command, Map<String, String> environment, Optional<Path> log, Watch watch)
            throws FailedException {
        String name = String.join(" ", command);
        if (problem.isPresent()) {
            throw new FailedException("cannot run " + name + ": " + problem.get());
        }
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all)
                .directory(Path.of("/").toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
        StartedProcesses processes = StartedProcesses.next();
        builder.environment().clear();
        builder.environment().putAll(ENVIRONMENT);
        builder.environment().putAll(environment);
        builder.environment().put(StartedProcesses.VARIABLE, processes.mark());
        try (ProgramOutput output = log.isPresent() ? ProgramOutput.into(log.get()) : ProgramOutput.piped()) {
            output.redirect(builder);
            Process process = builder.start();
            output.started();
            return await(process, processes, output, deadline, name, watch);
        } catch (FailedException e) {
            throw e;
        } catch (IOException e) {
            throw new FailedException("cannot run " + name + ": " + e.getMessage(), e);
        }
    }

    private static Result await(
            Process process,
            StartedProcesses processes,
            ProgramOutput output,
            Duration deadline,
            String name,
            Watch watch)
            throws FailedException {
        long start = System.nanoTime();
        boolean wellDone = false;
        try {
            watch.started(process);
            while (process.isAlive()) {
                Duration passed = Duration.ofNanos(System.nanoTime() - start);
                Duration left = deadline.minus(passed);
                if (!left.isPositive()) {
                    processes.end(process.toHandle());
                    output.takeRest();
                    throw new FailedException(name + " did not end within " + deadline.toSeconds() + " s and was killed"
                            + lastWords(output.out.text(), output.err.text()));
                }
                watch.running(passed);
                output.await(process, left.compareTo(LOOK) < 0 ? left : LOOK);
            }
            output.takeRest();
            wellDone = true;
            return new Result(process.exitValue(), output.out.text(), output.err.text());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FailedException(name + " was killed: the agent stops");
        } catch (FailedException e) {
            throw e;
        } catch (IOException e) {
            throw new FailedException(name + " was killed: " + e.getMessage(), e);
        } finally {
            if (!wellDone) {
                processes.end(process.toHandle());
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
        // Of a program that a signal ended, the code is 128 and the signal's number.
        String signal = result.code() > SIGNALLED && result.code() < SIGNALLED + 65
                ? " (ended by signal " + (result.code() - SIGNALLED) + ")"
                : "";
        return new FailedException(String.join(" ", command) + " failed with exit code " + result.code() + signal
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

    /** Told of a program that runs. */
    @FunctionalInterface
    interface Watch {
        /**
         * For example to move it to where it may use more memory.
         *
         * @throws IOException ends the program
         */
        void started(Process process) throws IOException;

        /** About once a second or more often, by the thread that waits for the program. */
        default void running(Duration since) {}
    }

    @Override
    public String toString() {
        return problem.orElse(prefix.isEmpty() ? "directly" : "in the host's mount namespace");
    }
}
