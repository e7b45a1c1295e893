package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.Offer;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks the agent of this machine over HTTP, never through a proxy. */
final class AgentReader {
    /** For connecting, and for each part of an answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final Duration PATIENCE_IN_ALL = Duration.ofSeconds(5);

    private static final int MAX_BYTES = 4 << 20;

    private static final int MAX_PLANS = 200;
    private static final Pattern PLAN = Pattern.compile("(info|planned|pending|warning|problem) (.+)");

    private static final int MAX_DEVICES = 1_000;
    private static final Pattern BUDGET =
            Pattern.compile("erdma_queue_pair_budget\\{device=\"([^\"\\\\]{1,63})\"} ([0-9]{1,8}(?:[.]0)?)");

    private static final Pattern ADDRESS = Pattern.compile("(|[A-Za-z0-9.-]+|\\[[0-9a-fA-F:.]+])(:[0-9]{1,5})");

    private final Optional<String> base;
    private final Duration patience;

    /**
     * @param address as the agent's setting probe-address: HOST:PORT, :PORT or nothing
     * @throws IllegalArgumentException for anything else
     */
    AgentReader(String address) {
        this(address, PATIENCE_IN_ALL);
    }

    /** @param patience for a whole answer */
    AgentReader(String address, Duration patience) {
        this.base = base(address);
        this.patience = requireNonNull(patience, "patience is null");
    }

    private static Optional<String> base(String address) {
        if (address.isBlank()) {
            return Optional.empty();
        }
        Matcher matcher = ADDRESS.matcher(address.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + address + "' is not HOST:PORT or :PORT");
        }
        String host = matcher.group(1);
        boolean everywhere = host.isEmpty() || host.equals("0.0.0.0") || host.equals("[::]");
        return Optional.of("http://" + (everywhere ? "127.0.0.1" : host) + matcher.group(2));
    }

    /** @param text what stood in the body, however much of it came in time */
    record Page(int status, String text) {}

    AgentAnswer readiness() {
        if (base.isEmpty()) {
            return new AgentAnswer.NotAsked("the agent's probe address is empty, so it can't be asked");
        }
        String url = base.get() + "/readyz";
        try {
            Page page = page("/readyz");
            return new AgentAnswer.Answered(
                    url, page.status(), page.text().lines().limit(50).toList());
        } catch (IOException e) {
            return new AgentAnswer.Silent(url, e.getMessage() == null ? e.toString() : e.getMessage());
        }
    }

    /** By the agent's own metrics. */
    Fact<Offer> offer() {
        try {
            Page page = page("/metrics");
            return offerIn(page.text())
                    .map(Fact::known)
                    .orElseGet(() -> Fact.unknown("the agent's metrics do not tell what it offers"));
        } catch (IOException e) {
            return Fact.unknown("the agent's metrics can't be read: " + e.getMessage());
        }
    }

    /** What it is about to do, waits for or can't do. */
    Fact<List<Plan>> plans() {
        try {
            Page page = page("/plans");
            return switch (page.status()) {
                case HttpURLConnection.HTTP_OK -> Fact.known(plansIn(page.text()));
                case HttpURLConnection.HTTP_NOT_FOUND ->
                    Fact.unknown("this agent is older than the doctor, and does not tell its plans");
                default -> Fact.unknown("asked for its plans, the agent answered " + page.status());
            };
        } catch (IOException e) {
            return Fact.unknown("the agent's plans can't be read: " + e.getMessage());
        }
    }

    /** A line of a newer agent that begins with another word is none of those that the doctor judges. */
    static List<Plan> plansIn(String text) {
        return text.lines()
                .limit(MAX_PLANS)
                .map(PLAN::matcher)
                .filter(Matcher::matches)
                .map(line -> new Plan(PlanState.valueOf(line.group(1).toUpperCase(Locale.ROOT)), line.group(2)))
                .toList();
    }

    /** Shares are counted together, healthy or not; each device has as many. */
    static Optional<Offer> offerIn(String metrics) {
        OptionalInt shares = metric(metrics, "erdma_shares");
        OptionalInt healthy = metric(metrics, "erdma_devices{health=\"healthy\"}");
        OptionalInt unhealthy = metric(metrics, "erdma_devices{health=\"unhealthy\"}");
        if (shares.isEmpty() || healthy.isEmpty() || unhealthy.isEmpty()) {
            return Optional.empty();
        }
        int devices = healthy.getAsInt() + unhealthy.getAsInt();
        return Optional.of(new Offer(devices == 0 ? 0 : shares.getAsInt() / devices * healthy.getAsInt()));
    }

    /** How many queue pairs each device may have, where the agent knows; by its own metrics. */
    Fact<Map<String, Integer>> queuePairBudgets() {
        try {
            return Fact.known(budgetsIn(page("/metrics").text()));
        } catch (IOException e) {
            return Fact.unknown("the agent's metrics can't be read: " + e.getMessage());
        }
    }

    static Map<String, Integer> budgetsIn(String metrics) {
        Map<String, Integer> budgets = new TreeMap<>();
        metrics.lines()
                .map(BUDGET::matcher)
                .filter(Matcher::matches)
                .limit(MAX_DEVICES)
                .forEach(line -> budgets.put(line.group(1), (int) Double.parseDouble(line.group(2))));
        return budgets;
    }

    private static OptionalInt metric(String metrics, String name) {
        return metrics.lines()
                .filter(line -> line.startsWith(name + " "))
                .map(line -> line.substring(name.length()).strip())
                .filter(value -> value.matches("[0-9]{1,8}([.]0)?"))
                .mapToInt(value -> (int) Double.parseDouble(value))
                .findFirst();
    }

    /** @throws IOException when nobody answers, or not in time */
    Page page(String path) throws IOException {
        if (base.isEmpty()) {
            throw new IOException("the agent's probe address is empty");
        }
        // The connection's own time-out is for each read, so an answer that comes byte by byte would take for ever.
        Attempt attempt = Patience.within(patience, "agent", () -> attempt(path))
                .orElseThrow(() -> new IOException("did not answer within " + patience.toMillis() + " ms"));
        return switch (attempt) {
            case Attempt.Answered(Page page) -> page;
            case Attempt.Failed(IOException cause) -> throw cause;
        };
    }

    private sealed interface Attempt {
        record Answered(Page page) implements Attempt {}

        record Failed(IOException cause) implements Attempt {}
    }

    private Attempt attempt(String path) {
        try {
            return new Attempt.Answered(get(URI.create(base.orElseThrow() + path)));
        } catch (IOException e) {
            return new Attempt.Failed(e);
        }
    }

    private static Page get(URI uri) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
        connection.setConnectTimeout((int) PATIENCE.toMillis());
        connection.setReadTimeout((int) PATIENCE.toMillis());
        connection.setInstanceFollowRedirects(false);
        try {
            int status = connection.getResponseCode();
            try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                String text = body == null ? "" : new String(body.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
                return new Page(status, text);
            }
        } finally {
            connection.disconnect();
        }
    }
}
