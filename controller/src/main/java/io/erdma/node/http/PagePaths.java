package io.erdma.node.http;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * {@code /}, the node's page, and {@code /metrics} with the pods' series. {@code /?refresh=off} is the page that stays as
 * it is, for who reads it slowly.
 */
public final class PagePaths implements Paths {
    /** However many look at it, the page is made no more often, since probes wait for the same thread. */
    private static final Duration MADE_AT_MOST_EVERY = Duration.ofSeconds(1);

    private static final String STILL = "refresh=off";

    /**
     * How the page is made.
     *
     * @param html of the page, by whether it loads itself again
     * @param policy the Content-Security-Policy that it is content with
     */
    public record Page(Function<Boolean, String> html, String policy) {
        public Page {
            requireNonNull(html, "html is null");
            requireNonNull(policy, "policy is null");
        }
    }

    private record Made(long nanos, String html) {}

    private final Page page;
    private final Supplier<String> metrics;
    private final LongSupplier nanoTime;
    /** By whether it loads itself again; the server's thread alone is here. */
    private final Map<Boolean, Made> made = new HashMap<>();

    public PagePaths(Page page, Supplier<String> metrics) {
        this(page, metrics, System::nanoTime);
    }

    PagePaths(Page page, Supplier<String> metrics, LongSupplier nanoTime) {
        this.page = requireNonNull(page, "page is null");
        this.metrics = requireNonNull(metrics, "metrics is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    @Override
    public Answer answer(Request request) {
        return switch (request.path()) {
            case "/" -> request.get(() -> page(!request.query().equals(STILL)));
            case "/metrics" -> request.get(() -> Answer.text(200, metrics.get()));
            default -> Answer.notFound();
        };
    }

    private Answer page(boolean refreshing) {
        long now = nanoTime.getAsLong();
        Made latest = made.get(refreshing);
        if (latest == null || now - latest.nanos() >= MADE_AT_MOST_EVERY.toNanos()) {
            latest = new Made(now, page.html().apply(refreshing));
            made.put(refreshing, latest);
        }
        return new Answer(
                200,
                Answer.HTML,
                latest.html(),
                Map.of(
                        "Content-Security-Policy", page.policy(),
                        "Cross-Origin-Resource-Policy", "same-origin",
                        "Referrer-Policy", "no-referrer",
                        "X-Content-Type-Options", "nosniff"));
    }
}
