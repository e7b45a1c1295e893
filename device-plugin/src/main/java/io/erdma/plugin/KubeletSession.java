package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import io.grpc.BindableService;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Keeps the plugin registered with the kubelet of the node, across everything that can end a registration: a kubelet that
 * restarts, a removed socket, a lost ListAndWatch stream, another agent. It serves before it registers, and an open stream
 * is its only proof of success.
 *
 * <p>All state belongs to the thread {@code erdma-kubelet}, which looks at the directory, the call under way and the
 * streams, does the one thing that is due, and waits. Others only wake it. DESIGN.md tells why each step is as it is.
 */
public final class KubeletSession implements AutoCloseable {
    static final String THREAD = "erdma-kubelet";

    private static final Log LOG = Log.of(KubeletSession.class);
    private static final String VERSION = "v1beta1";

    /** When nothing is due; events come by themselves, this is for one that the kernel dropped. */
    private static final Duration LONG = Duration.ofSeconds(30);

    /** A stream that lasted as long is no sign of a kubelet that cancels every time. */
    private static final Duration GOOD_STREAM = Duration.ofSeconds(30);

    /** What the session is about; each knows what it waits for. */
    private sealed interface Phase {
        /** There is no kubelet. */
        record Idle() implements Phase {}

        /** Register at that time. */
        record Due(long atNanos) implements Phase {}

        record Calling(RegisterCall call) implements Phase {}

        /** Accepted; the kubelet is to open ListAndWatch by then. */
        record Awaiting(long untilNanos) implements Phase {}

        record Serving(long sinceNanos) implements Phase {}

        /** Another agent has taken over. */
        record StandingBy(Path rival, OptionalLong goneNanos) implements Phase {}
    }

    private final SessionSettings settings;
    private final UnixTransport transport;
    private final BindableService service;
    private final PluginObserver observer;
    private final SocketDirectory directory;
    private final WatchKeeper watch;
    private final BackOff backOff;
    private final Thread thread = Thread.ofPlatform().name(THREAD).daemon().unstarted(this::run);

    private volatile boolean closing;
    private volatile SessionStatus status = SessionStatus.STARTING;

    // Of the session's thread from here on.
    private Phase phase = new Phase.Idle();
    private Optional<SocketIdentity> kubelet = Optional.empty();
    private Optional<Endpoint> endpoint = Optional.empty();
    private Optional<String> problem = SessionStatus.STARTING.problem();
    /** By the clock of the file system, which the peers' sockets go by too. */
    private Instant registeredAt = Instant.EPOCH;

    /** Why the last registration was lost soon after it was made, while that goes on. */
    private Optional<String> lostAgain = Optional.empty();

    /** It has been lost more than once for that reason, and people know. */
    private boolean restless;

    private Set<Path> peers = Set.of();
    private OptionalLong peerGoneNanos = OptionalLong.empty();
    private OptionalLong awaySinceNanos = OptionalLong.empty();
    private boolean absenceWarned;
    private boolean rehearsed;
    private long registrations;
    private int failures;
    private String fault = "";

    public KubeletSession(
            SessionSettings settings,
            UnixTransport transport,
            BindableService service,
            PluginObserver observer,
            InotifyShortage shortage) {
        this(settings, transport, service, observer, InotifyWatch::open, shortage);
    }

    KubeletSession(
            SessionSettings settings,
            UnixTransport transport,
            BindableService service,
            PluginObserver observer,
            DirectoryWatch.Factory watches,
            InotifyShortage shortage) {
        this.settings = requireNonNull(settings, "settings is null");
        this.transport = requireNonNull(transport, "transport is null");
        this.service = requireNonNull(service, "service is null");
        this.observer = requireNonNull(observer, "observer is null");
        this.directory = new SocketDirectory(settings.kubeletRoot(), settings.resource());
        this.watch = new WatchKeeper(directory.path(), settings.poll(), watches, shortage);
        this.backOff = new BackOff(settings.firstBackOff(), settings.longestBackOff());
    }

    /** Returns at once; whether the kubelet is there, now or later, is the session's business. */
    public void start() {
        thread.start();
    }

    public SessionStatus status() {
        return status;
    }

