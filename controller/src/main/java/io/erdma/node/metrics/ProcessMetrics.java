package io.erdma.node.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.stream.Stream;

/**
 * The process as the kernel sees it, under the names that Prometheus' own clients use, and the Java heap. Micrometer's
 * binders would ask java.lang.management for it, which is a megabyte of classes, and don't know the resident memory.
 */
final class ProcessMetrics implements MeterBinder {
    private static final long KIB = 1024;
    /** USER_HZ, the unit of times in /proc, which is part of the kernel's ABI on amd64 and arm64. */
    private static final double TICKS_PER_SECOND = 100;

    private final Path proc;
    private final Instant started;

    /** @param proc the process's directory, {@code /proc/self} */
    ProcessMetrics(Path proc, Instant started) {
        this.proc = proc;
        this.started = started;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("process.resident.memory", () -> status("VmRSS:") * KIB)
                .description("Resident memory")
                .baseUnit("bytes")
                .register(registry);
        Gauge.builder("process.threads", () -> status("Threads:"))
                .description("Threads, those of the JVM included")
                .register(registry);
        Gauge.builder("process.open.fds", this::descriptors)
                .description("Open file descriptors")
                .register(registry);
        FunctionCounter.builder("process.cpu", this, ProcessMetrics::cpuSeconds)
                .description("User and system CPU time")
                .baseUnit("seconds")
                .register(registry);
        Gauge.builder("process.start.time", () -> started.toEpochMilli() / 1e3)
                .description("When the agent started, since the epoch")
                .baseUnit("seconds")
                .register(registry);
        Runtime runtime = Runtime.getRuntime();
        Gauge.builder("jvm.memory.used", () -> runtime.totalMemory() - runtime.freeMemory())
                .description("Java heap in use, garbage included")
                .tag("area", "heap")
                .baseUnit("bytes")
                .register(registry);
        Gauge.builder("jvm.memory.max", runtime::maxMemory)
                .description("What the Java heap may take at most")
                .tag("area", "heap")
                .baseUnit("bytes")
                .register(registry);
    }

    /** The number of a line such as {@code VmRSS:     76120 kB}; a scrape that can't read it shows NaN. */
    private double status(String key) {
        try (Stream<String> lines = Files.lines(proc.resolve("status"))) {
            return lines.filter(line -> line.startsWith(key))
                    .mapToDouble(line -> Double.parseDouble(
                            line.substring(key.length()).replace("kB", "").strip()))
                    .findFirst()
                    .orElse(Double.NaN);
        } catch (IOException e) {
            return Double.NaN;
        }
    }

    private double descriptors() {
        try (Stream<Path> open = Files.list(proc.resolve("fd"))) {
            return open.count();
        } catch (IOException e) {
            return Double.NaN;
        }
    }

    private double cpuSeconds() {
        try {
            String stat = Files.readString(proc.resolve("stat"));
            // The second field, the command, may hold blanks; what follows the last ")" does not.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
        } catch (IOException e) {
            return Double.NaN;
        }
    }
}
