package io.erdma.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Asks what may never answer, such as a driver that hangs, without waiting for ever. */
final class Patience {
    private Patience() {}

    /**
     * Empty when there is no answer in time. The one who asks is a daemon then and stays behind until the program ends.
     *
     * @param question what is asked, for the thread's name
     */
    static <T> Optional<T> within(Duration limit, String question, Supplier<T> ask) {
        FutureTask<T> answer = new FutureTask<>(ask::get);
        Thread.ofPlatform().daemon().name("erdma-ask-" + question).start(answer);
        try {
            return Optional.of(answer.get(limit.toNanos(), TimeUnit.NANOSECONDS));
        } catch (TimeoutException late) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("asking for " + question + " failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
