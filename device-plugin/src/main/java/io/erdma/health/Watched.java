package io.erdma.health;

import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodeSources.OpenDevice;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.netlink.Link;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.PortState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** One device under watch. Owned by the health thread, like all it holds; at most one job asks the device at a time. */
final class Watched {
    static final Duration FIRST_EAGER_RETRY = Duration.ofMillis(20);
    static final Duration FIRST_REOPEN = Duration.ofMillis(500);
    static final Duration SLOWEST_REOPEN = Duration.ofSeconds(60);

    private final String name;
    private final long since;

    private Found found;
    private boolean foundWithNetlink;
    private boolean uverbsPresent;
    private Optional<OpenDevice> context = Optional.empty();
    private boolean closing;

    private OptionalLong busySince = OptionalLong.empty();
    private boolean askAgain;
    private long nextAsk;
    private long pausedUntil;
    private Duration eagerRetry = Duration.ZERO;

    private Optional<DeviceProbe.NotOpened> notOpened = Optional.empty();
    private Duration reopenDelay = FIRST_REOPEN;
    private long openAgain;

    private Optional<ProbeResult> answer = Optional.empty();
    private OptionalLong answeredAt = OptionalLong.empty();
    private Optional<ProbeResult.Unanswered> silence = Optional.empty();
    private Optional<Suspicion> suspicion = Optional.empty();
    private Optional<DeviceHealth> health = Optional.empty();
    private boolean offered;
    private boolean toBeFound;

    /**
     * Something bad that the kernel told.
     *
     * @param fatal whether only a newly opened context can disprove it
     */
    private record Suspicion(String reason, long at, boolean fatal) {}

    Watched(Found found, boolean withNetlink, long now) {
        this.name = found.device().name();
        this.since = now;
        this.found = found;
        this.foundWithNetlink = withNetlink;
        this.uverbsPresent = found.uverbsPresent();
        this.nextAsk = now;
        this.pausedUntil = now;
        this.openAgain = now;
    }

    /**
     * The same device from now on, of which nothing is known but that it was there: it is asked only once a scan has
     * found it again. What its predecessor holds stays that one's.
     */
    Watched anew(long now) {
        Watched successor = new Watched(found, false, now);
        successor.toBeFound = true;
        successor.health = health;
        successor.offered = true;
        // A driver that was loaded just now needs a moment for its ports, and may have told of them already.
        successor.eagerRetry = FIRST_EAGER_RETRY;
        return successor;
    }

    String name() {
        return name;
    }

    RdmaDevice device() {
        return found.device();
    }

    /**
     * A scan without RDMA netlink knows less than one with it, so it doesn't replace that one's findings.
     *
     * @return whether this is another device under the same name, so that the open context is of no use
     */
    boolean update(Found newer, boolean withNetlink) {
        if (foundWithNetlink && !withNetlink) {
            return false;
        }
        boolean unknown = toBeFound;
        toBeFound = false;
        foundWithNetlink = withNetlink;
        RdmaDevice former = found.device();
        RdmaDevice latter = newer.device();
        boolean other = (latter.nodeGuid().value() != 0 && !former.nodeGuid().equals(latter.nodeGuid()))
                || (former.uverbs().isPresent()
                        && latter.uverbs().isPresent()
                        && !former.uverbs().equals(latter.uverbs()));
        // libibverbs may list now what it left out before.
        if (other || (newer.inVerbs() && !found.inVerbs())) {
            openNow();
        }
        found = newer;
        uverbsPresent = newer.uverbsPresent();
        return other && !unknown;
    }

    boolean uverbsPresent() {
        return uverbsPresent;
    }

    /** @return whether that is news */
    boolean uverbsPresent(boolean present) {
        boolean changed = present != uverbsPresent;
        uverbsPresent = present;
        return changed;
    }

    Optional<OpenDevice> context() {
        return context;
    }

    /** The context leaves the poll set at once; the next job closes it. */
    void closeContext() {
        closing = context.isPresent();
    }

    boolean closing() {
        return closing;
    }

    /** Contexts whose events may be read: open, and not handed to a closing job. */
    Optional<OpenDevice> events() {
        return closing ? Optional.empty() : context;
    }

