package io.erdma.cli;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.Locking;
import io.erdma.doctor.Facts.MemoryLimit;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How much memory processes may lock, as proc tells it. */
final class ProcessReader {
    private static final Pattern LOCKED = Pattern.compile("(?m)^Max locked memory\\s+(\\S+)\\s");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-f]{1,16})$");
    private static final int IPC_LOCK = 14;

    /** As the kernel cuts them: to 15 characters. */
    private static final Set<String> SERVICES = Set.of("containerd", "dockerd", "crio", "kubelet");

    private final Path proc;

    ProcessReader(Path proc) {
        this.proc = proc;
    }

    /** @param process "self" or a number */
    Fact<Locking> locking(String process) {
        Optional<MemoryLimit> limit = limit(process);
        return limit.isEmpty()
                ? Fact.unknown(proc.resolve(process).resolve("limits") + " tells no limit of locked memory")
                : Fact.known(new Locking(limit.get(), holdsIpcLock(process)));
    }

    private Optional<MemoryLimit> limit(String process) {
        return NodeFiles.text(proc.resolve(process).resolve("limits")).flatMap(ProcessReader::limitIn);
    }

    /** The soft limit in the text of a limits file. */
    static Optional<MemoryLimit> limitIn(String limits) {
        Matcher matcher = LOCKED.matcher(limits);
        if (!matcher.find()) {
            return Optional.empty();
        }
        String soft = matcher.group(1);
        if (soft.equals("unlimited")) {
            return Optional.of(MemoryLimit.UNLIMITED);
        }
        return soft.matches("[0-9]{1,18}")
                ? Optional.of(new MemoryLimit(OptionalLong.of(Long.parseLong(soft))))
                : Optional.empty();
    }

    private boolean holdsIpcLock(String process) {
        Matcher matcher = CAPABILITIES.matcher(
                NodeFiles.text(proc.resolve(process).resolve("status")).orElse(""));
        return matcher.find() && (Long.parseUnsignedLong(matcher.group(1), 16) >>> IPC_LOCK & 1) == 1;
    }

    /** Of the container runtimes and the kubelet, as far as their processes are visible. */
    Fact<Map<String, MemoryLimit>> services() {
        Optional<List<String>> processes = NodeFiles.names(proc);
        if (processes.isEmpty()) {
            return Fact.unknown(proc + " can't be listed");
        }
        Map<String, MemoryLimit> limits = new TreeMap<>();
        for (String process : processes.get()) {
            if (process.matches("[0-9]+")) {
                NodeFiles.text(proc.resolve(process).resolve("comm"))
                        .filter(SERVICES::contains)
                        .ifPresent(service -> limit(process).ifPresent(limit -> limits.put(service, limit)));
            }
        }
        return Fact.known(limits);
    }
}
