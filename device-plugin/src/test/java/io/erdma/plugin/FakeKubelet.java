package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.AllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationResponse;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import io.erdma.proto.deviceplugin.v1beta1.RegistrationGrpc;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The kubelet's device manager, as strict as the real one, on a real unix socket: it dials back inside Register,
 * wants the options and the first list before it answers, keeps the devices with replace semantics, and empties its directory when it starts. It can
 * misbehave on demand. Everything that reaches it is kept with its arrival time ({@link System#nanoTime}, which on Linux
 * is the machine's monotonic clock, so it compares with other processes' readings).
 *
 * <p>One at a time in a directory. Its methods may be called from any thread.
 */
public final class FakeKubelet implements AutoCloseable {
    /** What a start removes from the directory. */
    public enum Wipe {
        /** Recent kubelets. */
        SOCKETS,
        /** Old kubelets: every file but the checkpoint. */
        ALL_BUT_CHECKPOINT,
        /** No kubelet does; the new kubelet.sock is then the only sign of a restart. */
        NOTHING
    }

    /** What becomes of the endpoint that a newer registration of the same resource replaces. */
    public enum OldEndpoint {
        /** Kubelets up to 1.24: its connection is closed. */
        CLOSED,
        /** Since 1.25: its stream stays, and its end closes the connection to the newer endpoint. */
        KEPT_AND_ITS_END_CLOSES_THE_NEW,
        /** Newest: its stream stays, and its end stops the newer endpoint, whose stream stays open. */
        KEPT_AND_ITS_END_STOPS_THE_NEW
    }

    /** One Register call that was accepted. */
    public record Registration(
            RegisterRequest request, DevicePluginOptions options, long arrivedNanos, long acceptedNanos) {}

    /** One ListAndWatch message. */
    public record Message(String resource, String endpoint, ListAndWatchResponse list, long arrivedNanos) {
        public long count(String health) {
            return list.getDevicesList().stream()
                    .filter(device -> device.getHealth().equals(health))
                    .count();
        }
    }

    public static final String CHECKPOINT = "kubelet_internal_checkpoint";
    public static final String RESOURCE = "aliyun/erdma";

    private static final String VERSION = "v1beta1";
    private static final Pattern RESOURCE_NAME =
            Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final int GRPC_GO_LIMIT = 4 << 20;
    private static final Duration END_WITHIN = Duration.ofSeconds(5);

    /** Each Register call has one of its own. */
    static final String THREAD = "fake-kubelet";

    private final Path directory;
    private final UnixTransport transport = UnixTransport.open();
    private final List<Registration> registrations = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private final Set<String> authorities = new LinkedHashSet<>();
    private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();
    private final List<Endpoint> connected = new ArrayList<>();
    private final Set<Thread> registering = new LinkedHashSet<>();
    private boolean running;
    private final Map<String, Map<String, Device>> devices = new LinkedHashMap<>();
    private Consumer<String> log = line -> {};
    private Optional<Server> server = Optional.empty();
    private long listeningSinceNanos;
    private int registerCalls;
    private final List<RegisterRequest> requests = new ArrayList<>();
    private int streamsEnded;

    private OldEndpoint oldEndpoint = OldEndpoint.CLOSED;
    private Duration dialDeadline = Duration.ofSeconds(1);
    private boolean hanging;
    private int refusing;
    private Duration slowness = Duration.ZERO;
    private boolean cancelling;
    private boolean openingNoStream;
    private boolean awaitingFirstList = true;

    private FakeKubelet(Path root) throws IOException {
        this.directory = root.resolve("device-plugins");
        Files.createDirectories(directory);
    }

    /** A kubelet that listens. */
    public static FakeKubelet start(Path root) throws IOException {
        FakeKubelet kubelet = prepare(root);
        kubelet.listen(Wipe.SOCKETS);
        return kubelet;
    }

    /** A kubelet that has its directory and is not running yet. */
    public static FakeKubelet prepare(Path root) throws IOException {
        FakeKubelet kubelet = new FakeKubelet(root);
        kubelet.loadClient();
        return kubelet;
    }

    /** The deadline of the dial-back is the plugin's to meet; loading our own classes must not take from it. */
    private void loadClient() {
        ManagedChannel channel = transport.connect(directory.resolve("nobody.sock"), GRPC_GO_LIMIT);
        try {
            DevicePluginOptions options =
                    DevicePluginGrpc.newBlockingStub(channel).getDevicePluginOptions(Empty.getDefaultInstance());
            throw new IllegalStateException("a socket that nobody made answered: " + options);
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
                throw e;
            }
        } finally {
            channel.shutdownNow();
        }
    }

    // ---- its life

    /** What a kubelet does at its start: empty the directory, then listen. The devices of the resources it knew are gone. */
    public void listen(Wipe wipe) throws IOException {
        Files.createDirectories(directory);
        wipe(wipe);
        Files.deleteIfExists(kubeletSocket());
        synchronized (this) {
            devices.replaceAll((resource, known) -> new LinkedHashMap<>());
            listeningSinceNanos = System.nanoTime();
            running = true;
        }
        server = Optional.of(transport.serve(kubeletSocket(), registrationService()));
        Files.writeString(directory.resolve(CHECKPOINT), "{}");
        say("listening on " + kubeletSocket());
    }

    /** What newer kubelets do when their registration server fails: a new kubelet.sock, and all streams stay. */
    public void listenAnew() throws IOException {
        endServer();
        Files.deleteIfExists(kubeletSocket());
        synchronized (this) {
            listeningSinceNanos = System.nanoTime();
        }
        server = Optional.of(transport.serve(kubeletSocket(), registrationService()));
        say("listening anew on " + kubeletSocket());
    }

    /** A clean end: streams and connections are closed and kubelet.sock is removed. */
    public void stop() throws IOException {
        end();
        Files.deleteIfExists(kubeletSocket());
    }

    /** The end of a kubelet that was killed: kubelet.sock stays behind. */
    public void kill() throws IOException {
        Path aside = directory.resolve("kubelet.killed");
        Files.createLink(aside, kubeletSocket());
        end();
        // Netty removed the name that it had bound.
        Files.move(aside, kubeletSocket());
    }

    /** Once this returns, nothing of its former life happens any more: whatever it began has ended. */
    private void end() {
        List<Endpoint> open;
        List<Thread> waiting;
        synchronized (this) {
            running = false;
            open = List.copyOf(connected);
            connected.clear();
            endpoints.clear();
            waiting = List.copyOf(registering);
            notifyAll();
        }
        // The connections first, since whoever dials back waits for them.
        open.forEach(Endpoint::disconnect);
        open.forEach(endpoint -> awaitEnd("the connection to " + endpoint.name, endpoint.channel::awaitTermination));
        waiting.forEach(thread ->
                awaitEnd("a Register call", (time, unit) -> thread.join(Duration.of(time, unit.toChronoUnit()))));
        endServer();
        say("stopped");
    }

    private void endServer() {
        server.ifPresent(listening -> {
            listening.shutdownNow();
            awaitEnd("the registration server", listening::awaitTermination);
        });
        server = Optional.empty();
    }

    /** Stops, is away for that time, and starts anew. */
    public void restart(Wipe wipe, Duration away) throws IOException {
        stop();
        // How long the kubelet is away is part of the scenario.
        CompletableFuture.runAsync(
                        () -> say("starting again"),
                        CompletableFuture.delayedExecutor(away.toNanos(), TimeUnit.NANOSECONDS))
                .join();
        listen(wipe);
    }

    @Override
    public void close() throws IOException {
        stop();
        transport.close();
    }

    // ---- how it misbehaves

    public synchronized void oldEndpoint(OldEndpoint behaviour) {
        this.oldEndpoint = requireNonNull(behaviour, "behaviour is null");
    }

    /** For both calls of the dial-back together; the real one allows ten seconds. */
    public synchronized void dialDeadline(Duration deadline) {
        this.dialDeadline = deadline;
    }

    /** Register is never answered. */
    public synchronized void hangInRegister(boolean hang) {
        this.hanging = hang;
    }

    /** That many Register calls from now on are refused. */
    public synchronized void refuse(int times) {
        this.refusing = times;
    }

    /** Register takes that much longer. */
    public synchronized void slow(Duration by) {
        this.slowness = by;
    }

    /** Each ListAndWatch stream is cancelled as soon as it has brought its first list. */
    public synchronized void cancelEachStream(boolean cancel) {
        this.cancelling = cancel;
    }

    /** Register succeeds and no stream follows. */
    public synchronized void openNoStream(boolean none) {
        this.openingNoStream = none;
    }

    /** Whether Register is answered only after the first list has come; true unless told otherwise. */
    public synchronized void awaitFirstList(boolean await) {
        this.awaitingFirstList = await;
    }

    /** Cancels the ListAndWatch call of the resource and nothing else. */
    public void cancelStream(String resource) {
        current(resource).cancelStream();
    }

    /** Closes the connection to the resource's plugin. */
    public void dropConnection(String resource) {
        current(resource).disconnect();
    }

    /** Removes the socket file of the resource's plugin. */
    public void removePluginSocket(String resource) throws IOException {
        Files.delete(directory.resolve(current(resource).name));
    }

    // ---- what it does with devices

    /** One container's allocation: one request, of which the first answer counts. */
    public ContainerAllocateResponse allocate(String... ids) {
        return allocate(RESOURCE, List.of(ids));
    }

    public ContainerAllocateResponse allocate(String resource, List<String> ids) {
        AllocateResponse answer = running(resource)
                .blocking()
                .allocate(AllocateRequest.newBuilder()
                        .addContainerRequests(
                                ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                        .build());
        if (answer.getContainerResponsesCount() == 0) {
            throw new IllegalStateException("the plugin answered Allocate for " + ids + " with no container response");
        }
        return answer.getContainerResponses(0);
    }

    public List<String> preferredAllocation(
            String resource, List<String> available, List<String> mustInclude, int size) {
        PreferredAllocationResponse answer = running(resource)
                .blocking()
                .getPreferredAllocation(PreferredAllocationRequest.newBuilder()
                        .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                .addAllAvailableDeviceIDs(available)
                                .addAllMustIncludeDeviceIDs(mustInclude)
                                .setAllocationSize(size))
                        .build());
        if (answer.getContainerResponsesCount() == 0) {
            return List.of();
        }
        return List.copyOf(answer.getContainerResponses(0).getDeviceIDsList());
    }

    public void preStart(String... ids) {
        running(RESOURCE)
                .blocking()
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .preStartContainer(PreStartContainerRequest.newBuilder()
                        .addAllDevicesIds(List.of(ids))
                        .build());
    }

    // ---- what it knows

    public Path kubeletSocket() {
        return directory.resolve("kubelet.sock");
    }

    public Path directory() {
        return directory;
    }

    /** When the present kubelet.sock was made. */
    public synchronized long listeningSinceNanos() {
        return listeningSinceNanos;
    }

    public synchronized List<Registration> registrations() {
        return List.copyOf(registrations);
    }

    /** What arrived, whatever became of it. */
    public synchronized List<RegisterRequest> registerRequests() {
        return List.copyOf(requests);
    }

    /** Register calls that arrived, whatever became of them. */
    public synchronized int registerCalls() {
        return registerCalls;
    }

    public synchronized List<String> refusals() {
        return List.copyOf(refusals);
    }

    /** The different {@code :authority} headers that calls to the registration service carried. */
    public synchronized Set<String> authorities() {
        return Set.copyOf(authorities);
    }

    /** Forgets the calls and messages of the past, for those who restart it so often that they would fill the memory. */
    public synchronized void forget() {
        registrations.clear();
        messages.clear();
        refusals.clear();
    }

    public synchronized List<Message> messages() {
        return List.copyOf(messages);
    }

    public synchronized int streamsEnded() {
        return streamsEnded;
    }

    /** Name of the socket file that a resource's allocations go to now. */
    public synchronized Optional<String> endpointOf(String resource) {
        return Optional.ofNullable(endpoints.get(resource)).map(endpoint -> endpoint.name);
    }

    /** Healthy devices of a resource whose endpoint is not stopped. */
    public synchronized long allocatable(String resource) {
        Endpoint endpoint = endpoints.get(resource);
        if (endpoint == null || endpoint.stopped) {
            return 0;
        }
        return devices.getOrDefault(resource, Map.of()).values().stream()
                .filter(device -> device.getHealth().equals("Healthy"))
                .count();
    }

    public synchronized long capacity(String resource) {
        return devices.getOrDefault(resource, Map.of()).size();
    }

    public Registration awaitRegistration(int number, Duration atMost) {
        return await(
                "registration " + number,
                atMost,
                () -> registrations.size() >= number,
                () -> registrations.get(number - 1));
    }

    /** The first message from the given position on that fits. */
    public Message awaitMessage(int from, Predicate<Message> fits, Duration atMost) {
        return await(
                "a fitting message from number " + from,
                atMost,
                () -> firstFrom(from, fits).isPresent(),
                () -> firstFrom(from, fits).orElseThrow());
    }

    public void awaitAllocatable(String resource, long count, Duration atMost) {
        await(count + " allocatable " + resource, atMost, () -> allocatable(resource) == count, () -> count);
    }

    /** Told a line about each thing that happens, from whichever thread it happens on. */
    public synchronized void log(Consumer<String> lines) {
        this.log = lines;
    }

    private Optional<Message> firstFrom(int from, Predicate<Message> fits) {
        return messages.stream().skip(from).filter(fits).findFirst();
    }

    private synchronized <T> T await(String what, Duration atMost, BooleanSupplier there, Supplier<T> answer) {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            while (!there.getAsBoolean()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new AssertionError("no " + what + " within " + atMost.toMillis() + " ms; Register calls: "
                            + registerCalls + ", accepted: " + registrations.size() + ", refused: " + refusals
                            + ", messages: " + messages.size());
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + what, e);
        }
        return answer.get();
    }

    private synchronized Endpoint current(String resource) {
        Endpoint endpoint = endpoints.get(resource);
        if (endpoint == null) {
            throw new IllegalStateException("no plugin is registered for " + resource);
        }
        return endpoint;
    }

    private synchronized Endpoint running(String resource) {
        Endpoint endpoint = current(resource);
        if (endpoint.stopped) {
            throw new IllegalStateException("the endpoint " + endpoint.name + " of " + resource + " is stopped");
        }
        return endpoint;
    }

    private void say(String line) {
        Consumer<String> to;
        synchronized (this) {
            to = log;
        }
        to.accept(line);
    }

    private void wipe(Wipe wipe) throws IOException {
        if (wipe == Wipe.NOTHING) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                boolean goes = switch (wipe) {
                    case SOCKETS -> isSocket(entry);
                    case ALL_BUT_CHECKPOINT -> !entry.endsWith(CHECKPOINT) && !Files.isDirectory(entry);
                    case NOTHING -> false;
                };
                if (goes) {
                    Files.deleteIfExists(entry);
                }
            }
        }
    }

    private static boolean isSocket(Path file) throws IOException {
        try {
            int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return (mode & 0170000) == 0140000;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private interface Ending {
        boolean within(long time, TimeUnit unit) throws InterruptedException;
    }

    private static void awaitEnd(String what, Ending ending) {
        try {
            if (!ending.within(END_WITHIN.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException(what + " did not end within " + END_WITHIN.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {
        @Override
        public void register(RegisterRequest request, StreamObserver<Empty> answer) {
            long arrived = System.nanoTime();
            // Who calls may give up; the kubelet goes on with the registration all the same.
            ((ServerCallStreamObserver<Empty>) answer).setOnCancelHandler(() -> {});
            Optional<String> refusal = refusal(request);
            if (refusal.isPresent()) {
                refuse(request, answer, Status.UNKNOWN.withDescription(refusal.get()));
                return;
            }
            boolean hang;
            Duration deadline;
            Duration delay;
            synchronized (FakeKubelet.this) {
                hang = hanging;
                deadline = dialDeadline;
                delay = slowness;
            }
            if (hang) {
                say("register " + request.getResourceName() + ": hanging");
                return;
            }
            Thread thread = Thread.ofPlatform().daemon().name(THREAD).unstarted(() -> {
                try {
                    if (runsAfter(delay)) {
                        dialBack(request, deadline, arrived, answer);
                    }
                } finally {
                    synchronized (FakeKubelet.this) {
                        registering.remove(Thread.currentThread());
                    }
                }
            });
            synchronized (FakeKubelet.this) {
                if (running) {
                    registering.add(thread);
                    thread.start();
                }
            }
        }

        /** Answers whether it still runs then. */
        private boolean runsAfter(Duration delay) {
            synchronized (FakeKubelet.this) {
                long end = System.nanoTime() + delay.toNanos();
                try {
                    for (long left = delay.toNanos(); running && left > 0; left = end - System.nanoTime()) {
                        TimeUnit.NANOSECONDS.timedWait(FakeKubelet.this, left);
                    }
                } catch (InterruptedException e) {
                    return false;
                }
                return running;
            }
        }

        /** The real kubelet does this inside its Register handler; a plugin that serves later fails here. */
        private void dialBack(RegisterRequest request, Duration deadline, long arrived, StreamObserver<Empty> answer) {
            long end = System.nanoTime() + deadline.toNanos();
            Endpoint endpoint;
            synchronized (FakeKubelet.this) {
                if (!running) {
                    return;
                }
                endpoint = new Endpoint(request);
                connected.add(endpoint);
            }
            try {
                DevicePluginOptions options = endpoint.blocking()
                        .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                        .getDevicePluginOptions(Empty.getDefaultInstance());
                if (install(endpoint)) {
                    endpoint.openStream();
                    endpoint.awaitFirstList(end, deadline);
                }
                accepted(endpoint, options, arrived);
                answer.onNext(Empty.getDefaultInstance());
                answer.onCompleted();
            } catch (RuntimeException e) {
                endpoint.disconnect();
                synchronized (FakeKubelet.this) {
                    connected.remove(endpoint);
                    if (!running) {
                        // One that has ended answers nobody.
                        return;
                    }
                }
                refuse(
                        endpoint.request,
                        answer,
                        Status.UNKNOWN.withDescription("failed to dial the plugin back: " + e.getMessage()));
            }
        }

        private void refuse(RegisterRequest request, StreamObserver<Empty> answer, Status status) {
            synchronized (FakeKubelet.this) {
                refusals.add(status.getDescription());
                FakeKubelet.this.notifyAll();
            }
            say("refused " + request.getResourceName() + ": " + status.getDescription());
            answer.onError(status.asRuntimeException());
        }

        private Optional<String> refusal(RegisterRequest request) {
            synchronized (FakeKubelet.this) {
                registerCalls++;
                requests.add(request);
                FakeKubelet.this.notifyAll();
                if (refusing > 0) {
                    refusing--;
                    return Optional.of("refused on demand");
                }
            }
            if (!request.getVersion().equals(VERSION)) {
                return Optional.of("unsupported version " + request.getVersion());
            }
            String resource = request.getResourceName();
            if (!RESOURCE_NAME.matcher(resource).matches()
                    || resource.startsWith("requests.")
                    || resource.substring(0, resource.indexOf('/')).endsWith("kubernetes.io")) {
                return Optional.of("invalid extended resource name " + resource);
            }
            return Optional.empty();
        }
    }

    private ServerServiceDefinition registrationService() {
        return ServerInterceptors.intercept(new RegistrationService(), new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                synchronized (FakeKubelet.this) {
                    authorities.add(String.valueOf(call.getAuthority()));
                }
                return next.startCall(call, headers);
            }
        });
    }

    /** From now on it is the endpoint of its resource. Answers whether a stream is to be opened. */
    private boolean install(Endpoint endpoint) {
        Optional<Endpoint> toClose = Optional.empty();
        boolean stream;
        synchronized (this) {
            if (!running) {
                throw new IllegalStateException("the kubelet has ended");
            }
            Endpoint old = endpoints.put(endpoint.resource, endpoint);
            devices.putIfAbsent(endpoint.resource, new LinkedHashMap<>());
            if (old != null && oldEndpoint == OldEndpoint.CLOSED) {
                toClose = Optional.of(old);
            }
            stream = !openingNoStream;
        }
        toClose.ifPresent(Endpoint::disconnect);
        return stream;
    }

    private void accepted(Endpoint endpoint, DevicePluginOptions options, long arrived) {
        synchronized (this) {
            registrations.add(new Registration(endpoint.request, options, arrived, System.nanoTime()));
            notifyAll();
        }
        say("registered %s at %s, %.3f ms after kubelet.sock"
                .formatted(endpoint.resource, endpoint.name, (System.nanoTime() - listeningSinceNanos()) / 1e6));
    }

    private void received(Endpoint endpoint, ListAndWatchResponse list) {
        Message message = new Message(endpoint.resource, endpoint.name, list, System.nanoTime());
        boolean cancel;
        synchronized (this) {
            messages.add(message);
            Map<String, Device> known = new LinkedHashMap<>();
            list.getDevicesList().forEach(device -> known.put(device.getID(), device));
            devices.put(endpoint.resource, known);
            endpoint.listed = true;
            cancel = cancelling;
            notifyAll();
        }
        say("devices " + endpoint.resource + ": " + message.count("Healthy") + " healthy, "
                + (list.getDevicesCount() - message.count("Healthy")) + " unhealthy");
        if (cancel) {
            endpoint.cancelStream();
        }
    }

    private void streamEnded(Endpoint endpoint, Status status) {
        Optional<Endpoint> alsoClosed = Optional.empty();
        synchronized (this) {
            streamsEnded++;
            connected.remove(endpoint);
            endpoint.stopped = true;
            Endpoint now = endpoints.get(endpoint.resource);
            if (now != null) {
                boolean ours = now == endpoint;
                switch (oldEndpoint) {
                    case CLOSED -> {
                        if (ours) {
                            stop(now);
                        }
                    }
                    case KEPT_AND_ITS_END_CLOSES_THE_NEW -> {
                        stop(now);
                        alsoClosed = ours ? Optional.empty() : Optional.of(now);
                    }
                    case KEPT_AND_ITS_END_STOPS_THE_NEW -> stop(now);
                }
            }
            notifyAll();
        }
        say("stream of " + endpoint.resource + " at " + endpoint.name + " ended: " + status.getCode());
        endpoint.disconnect();
        alsoClosed.ifPresent(Endpoint::disconnect);
    }

    /** Each of its devices counts as unhealthy, and allocations fail until the next registration. */
    private void stop(Endpoint endpoint) {
        endpoint.stopped = true;
        devices.get(endpoint.resource)
                .replaceAll((id, device) ->
                        device.toBuilder().setHealth("Unhealthy").build());
    }

    /** The kubelet's side of one registered plugin. */
    private final class Endpoint {
        private final RegisterRequest request;
        private final String resource;
        private final String name;
        private final ManagedChannel channel;
        private Optional<ClientCall<Empty, ListAndWatchResponse>> stream = Optional.empty();
        private boolean listed;
        private boolean stopped;

        Endpoint(RegisterRequest request) {
            this.request = request;
            this.resource = request.getResourceName();
            this.name = request.getEndpoint();
            this.channel = transport.connect(directory.resolve(name), GRPC_GO_LIMIT);
        }

        DevicePluginGrpc.DevicePluginBlockingStub blocking() {
            return DevicePluginGrpc.newBlockingStub(channel);
        }

        void openStream() {
            ClientCall<Empty, ListAndWatchResponse> call =
                    channel.newCall(DevicePluginGrpc.getListAndWatchMethod(), io.grpc.CallOptions.DEFAULT);
            synchronized (FakeKubelet.this) {
                stream = Optional.of(call);
            }
            call.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onMessage(ListAndWatchResponse list) {
                            received(Endpoint.this, list);
                            call.request(1);
                        }

                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            streamEnded(Endpoint.this, status);
                        }
                    },
                    new Metadata());
            call.request(1);
            call.sendMessage(Empty.getDefaultInstance());
            call.halfClose();
        }

        void awaitFirstList(long endNanos, Duration deadline) {
            synchronized (FakeKubelet.this) {
                while (awaitingFirstList && !listed) {
                    long left = endNanos - System.nanoTime();
                    if (left <= 0 || stopped) {
                        throw new IllegalStateException("no list from ListAndWatch "
                                + (stopped ? "before it ended" : "within " + deadline.toMillis() + " ms"));
                    }
                    try {
                        TimeUnit.NANOSECONDS.timedWait(FakeKubelet.this, left);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new IllegalStateException("interrupted in Register", e);
                    }
                }
            }
        }

        void cancelStream() {
            Optional<ClientCall<Empty, ListAndWatchResponse>> open;
            synchronized (FakeKubelet.this) {
                open = stream;
            }
            open.ifPresent(call -> call.cancel("cancelled on demand", null));
        }

        void disconnect() {
            channel.shutdownNow();
        }
    }
}
