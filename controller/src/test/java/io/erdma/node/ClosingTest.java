package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClosingTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final CountDownLatch end = new CountDownLatch(1);
    private final Set<String> closed = ConcurrentHashMap.newKeySet();

    @AfterEach
    void endThoseThatHang() {
        end.countDown();
    }

    private Closing.Part part(String name) {
        return new Closing.Part(name, () -> closed.add(name));
    }

    private Closing.Part hangs(String name) {
        return new Closing.Part(name, () -> {
            end.await();
            closed.add(name);
        });
    }

    @Test
    void closesAllOfThemBeforeItReturns() {
        List<Closing.Part> parts = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            parts.add(part("part " + i));
        }
        new Closing(LONG).close(parts);
        assertThat(closed).hasSize(20);
    }

    /** Three that would each take all the time that there is, one after the other. */
    @Test
    void givesAllOfThemTogetherOneTimeAndNotEachOneItsOwn() {
        long start = System.nanoTime();
        Closing closing = new Closing(Duration.ofMillis(300));
        closing.close(List.of(hangs("driver"), part("session"), hangs("usage"), hangs("probes")));
        assertThat(closed).containsExactly("session");
        closing.close(List.of(hangs("gRPC")));
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(300), Duration.ofSeconds(20));
    }

    @Test
    void oneThatFailsKeepsNoOtherOpen() {
        new Closing(LONG)
                .close(List.of(
                        new Closing.Part("broken", () -> {
                            throw new IllegalStateException("cannot close");
                        }),
                        part("other")));
        assertThat(closed).containsExactly("other");
    }
}
