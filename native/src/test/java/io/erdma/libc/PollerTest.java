package io.erdma.libc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PollerTest {
    private static final Duration LONG = Duration.ofSeconds(50);
    private static final byte[] ONE = {1, 0, 0, 0, 0, 0, 0, 0};

    @Test
    void returnsWithNothingAfterTheTimeoutAndNotBefore() throws Exception {
        try (Poller poller = Poller.open()) {
            long began = System.nanoTime();
            Poller.Ready ready = poller.await(List.of(), Duration.ofMillis(30));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(30));
            assertThat(ready.readable()).isEmpty();
            assertThat(ready.broken()).isEmpty();
        }
    }

    @Test
    void namesTheReadableDescriptorAlone() throws Exception {
        LibC libc = LibC.load();
        int quiet = libc.eventfd(0, LibC.EFD_CLOEXEC);
        int ready = libc.eventfd(0, LibC.EFD_CLOEXEC);
        try (Poller poller = Poller.open()) {
            assertThat(libc.write(ready, ONE, ONE.length)).isEqualTo(8);
            assertThat(poller.await(List.of(quiet, ready), LONG).readable()).containsExactly(ready);
        } finally {
            libc.close(quiet);
            libc.close(ready);
        }
    }

    @Test
    void namesADescriptorThatIsNoneAsBroken() throws Exception {
        LibC libc = LibC.load();
        int gone = libc.eventfd(0, LibC.EFD_CLOEXEC);
        libc.close(gone);
        try (Poller poller = Poller.open()) {
            // The number may have been given to the poller itself; one that high never is.
            Poller.Ready ready = poller.await(List.of(gone + 100_000), LONG);
            assertThat(ready.broken()).containsExactly(gone + 100_000);
            assertThat(ready.readable()).isEmpty();
        }
    }

    @Test
    void aWakeUpBeforeTheWaitEndsTheNextWaitAndOnlyThat() throws Exception {
        try (Poller poller = Poller.open()) {
            poller.wakeUp();
            poller.wakeUp();
            assertThat(poller.await(List.of(), LONG).readable()).isEmpty();
            long began = System.nanoTime();
            poller.await(List.of(), Duration.ofMillis(20));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        }
    }

    @Test
    void aWakeUpFromAnotherThreadEndsTheWait() throws Exception {
        try (Poller poller = Poller.open();
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            CompletableFuture<Thread> waiter = new CompletableFuture<>();
            Future<Poller.Ready> wait = executor.submit(() -> {
                waiter.complete(Thread.currentThread());
                return poller.await(List.of(), LONG);
            });
            waiter.get();
            poller.wakeUp();
            assertThat(wait.get(30, TimeUnit.SECONDS).readable()).isEmpty();
        }
    }

    @Test
    void closeEndsAWaitUnderWay() throws Exception {
        Poller poller = Poller.open();
        AtomicBoolean waiting = new AtomicBoolean();
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<Poller.Ready> wait = executor.submit(() -> {
                waiting.set(true);
                return poller.await(List.of(), LONG);
            });
            await().untilTrue(waiting);
            poller.close();
            assertThatThrownBy(() -> wait.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void wakeUpsMayRaceWithClose() throws Exception {
        for (int round = 0; round < 100; round++) {
            Poller poller = Poller.open();
            try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
                Future<?> waker = executor.submit(() -> {
                    for (int i = 0; i < 50; i++) {
                        poller.wakeUp();
                    }
                });
                Future<?> closer = executor.submit(poller::close);
                assertThatCode(() -> waker.get(30, TimeUnit.SECONDS)).doesNotThrowAnyException();
                closer.get(30, TimeUnit.SECONDS);
            }
            assertThatThrownBy(() -> poller.await(List.of(), LONG)).isInstanceOf(IllegalStateException.class);
        }
    }
}