    boolean busy() {
        return busySince.isPresent();
    }

    void begin(long now, Duration probe) {
        busySince = OptionalLong.of(now);
        askAgain = false;
        nextAsk = now + probe.toNanos();
    }

    /** The job died of a fault of ours; the next one tries again, and not at once, whatever is waiting for it. */
    void jobDied(long now, Duration pause) {
        busySince = OptionalLong.empty();
        pausedUntil = now + pause.toNanos();
    }

    void closed() {
        busySince = OptionalLong.empty();
        context = Optional.empty();
        closing = false;
    }

    void askSoon(long now) {
        if (busy()) {
            askAgain = true;
        } else {
            nextAsk = now;
        }
    }

    /** Asks again after a little while, and a longer one, until the port is what the event promised. */
    void askEagerly(long now) {
        eagerRetry = FIRST_EAGER_RETRY;
        askSoon(now);
    }

    /** No scan has found it since its checks began anew. */
    boolean toBeFound() {
        return toBeFound;
    }

    boolean dueToAsk(long now) {
        return !busy() && !toBeFound && now - pausedUntil >= 0 && (closing || askAgain || now - nextAsk() >= 0);
    }

    long nextAsk() {
        boolean toBeReopened =
                context.isEmpty() && suspicion.filter(Suspicion::fatal).isPresent();
        long due = toBeReopened && openAgain - nextAsk < 0 ? openAgain : nextAsk;
        return due - pausedUntil < 0 ? pausedUntil : due;
    }

    /** Why the device shall not be opened by the next job. */
    Optional<DeviceProbe.NotOpened> notOpened(long now) {
        return notOpened.filter(why -> now - openAgain < 0);
    }

    private void openNow() {
        openAgain = since;
        reopenDelay = FIRST_REOPEN;
        notOpened = Optional.empty();
    }

    void suspect(String reason, long now, boolean fatal) {
        // Who has no context can't get a newer one.
        boolean reopen = fatal && context.isPresent();
        if (suspicion.filter(Suspicion::fatal).isPresent() && !reopen) {
            return;
        }
        suspicion = Optional.of(new Suspicion(reason, now, reopen));
        if (reopen) {
            closeContext();
            delayOpening(now, new DeviceProbe.NotOpened(reason, true));
        }
    }

    /** Why there are no verbs events of it, where that is no fault of the device: another source tells its state. */
    Optional<String> withoutVerbs() {
        return notOpened.filter(why -> !why.sick()).map(DeviceProbe.NotOpened::reason);
    }

    private void delayOpening(long now, DeviceProbe.NotOpened reason) {
        notOpened = Optional.of(reason);
        openAgain = now + reopenDelay.toNanos();
        reopenDelay = reopenDelay.multipliedBy(2).compareTo(SLOWEST_REOPEN) < 0
                ? reopenDelay.multipliedBy(2)
                : SLOWEST_REOPEN;
    }

    /**
     * @param startedAt when the job that got the outcome began
     */
    void answered(DeviceProbe.Outcome outcome, long startedAt, long now, HealthSettings settings) {
        busySince = OptionalLong.empty();
        context = outcome.context();
        closing &= context.isPresent();
        if (context.isEmpty() && notOpened(startedAt).isEmpty()) {
            delayOpening(now, whyNotOpened(outcome.result()));
        }
        switch (outcome.result()) {
            case ProbeResult.Unanswered unanswered -> {
                silence = Optional.of(unanswered);
                return;
            }
            case ProbeResult.Answered answered -> {
                answer = Optional.of(answered);
                if (answered.source() == Source.VERBS && !closing) {
                    reopenDelay = FIRST_REOPEN;
                    notOpened = Optional.empty();
                }
                suspicion = suspicion.filter(event -> !superseded(event, answered, startedAt, settings.grace()));
                if (answered.state() == PortState.ACTIVE) {
                    eagerRetry = Duration.ZERO;
                } else if (eagerRetry.isPositive()) {
                    nextAsk = now + eagerRetry.toNanos();
                    eagerRetry = eagerRetry.multipliedBy(2);
                    if (eagerRetry.compareTo(settings.probe()) > 0) {
                        eagerRetry = Duration.ZERO;
                    }
                }
            }
            case ProbeResult.Failed failed -> {
                answer = Optional.of(failed);
                suspicion = suspicion.filter(event -> event.fatal() || startedAt - event.at() < 0);
                if (failed.gone()) {
                    suspect(failed.reason(), now, true);
                }
            }
        }
        answeredAt = OptionalLong.of(now);
        silence = Optional.empty();
    }