    /** Ends the streams, removes the socket; the kubelet has no call to unregister. */
    @Override
    public void close() {
        closing = true;
        if (thread.getState() == Thread.State.NEW) {
            watch.close();
            return;
        }
        watch.wakeUp();
        try {
            if (!thread.join(settings.closeWithin())) {
                LOG.warn("the kubelet session did not end within "
                        + settings.closeWithin().toMillis()
                        + " ms; its socket may stay behind, and the next agent removes it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            removeStale();
            while (!closing) {
                Duration pause = guardedStep();
                publish();
                if (!pause.isZero()) {
                    watch.await(pause);
                }
            }
        } finally {
            cancelCall();
            endpoint.ifPresent(Endpoint::close);
            endpoint = Optional.empty();
            phase = new Phase.Idle();
            problem = Optional.of("the agent is stopping");
            publish();
            watch.close();
        }
    }

    private void removeStale() {
        try {
            directory.removeStale();
        } catch (IOException e) {
            LOG.warn("cannot look for left-over sockets in " + directory.path() + ": " + e
                    + ". Mount the directory read-write into the agent's container.");
        }
    }

    private Duration guardedStep() {
        try {
            return step();
        } catch (IOException e) {
            return unable("cannot look at " + directory.path() + ": " + e
                    + ". Mount it into the agent's container and run the agent as root.");
        } catch (RuntimeException e) {
            if (!fault.equals(e.toString())) {
                fault = e.toString();
                LOG.error("the kubelet session failed and starts again; please report this", e);
            }
            problem = Optional.of("the kubelet session failed and starts again: " + e);
            forget();
            return settings.longestBackOff();
        }
    }

    /** Looks, does what is due, and answers how long there is nothing to do. */
    private Duration step() throws IOException {
        Optional<SocketIdentity> found = directory.kubelet();
        if (found.isEmpty()) {
            return withoutKubelet();
        }
        if (!found.equals(kubelet)) {
            forget();
            present();
            kubelet = found;
            backOff.reset();
            lostAgain = Optional.empty();
            restless = false;
            problem = Optional.of("a kubelet has started; registering with it");
            phase = new Phase.Due(System.nanoTime());
        }
        return switch (phase) {
            case Phase.Idle() -> again(Duration.ZERO);
            case Phase.Due(long at) -> {
                long left = at - System.nanoTime();
                yield left > 0 ? Duration.ofNanos(left) : register();
            }
            case Phase.Calling(RegisterCall call) -> calling(call);
            case Phase.Awaiting(long until) -> awaiting(until);
            case Phase.Serving(long since) -> serving(since);
            case Phase.StandingBy(Path rival, OptionalLong gone) -> standingBy(rival, gone);
        };
    }

    private Duration withoutKubelet() throws IOException {
        if (phase instanceof Phase.Serving && openStreams() > 0 && ownSocketIsThere()) {
            // Only the file was removed: the kubelet still listens to us, and a new one will come with a new file.
            return LONG;
        }
        forget();
        if (directory.wasRemoved()) {
            return unable("the directory that is mounted as " + directory.path()
                    + " was removed on the host, so a new kubelet.sock cannot appear in it."
                    + " Restart the eRDMA agent's pod on this node, which mounts the present one.");
        }
        String what = directory.exists()
                ? "the kubelet has no socket " + directory.kubeletSocket()
                : "the kubelet's directory " + directory.path() + " is missing";
        return away(
                what + "; waiting for it",
                ". If the kubelet runs, its root directory is another one: give it as --kubelet-root-dir and mount it.");
    }

    /** A kubelet that restarts is away for a moment, so only a long absence is a warning. */
    private Duration away(String what, String remedy) {
        long now = System.nanoTime();
        if (awaySinceNanos.isEmpty()) {
            awaySinceNanos = OptionalLong.of(now);
            LOG.info(what);
        }
        problem = Optional.of(what + remedy);
        long left = settings.absence().toNanos() - (now - awaySinceNanos.getAsLong());
        if (!absenceWarned && left <= 0) {
            absenceWarned = true;
            LOG.warn(what + remedy);
        }
        return absenceWarned || left > settings.poll().toNanos() ? settings.poll() : Duration.ofNanos(left);
    }

    private void present() {
        awaySinceNanos = OptionalLong.empty();
        absenceWarned = false;
    }

    /** Nobody listens there, as after a kubelet that ended and left its socket behind: the next one replaces it. */
    private Duration unreachable(Status status) {
        failures++;
        String what =
                "the kubelet does not answer on " + directory.kubeletSocket() + ": " + RegisterCall.reason(status);
        observer.registrationFailed(what);
        away(what + "; trying again", ". Its log tells why it is away.");
        return again(backOff.next());
    }

    private Duration register() throws IOException {
        if (!ownSocketIsThere()) {
            endpoint.ifPresent(Endpoint::discard);
            endpoint = Optional.empty();
            Path socket = directory.freshSocket();
            try {
                if (!rehearsed) {
                    Rehearsal.play(transport, directory.rehearsalSocket(), settings.registerDeadline());
                    rehearsed = true;
                }
                endpoint = Optional.of(Endpoint.open(transport, socket, service, watch::wakeUp));
            } catch (IOException e) {
                return failed("cannot serve in " + directory.path() + ": "
                        + rootMessage(e).replace(socket.getFileName().toString(), "our socket")
                        + ". Mount it read-write into the agent's container, run the agent as root, and see that its"
                        + " file system has space and inodes left.");
            }
        }
        Endpoint own = endpoint.orElseThrow();
        peers = directory.livePeers(Optional.of(own.socket()));
        peerGoneNanos = OptionalLong.empty();
        RegisterRequest request = RegisterRequest.newBuilder()
                .setVersion(VERSION)
                .setEndpoint(own.socket().getFileName().toString())
                .setResourceName(settings.resource())
                .build();
        phase = new Phase.Calling(RegisterCall.begin(
                transport, directory.kubeletSocket(), request, settings.registerDeadline(), watch::wakeUp));
        return LONG;
    }

    private Duration calling(RegisterCall call) throws IOException {
        if (!ownSocketIsThere()) {
            call.cancel();
            return socketRemoved();
        }
        Optional<Status> result = call.result();
        if (result.isEmpty()) {
            return LONG;
        }
        if (result.get().getCode() == Status.Code.UNAVAILABLE && !everOpened()) {
            return unreachable(result.get());
        }
        present();
        // A kubelet that is slow to answer may have accepted us nevertheless.
        if (result.get().isOk() || everOpened()) {
            return accepted();
        }
        if (result.get().getCode() == Status.Code.DEADLINE_EXCEEDED) {
            // It may still accept us. Registered a second time, the same socket would lose the second registration with
            // the end of the first; so that one is to fail, and the next gets a socket of its own.
            endpoint.ifPresent(Endpoint::close);
            endpoint = Optional.empty();
        }
        return failed("the kubelet did not accept the registration of " + settings.resource() + ": "
                + RegisterCall.reason(result.get()) + ". The kubelet's log tells more; trying again.");
    }

    private Duration accepted() {
        registrations++;
        registeredAt = endpoint.orElseThrow().created();
        observer.registered(registrations > 1);
        if (!restless) {
            LOG.info(
                    "registered " + settings.resource() + " with the kubelet"
                            + (failures > 0 ? " after " + failures + " failed tries" : ""),
                    Log.Field.of("resource", settings.resource()),
                    Log.Field.of("socket", endpoint.orElseThrow().socket().getFileName()));
        }
        failures = 0;
        problem = Optional.of("registered, but the kubelet has not opened ListAndWatch yet");
        phase = new Phase.Awaiting(System.nanoTime() + settings.streamPatience().toNanos());
        return Duration.ZERO;
    }

    private Duration awaiting(long until) throws IOException {
        if (everOpened()) {
            problem = Optional.empty();
            phase = new Phase.Serving(System.nanoTime());
            return Duration.ZERO;
        }
        if (!ownSocketIsThere()) {
            return socketRemoved();
        }
        long left = until - System.nanoTime();
        if (left > 0) {
            return Duration.ofNanos(left);
        }
        return lost(
                "the kubelet accepted the registration but opened no ListAndWatch within "
                        + settings.streamPatience().toMillis() + " ms",
                false);
    }

    private Duration serving(long since) throws IOException {
        if (!ownSocketIsThere()) {
            return socketRemoved();
        }
        if (System.nanoTime() - since > GOOD_STREAM.toNanos()) {
            settled();
        }
        if (openStreams() == 0) {
            return lost("the kubelet ended ListAndWatch", true);
        }
        return watchPeers();
    }

    private void settled() {
        backOff.reset();
        lostAgain = Optional.empty();
        if (restless) {
            restless = false;
            LOG.info("the kubelet keeps listening to " + settings.resource() + " again");
        }
    }

    /**
     * When an agent goes that the kubelet also listened to, newer kubelets stop the resource's current endpoint, which is
     * ours, and do not tell us: the stream stays open.
     */
    private Duration watchPeers() throws IOException {
        Set<Path> live = directory.livePeers(endpoint.map(Endpoint::socket));
        long now = System.nanoTime();
        if (!live.containsAll(peers) && peerGoneNanos.isEmpty()) {
            // Longer than that agent needs to come back on a fresh socket, if it only registers again.
            peerGoneNanos =
                    OptionalLong.of(now + settings.settle().multipliedBy(5).toNanos());
        }
        peers = live;
        if (peerGoneNanos.isPresent()) {
            long left = peerGoneNanos.getAsLong() - now;
            if (left > 0) {
                return Duration.ofNanos(left);
            }
            peerGoneNanos = OptionalLong.empty();
            if (SocketDirectory.newerThan(registeredAt, live).isEmpty()) {
                LOG.info("another agent for " + settings.resource() + " has gone; registering again");
                endpoint.ifPresent(Endpoint::close);
                endpoint = Optional.empty();
                problem = Optional.of("another agent has gone; registering again");
                return again(settings.settle());
            }
        }
        return live.isEmpty() ? LONG : settings.poll();
    }

    private Duration lost(String what, boolean ordinary) throws IOException {
        endpoint.ifPresent(Endpoint::close);
        endpoint = Optional.empty();
        Optional<Path> rival = SocketDirectory.newerThan(registeredAt, directory.livePeers(Optional.empty()));
        if (rival.isPresent()) {
            phase = new Phase.StandingBy(rival.get(), OptionalLong.empty());
            problem = Optional.of("another agent serves " + settings.resource() + " on this node, on " + rival.get()
                    + "; standing by until it ends. Two of them are needed only during an update.");
            LOG.info(what + "; " + problem.get());
            return settings.poll();
        }
        Duration wait = longer(backOff.next(), settings.settle());
        problem = Optional.of(what + "; registering again");
        if (!lostAgain.equals(Optional.of(what))) {
            String line = what + "; registering again in " + wait.toMillis() + " ms";
            if (ordinary) {
                LOG.info(line);
            } else {
                LOG.warn(line);
            }
        } else if (!restless) {
            restless = true;
            LOG.warn(what + " once more; registering again and again, and silent about it until that ends");
        }
        lostAgain = Optional.of(what);
        return again(wait);
    }

    private Duration standingBy(Path rival, OptionalLong gone) throws IOException {
        Optional<Path> now = SocketDirectory.newerThan(registeredAt, directory.livePeers(Optional.empty()));
        if (now.isPresent()) {
            phase = new Phase.StandingBy(now.get(), OptionalLong.empty());
            return settings.poll();
        }
        if (gone.isEmpty()) {
            phase = new Phase.StandingBy(rival, OptionalLong.of(System.nanoTime()));
            return Duration.ZERO;
        }
        // It may only be changing its socket, since it has seen ours go.
        Duration left = settings.settle().multipliedBy(10).minusNanos(System.nanoTime() - gone.getAsLong());
        if (left.isPositive()) {
            return left;
        }
        LOG.info("the agent on " + rival.getFileName() + " has gone; registering again");
        return again(settings.settle());
    }

    private Duration socketRemoved() {
        LOG.warn("our socket was removed; serving on a fresh one and registering again");
        endpoint.ifPresent(Endpoint::close);
        endpoint = Optional.empty();
        problem = Optional.of("our socket was removed; registering again");
        return again(settings.settle());
    }

    private Duration again(Duration wait) {
        phase = new Phase.Due(System.nanoTime() + wait.toNanos());
        return wait;
    }

    private Duration failed(String what) {
        failures++;
        boolean news = failures == 1 || !problem.equals(Optional.of(what));
        problem = Optional.of(what);
        observer.registrationFailed(what);
        if (news) {
            LOG.warn(what, Log.Field.of("resource", settings.resource()));
        }
        return again(backOff.next());
    }

    /** Nothing can be done until something changes; said once for each reason. */
    private Duration unable(String why) {
        if (!problem.equals(Optional.of(why))) {
            problem = Optional.of(why);
            LOG.warn(why);
        }
        return settings.poll();
    }

    /** The kubelet that knew us is gone, and all that we had with it. */
    private void forget() {
        cancelCall();
        endpoint.ifPresent(Endpoint::discard);
        endpoint = Optional.empty();
        kubelet = Optional.empty();
        peers = Set.of();
        peerGoneNanos = OptionalLong.empty();
        phase = new Phase.Idle();
    }

    private void cancelCall() {
        if (phase instanceof Phase.Calling(RegisterCall call)) {
            call.cancel();
        }
    }

    private boolean ownSocketIsThere() throws IOException {
        return endpoint.isPresent() && endpoint.get().socketIsThere();
    }

    private int openStreams() {
        return endpoint.map(own -> own.streams().open()).orElse(0);
    }

    private boolean everOpened() {
        return endpoint.map(own -> own.streams().everOpened()).orElse(false);
    }

    private void publish() {
        boolean registered = phase instanceof Phase.Awaiting || phase instanceof Phase.Serving;
        status = new SessionStatus(registered, openStreams(), registrations, problem);
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }
}
