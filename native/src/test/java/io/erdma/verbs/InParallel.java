package io.erdma.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the same steps in several threads and passes on the first failure. */
final class InParallel {
    interface Steps {
        void run() throws Exception;
    }

    private InParallel() {}

    static void run(int threads, Steps steps) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                tasks.add(() -> {
                    steps.run();
                    return null;
                });
            }
            for (Future<Void> done : executor.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
                done.get();
            }
        }
    }
}
