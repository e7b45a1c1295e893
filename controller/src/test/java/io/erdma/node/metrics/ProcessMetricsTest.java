package io.erdma.node.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMetricsTest {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    private String scrape(Path proc) {
        new ProcessMetrics(proc, Instant.parse("2026-12-01T03:04:05.500Z")).bindTo(registry);
        return registry.scrape();
    }

    @Test
    void readsWhatTheKernelWrites(@TempDir Path proc) throws IOException {
        Files.writeString(proc.resolve("status"), "Name:\tjava\nVmRSS:\t   76120 kB\nThreads:\t17\n");
        Files.writeString(
                proc.resolve("stat"), "42 (a) name) S 1 42 42 0 -1 4194560 9999 0 0 0 120 34 0 0 20 0 17 0 1\n");
        Files.createDirectories(proc.resolve("fd"));
        Files.writeString(proc.resolve("fd/0"), "");
        Files.writeString(proc.resolve("fd/1"), "");

        assertThat(scrape(proc).lines())
                .contains(
                        "process_resident_memory_bytes 7.794688E7",
                        "process_threads 17.0",
                        "process_open_fds 2.0",
                        "process_cpu_seconds_total 1.54",
                        "process_start_time_seconds 1.7960942455E9");
    }

    @Test
    void goesOnWithoutProc(@TempDir Path empty) {
        assertThat(scrape(empty)).contains("process_resident_memory_bytes NaN", "jvm_memory_used_bytes{");
    }
}
