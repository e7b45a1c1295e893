package io.erdma.bench;

import io.erdma.plugin.FakeKubelet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Measures the agent as it is installed, its launcher, flags and start-up cache included, against a stand-in for the
 * kubelet in this process and one for libibverbs in the agent's. Times are read from one clock; what they include of this
 * process (the change's files, the transport, decoding the list) counts against the agent.
 */
public final class Bench {
    /** Longer than the two quiet seconds after which a device's change is told at once. */
    private static final Duration DEVICE_QUIET = Duration.ofMillis(2_200);

    /**
     * The JVM looks for memory to give back every five seconds, once compilers and class loading have told what they freed,
     * which takes them as long.
     */
    private static final Duration SETTLED = Duration.ofSeconds(11);

    /** To another agent and not measured: a kubelet is compiled ahead of time, this process must have compiled its part. */
    private static final int WARM_UP_CALLS = 4_000;

    private static final int CALLERS = 8;
    private static final List<Integer> DEVICES = List.of(1, 8, 32);
    private static final int VARIANT_DEVICES = 8;
    private static final Map<String, String> AS_INSTALLED = Map.of("ERDMA_AOT", "on");

    /**
     * How much is measured.
     *
     * @param firstCalls calls to each fresh process that count as its first
     */
    private record Size(
            int starts,
            int firstCalls,
            int restarts,
            int events,
            int warmCalls,
            Duration idle,
            Duration variantIdle,
            int logMegabytes) {
        static final Size FULL =
                new Size(10, 200, 200, 200, 3_000, Duration.ofSeconds(60), Duration.ofSeconds(20), 1_000);
        static final Size QUICK = new Size(4, 48, 4, 8, 200, SETTLED, SETTLED, 100);
    }

    private final Path tree;
    private final String image;
    private final Path logs;
    private final Size size;
    private final List<Figure> figures = new ArrayList<>();

    private Bench(Path tree, String image, Path logs, Size size) {
        this.tree = tree;
        this.image = image;
        this.logs = logs;
        this.size = size;
    }

    /** Arguments: {@code [--quick] TREE IMAGE LOGS PAGE}; a quick run prints its page instead of writing it. */
    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        boolean quick = args.length == 5 && args[0].equals("--quick");
        if (!quick && args.length != 4) {
            System.err.println("usage: Bench [--quick] TREE IMAGE LOGS PAGE");
            System.exit(64);
        }
        Path page = Path.of(args[args.length - 1]);
        Bench bench = new Bench(
                Path.of(args[args.length - 4]),
                args[args.length - 3],
                Path.of(args[args.length - 2]),
                quick ? Size.QUICK : Size.FULL);
        bench.run();
        String committed = Report.committed(page);
        String text = Report.page(bench.figures, committed, bench.notes());
        if (!quick) {
            Files.writeString(page, text);
        }
        System.out.println(text);
        long missed = bench.figures.stream().filter(Figure::misses).count();
        System.out.println("bench: " + bench.figures.size() + " figures, " + missed + " miss their aim, "
                + Report.stepsBack(bench.figures, committed) + " stepped back by more than 15 %"
                + (quick ? "" : "; written to " + page));
        System.exit(0);
    }

    private List<String> notes() {
        return List.of(
                "The agent runs as installed (`bin/erdma agent`) with its start-up cache (`ERDMA_AOT=on`: it would refuse to"
                        + " start without), but for the rows that name something else; kubelet and libibverbs are"
                        + " stand-ins, devices are files, 200 shares each.",
                size.starts() + " fresh processes for starts, every other one with 8 callers, and " + size.firstCalls()
                        + " first Allocate calls of each; " + size.restarts() + " kubelet restarts and " + size.events()
                        + " port events with 8 devices, less with others, each event on a device that was quiet for "
                        + DEVICE_QUIET.toMillis() + " ms; " + size.warmCalls()
                        + " warm calls a caller after as many to warm up. The client of all calls has made "
                        + WARM_UP_CALLS + " to another agent before.",
                "Memory is /proc/PID/smaps_rollup after 2,000 allocations and "
                        + size.idle().toSeconds()
                        + " s idle (" + size.variantIdle().toSeconds()
                        + " s without the cache or with ERDMA_ASLR=1), 1 MB = 10^6 bytes; CPU is of one core over that"
                        + " idle time.",
                "In its container the agent is that of the image, with a read-only root, no capability and no network; it"
                        + " starts with `docker run`, and \"before load\" is " + SETTLED.toSeconds()
                        + " s after it registered.",
                "nccl-check is `bin/erdma nccl-check` on a generated log of " + size.logMegabytes()
                        + " MB from the page cache, three runs; its heap is what the JVM's log of collections shows.");
    }

    private void run() throws IOException, InterruptedException, ExecutionException {
        tell("warming up this process");
        warmUp();
        for (int devices : DEVICES) {
            tell("fresh processes, " + of(devices));
            starts(devices);
        }
        for (int devices : DEVICES) {
            tell("memory of an idle agent, " + of(devices));
            memory("", devices, AS_INSTALLED, size.idle());
        }
        for (int devices : DEVICES) {
            tell("port events and kubelet restarts, " + of(devices));
            try (Daemon daemon = start("latencies-" + devices, devices, AS_INSTALLED)) {
                // Each device goes down and up at least once.
                int events = devices == 1 ? Math.ceilDiv(size.events(), 4) : size.events();
                events(daemon, Math.max(events, 2 * devices));
                restarts(daemon, devices == 8 ? size.restarts() : Math.ceilDiv(size.restarts(), 4));
                warmCalls(daemon);
            }
        }
        variant("without start-up cache: ", Map.of("ERDMA_AOT", "off"));
        variant("with ERDMA_ASLR=1: ", Map.of("ERDMA_AOT", "on", "ERDMA_ASLR", "1"));
        container("in its container: ", AS_INSTALLED);
        container("in its container without start-up cache: ", Map.of("ERDMA_AOT", "off"));
        tell("nccl-check of " + size.logMegabytes() + " MB");
        figures.addAll(new LogCheck(tree, logs, size.logMegabytes()).measure());
    }

    private void warmUp() throws IOException, InterruptedException, ExecutionException {
        try (Daemon daemon = start("warm-up", VARIANT_DEVICES, AS_INSTALLED)) {
            for (int call = 0; call < WARM_UP_CALLS / 2; call++) {
                allocate(daemon, call);
            }
            inParallel(caller -> () -> {
                for (int call = 0; call < WARM_UP_CALLS / 2 / CALLERS; call++) {
                    allocate(daemon, call);
                }
            });
        }
    }

    /** What a setting of the launcher costs. */
    private void variant(String what, Map<String, String> environment)
            throws IOException, InterruptedException, ExecutionException {
        tell(what + of(VARIANT_DEVICES));
        Samples registered = new Samples();
        for (int i = 0; i < Math.ceilDiv(size.starts(), 2); i++) {
            try (Daemon daemon = start("variant", VARIANT_DEVICES, environment)) {
                registered.add(daemon.startToRegister().toNanos());
            }
        }
        figures.add(Figure.p50(what + "exec → registered", VARIANT_DEVICES, registered));
        memory(what, VARIANT_DEVICES, environment, size.variantIdle());
    }

    private Daemon start(String name, int devices, Map<String, String> environment) throws IOException {
        return Daemon.start(tree, logs.resolve(name + ".log"), devices, List.of(), environment);
    }

    private void starts(int devices) throws IOException, InterruptedException, ExecutionException {
        Samples registered = new Samples();
        Samples veryFirst = new Samples();
        Samples one = new Samples();
        Samples eight = new Samples();
        for (int i = 0; i < size.starts(); i++) {
            try (Daemon daemon = start("start-" + devices, devices, AS_INSTALLED)) {
                registered.add(daemon.startToRegister().toNanos());
                if (i % 2 == 0) {
                    for (int call = 0; call < size.firstCalls(); call++) {
                        long took = allocate(daemon, call);
                        one.add(took);
                        if (call == 0) {
                            veryFirst.add(took);
                        }
                    }
                } else {
                    inParallel(caller -> () -> {
                        for (int call = 0; call < Math.ceilDiv(size.firstCalls(), CALLERS); call++) {
                            eight.add(allocate(daemon, call * CALLERS + caller));
                        }
                    });
                }
            }
        }
        figures.add(Figure.p50("exec → registered", devices, registered).aim(350));
        figures.add(Figure.p99("exec → registered", devices, registered));
        figures.add(Figure.p50("Allocate, the very first call", devices, veryFirst));
        figures.add(Figure.p50("Allocate, first calls, 1 caller", devices, one));
        figures.add(Figure.p99("Allocate, first calls, 1 caller", devices, one).aim(2));
        figures.add(Figure.p50("Allocate, first calls, 8 callers", devices, eight));
        figures.add(
                Figure.p99("Allocate, first calls, 8 callers", devices, eight).aim(2));
    }

    private static long allocate(Daemon daemon, int call) {
        String share = "erdma_" + call % daemon.node().size() + "/" + call % Daemon.SHARES;
        long start = System.nanoTime();
        if (daemon.kubelet().allocate(share).getDevicesCount() == 0) {
            throw new IllegalStateException("nothing was granted for " + share);
        }
        return System.nanoTime() - start;
    }

    /** As the footprint was studied: 1,000 calls of one caller, 1,000 of eight, then nothing. */
    private void memory(String prefix, int devices, Map<String, String> environment, Duration quiet)
            throws IOException, InterruptedException, ExecutionException {
        try (Daemon daemon = start("memory-" + devices, devices, environment)) {
            load(daemon);
            ProcessFigures busy = daemon.figures();
            pause(quiet);
            ProcessFigures idle = daemon.figures();
            Figure resident = Figure.of(prefix + "resident", devices, idle.rssMegabytes(), "MB");
            Figure anonymous = Figure.of(prefix + "anonymous", devices, idle.anonymousMegabytes(), "MB");
            // The aims are for the agent as it is installed.
            boolean installed = environment.equals(AS_INSTALLED);
            figures.add(installed ? resident.aim(80) : resident);
            figures.add(installed ? anonymous.aim(38) : anonymous);
            if (installed) {
                figures.add(Figure.of("proportional", devices, idle.pssMegabytes(), "MB"));
                figures.add(Figure.of("threads", devices, idle.threads(), "threads"));
                figures.add(Figure.of("descriptors", devices, idle.descriptors(), "descriptors"));
                figures.add(cpu("", devices, busy, idle, quiet));
            }
        }
    }

    private static void load(Daemon daemon) throws InterruptedException, ExecutionException {
        for (int call = 0; call < 1_000; call++) {
            allocate(daemon, call);
        }
        inParallel(caller -> () -> {
            for (int call = 0; call < 1_000 / CALLERS; call++) {
                allocate(daemon, call);
            }
        });
    }

    /** As a node runs it. */
    private void container(String what, Map<String, String> environment)
            throws IOException, InterruptedException, ExecutionException {
        tell(what + of(VARIANT_DEVICES));
        Path log = logs.resolve("container.log");
        Samples registered = new Samples();
        for (int i = 0; i < Math.ceilDiv(size.starts(), 2); i++) {
            try (Daemon daemon = Daemon.startInContainer(image, log, VARIANT_DEVICES, environment)) {
                registered.add(daemon.startToRegister().toNanos());
            }
        }
        figures.add(Figure.p50(what + "docker run → registered", VARIANT_DEVICES, registered));
        try (Daemon daemon = Daemon.startInContainer(image, log, VARIANT_DEVICES, environment)) {
            pause(SETTLED);
            memory(what + "before load, ", daemon.figures());
            load(daemon);
            ProcessFigures busy = daemon.figures();
            pause(size.variantIdle());
            ProcessFigures idle = daemon.figures();
            memory(what, idle);
            figures.add(cpu(what, VARIANT_DEVICES, busy, idle, size.variantIdle()));
        }
    }

    private void memory(String what, ProcessFigures process) {
        figures.add(Figure.of(what + "resident", VARIANT_DEVICES, process.rssMegabytes(), "MB"));
        figures.add(Figure.of(what + "proportional", VARIANT_DEVICES, process.pssMegabytes(), "MB"));
        figures.add(Figure.of(what + "anonymous", VARIANT_DEVICES, process.anonymousMegabytes(), "MB"));
    }

    private static Figure cpu(String what, int devices, ProcessFigures from, ProcessFigures to, Duration time) {
        // Ticks are hundredths of a second, so ticks per second are percent.
        return Figure.of(
                what + "idle CPU", devices, (to.cpuTicks() - from.cpuTicks()) / (double) time.toSeconds(), "%");
    }

    private void events(Daemon daemon, int count) {
        int devices = daemon.node().size();
        Samples down = new Samples();
        Samples up = new Samples();
        long[] changed = new long[devices];
        boolean[] isUp = new boolean[devices];
        for (int device = 0; device < devices; device++) {
            changed[device] = System.nanoTime();
            isUp[device] = true;
        }
        for (int event = 0; event < count; event++) {
            int device = event % devices;
            pause(DEVICE_QUIET.minusNanos(System.nanoTime() - changed[device]));
            boolean now = !isUp[device];
            // Lists of thousands of shares: kept, they would make this process stop for its collector in a later event.
            daemon.kubelet().forget();
            String prefix = daemon.node().device(device).name() + "/";
            String health = now ? "Healthy" : "Unhealthy";
            long start = System.nanoTime();
            daemon.node().setPort(device, now);
            FakeKubelet.Message message =
                    daemon.kubelet().awaitMessage(0, candidate -> hasAll(candidate, prefix, health), Daemon.PATIENCE);
            (now ? up : down).add(message.arrivedNanos() - start);
            changed[device] = System.nanoTime();
            isUp[device] = now;
        }
        for (int device = 0; device < devices; device++) {
            if (!isUp[device]) {
                pause(DEVICE_QUIET.minusNanos(System.nanoTime() - changed[device]));
                daemon.node().setPort(device, true);
            }
        }
        daemon.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, (long) devices * Daemon.SHARES, Daemon.PATIENCE);
        figures.add(Figure.p50("port down → kubelet", devices, down));
        figures.add(Figure.p99("port down → kubelet", devices, down).aim(20));
        figures.add(Figure.p50("port up → kubelet", devices, up));
        figures.add(Figure.p99("port up → kubelet", devices, up).aim(20));
    }

    private static boolean hasAll(FakeKubelet.Message message, String prefix, String health) {
        return message.list().getDevicesList().stream()
                .filter(share -> share.getID().startsWith(prefix))
                .allMatch(share -> share.getHealth().equals(health));
    }

    private void restarts(Daemon daemon, int count) throws IOException {
        Samples registered = new Samples();
        for (int i = 0; i < count; i++) {
            registered.add(daemon.restartKubelet().toNanos());
        }
        figures.add(Figure.p50("kubelet.sock → registered", daemon.node().size(), registered));
        figures.add(Figure.p99("kubelet.sock → registered", daemon.node().size(), registered)
                .aim(200));
    }

    private void warmCalls(Daemon daemon) throws InterruptedException, ExecutionException {
        int devices = daemon.node().size();
        Samples one = new Samples();
        for (int call = 0; call < 2 * size.warmCalls(); call++) {
            long took = allocate(daemon, call);
            if (call >= size.warmCalls()) {
                one.add(took);
            }
        }
        figures.add(Figure.p50("Allocate warm, 1 caller", devices, one));
        figures.add(Figure.p99("Allocate warm, 1 caller", devices, one).aim(1));
        Samples eight = new Samples();
        inParallel(caller -> () -> {
            for (int call = 0; call < size.warmCalls(); call++) {
                eight.add(allocate(daemon, call + caller));
            }
        });
        figures.add(Figure.p50("Allocate warm, 8 callers", devices, eight));
        figures.add(Figure.p99("Allocate warm, 8 callers", devices, eight).aim(1));
    }

    private static void inParallel(IntFunction<Runnable> work) throws InterruptedException, ExecutionException {
        try (ExecutorService executor = Executors.newFixedThreadPool(CALLERS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                running.add(executor.submit(work.apply(caller)));
            }
            for (Future<?> future : running) {
                future.get();
            }
        }
    }

    private static String of(int devices) {
        return devices + (devices == 1 ? " device" : " devices");
    }

    private static void tell(String what) {
        System.err.println("bench: " + what);
    }

    private static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