    private static DeviceProbe.NotOpened whyNotOpened(ProbeResult result) {
        return switch (result) {
            case ProbeResult.Failed failed -> new DeviceProbe.NotOpened(failed.reason(), true);
            case ProbeResult.Answered answered -> new DeviceProbe.NotOpened(firstReason(answered), false);
            case ProbeResult.Unanswered unanswered -> new DeviceProbe.NotOpened(firstReason(unanswered), false);
        };
    }

    private static String firstReason(ProbeResult result) {
        return result.unused().stream()
                .flatMap(status -> status.problem().stream())
                .findFirst()
                .orElse("could not be opened");
    }

    /**
     * What was asked after the event tells more than the event; a dead context only another context can disprove. Where
     * we may not open another (any more), the other sources are believed, but only when the driver has had the grace to
     * notice what it had reported itself: a port may be called ACTIVE for a while although the device is dead.
     */
    private boolean superseded(Suspicion event, ProbeResult.Answered answered, long startedAt, Duration grace) {
        long later = startedAt - event.at();
        if (!event.fatal() || answered.source() == Source.VERBS) {
            return later >= 0;
        }
        boolean refusedToUs = notOpened.filter(why -> !why.sick()).isPresent();
        return refusedToUs && uverbsPresent && later >= grace.toNanos();
    }

    void judge(HealthRules.LinkView link, Node node, long now) {
        long last = answeredAt.orElse(since);
        HealthRules.Observation seen = new HealthRules.Observation(
                device(),
                uverbsPresent,
                node.rdmaCmPresent(),
                node.netnsMode(),
                link,
                answer,
                Duration.ofNanos(Math.max(0, now - last)),
                silence.map(HealthRules::describe),
                suspicion.map(Suspicion::reason));
        Optional<String> reason = node.suspended()
                .or(() -> HealthRules.whyUnhealthy(seen, node.settings().grace()));
        DeviceHealth newer = HealthRules.outcome(reason, health, node.wallClock());
        health = Optional.of(newer);
        boolean settled = newer.isHealthy() || (answer.isPresent() && uverbsPresent);
        offered |= settled || now - since >= node.settings().firstAnswer().toNanos();
    }

    /** What all devices of the node share. */
    record Node(
            HealthSettings settings,
            boolean rdmaCmPresent,
            NetnsMode netnsMode,
            Optional<String> suspended,
            Instant wallClock) {}

    Optional<DeviceHealth> health() {
        return health;
    }

    /** Held back at first, so that a device that is just being made isn't told as unhealthy and healthy again. */
    boolean offered() {
        return offered;
    }

    /** When time alone changes the outcome: it is offered without an answer, or its last answer is too old. */
    long nextJudgement(HealthSettings settings) {
        return offered
                ? answeredAt.orElse(since) + settings.grace().toNanos() + 1
                : since + settings.firstAnswer().toNanos();
    }

    boolean boundTo(Link link) {
        return device().netdev().map(netdev -> netdev.index() == link.index()).orElse(false);
    }

    MonitorStatus.DeviceStatus status() {
        Optional<ProbeResult> latest = silence.isPresent() ? silence.map(ProbeResult.class::cast) : answer;
        Optional<ProbeResult.Answered> state =
                latest.filter(ProbeResult.Answered.class::isInstance).map(ProbeResult.Answered.class::cast);
        return new MonitorStatus.DeviceStatus(
                device(),
                health.orElseThrow(),
                state.map(ProbeResult.Answered::state),
                latest.flatMap(ProbeResult::toldBy),
                latest.map(ProbeResult::unused).orElse(List.of()));
    }
}
