package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Starts of a fresh process on a tenth of a core. A kubelet that dials back inside Register gets the options and the first
 * list within its second every time, since nothing is registered before it can be served. Its {@code main} is the long
 * form: {@code ColdStarts [starts]}, 100 unless told otherwise.
 */
final class ColdStarts {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path root;
    private final FakeKubelet kubelet;

    ColdStarts(Path root, FakeKubelet kubelet) {
        this.root = root;
        this.kubelet = kubelet;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int starts = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        Path root = Files.createTempDirectory("erdma-cold");
        try (FakeKubelet kubelet = FakeKubelet.start(root)) {
            System.out.println("ok - " + new ColdStarts(root, kubelet).run(starts));
        }
    }

    /** Answers what to print about it. */
    String run(int starts) throws IOException, InterruptedException {
        long slowestNanos = 0;
        Program.Start start = new Program.Start(root, root);
        try (CpuLimit limit = CpuLimit.ofTenthOfACore()) {
            for (int number = 1; number <= starts; number++) {
                try (Program program = start.program(limit.shell() + " && exec \"$@\"")) {
                    FakeKubelet.Registration registration = kubelet.awaitRegistration(number, PATIENCE);
                    slowestNanos = Math.max(slowestNanos, registration.acceptedNanos() - registration.arrivedNanos());
                    program.kill();
                }
            }
            if (!kubelet.refusals().isEmpty() || kubelet.registerCalls() != starts) {
                throw new AssertionError(kubelet.registerCalls() + " Register calls of " + starts + " starts, refused "
                        + kubelet.refusals());
            }
            return "%d cold starts %s: each accepted at once; slowest Register %.1f ms"
                    .formatted(starts, limit, slowestNanos / 1e6);
        }
    }
}
