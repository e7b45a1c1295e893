package io.erdma.doctor;

import io.erdma.doctor.Facts.Locking;
import io.erdma.doctor.Facts.MemoryLimit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What processes may do. */
final class ProcessChecks {
    /** A queue pair and small buffers fit; a training job registers gigabytes. */
    private static final long TOO_LITTLE = 64L << 20;

    private static final String CURE =
            "put LimitMEMLOCK=infinity into containerd's systemd unit and restart it, or give the container the capability"
                    + " IPC_LOCK";

    private ProcessChecks() {}

    static List<Finding> lockedMemory(Facts facts) {
        return List.of(
                switch (facts.locking()) {
                    case Fact.Unknown<Locking>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<Locking>(Locking locking) ->
                        judge(facts.vantage().side(), locking);
                });
    }

    private static Finding judge(Side side, Locking locking) {
        String limit = describe(locking.limit());
        if (locking.limit().bytes().isEmpty()) {
            return Finding.pass(limit);
        }
        if (locking.exempt()) {
            return Finding.pass(limit + ", and this process has IPC_LOCK, to which that does not apply");
        }
        if (!side.isPod()) {
            return Finding.pass(limit + " in this process, which registers no memory");
        }
        String statement = limit + " in this container: memory registration fails with ENOMEM beyond it";
        return locking.limit().bytes().getAsLong() < TOO_LITTLE
                ? Finding.fail(statement, CURE)
                : Finding.warn(statement, CURE);
    }

    static List<Finding> serviceMemory(Facts facts) {
        return List.of(
                switch (facts.services()) {
                    case Fact.Unknown<Map<String, MemoryLimit>>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<Map<String, MemoryLimit>>(Map<String, MemoryLimit> services) -> judge(services);
                });
    }

    private static Finding judge(Map<String, MemoryLimit> services) {
        if (services.isEmpty()) {
            return Finding.notSeenAndNotNeeded(
                    "no container runtime and no kubelet among the processes seen from here");
        }
        Map<String, MemoryLimit> sorted = new TreeMap<>(services);
        List<String> all = sorted.entrySet().stream()
                .map(service -> service.getKey() + ": " + describe(service.getValue()))
                .toList();
        List<String> limited = sorted.entrySet().stream()
                .filter(service -> service.getValue().bytes().isPresent())
                // Containers inherit from the runtime; the kubelet starts none itself.
                .filter(service -> !service.getKey().equals("kubelet"))
                .map(Map.Entry::getKey)
                .toList();
        return limited.isEmpty()
                ? Finding.pass(String.join(", ", all))
                : Finding.warn(
                                "containers inherit a limit from " + String.join(", ", limited)
                                        + ": beyond it NCCL fails with ENOMEM",
                                CURE)
                        .because(all);
    }

    private static String describe(MemoryLimit limit) {
        if (limit.bytes().isEmpty()) {
            return "unlimited";
        }
        long bytes = limit.bytes().getAsLong();
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }
}
