package io.erdma.node.http;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.Logging;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code /healthz}, {@code /readyz}, {@code /metrics}, {@code /plans} and {@code /loglevel}. */
public final class ProbePaths implements Paths {
    private static final Log LOG = Log.of(ProbePaths.class);

    private final Supplier<Verdict> health;
    private final Supplier<Verdict> readiness;
    private final Supplier<String> metrics;
    private final Supplier<String> plans;
    private final Logging logging;

    /**
     * @param metrics the text of a scrape
     * @param plans what the agent is about to do, one line each
     */
    public ProbePaths(
            Supplier<Verdict> health,
            Supplier<Verdict> readiness,
            Supplier<String> metrics,
            Supplier<String> plans,
            Logging logging) {
        this.health = requireNonNull(health, "health is null");
        this.readiness = requireNonNull(readiness, "readiness is null");
        this.metrics = requireNonNull(metrics, "metrics is null");
        this.plans = requireNonNull(plans, "plans is null");
        this.logging = requireNonNull(logging, "logging is null");
    }

    @Override
    public Answer answer(Request request) {
        return switch (request.path()) {
            case "/healthz" -> request.get(() -> verdict(health.get()));
            case "/readyz" -> request.get(() -> verdict(readiness.get()));
            case "/metrics" -> request.get(() -> Answer.text(200, metrics.get()));
            case "/plans" -> request.get(() -> Answer.text(200, plans.get()));
            case "/loglevel" -> logLevel(request);
            default -> Answer.notFound();
        };
    }

    private static Answer verdict(Verdict verdict) {
        return verdict.holds()
                ? Answer.text(200, "ok\n")
                : Answer.text(503, String.join("\n", verdict.failures()) + "\n");
    }

    /** Only PUT changes the level: a web page opened on the node could send a POST to it, but no PUT without asking. */
    private Answer logLevel(Request request) {
        if (request.reads()) {
            return Answer.text(200, logging.level().word() + "\n");
        }
        if (!request.method().equals(HttpMethod.PUT)) {
            return Answer.notAllowed("GET, HEAD, PUT");
        }
        if (!request.peer().isLoopbackAddress()) {
            return Answer.text(403, "the log level is changed from the node itself only\n");
        }
        String query = request.query();
        Optional<LogLevel> level =
                query.startsWith("level=") ? LogLevel.of(query.substring("level=".length())) : Optional.empty();
        if (level.isEmpty()) {
            return Answer.text(400, "use /loglevel?level=debug, info, warn or error\n");
        }
        LogLevel before = logging.level();
        logging.level(level.get());
        LOG.warn(
                "log level changed",
                Field.of("from", before.word()),
                Field.of("to", level.get().word()));
        return Answer.text(200, level.get().word() + "\n");
    }
}
