package io.erdma.node.kube;

import com.fasterxml.jackson.databind.JsonNode;
import io.erdma.cluster.crd.ErdmaDevice;
import io.erdma.log.Quote;
import io.erdma.node.kube.Occurrence.About;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The little that a node needs of the cluster's API. It is the one place that brings in the Kubernetes client, which is
 * a third of the agent's memory: made only where a setting needs it.
 */
public final class ClusterClient implements Closeable {
    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);
    /** An API server takes no object above 1.5 MB, and the agent's heap is 24 MB. */
    private static final int MOST_BYTES = 3 << 20;

    static final String AGENT = "erdma-agent";
    private static final String WRITES_EVENTS = "create and patch on events";
    private static final String READS_NODES = "get on nodes";
    private static final String PATCHES_STATUS = "patch on nodes/status";
    private static final String PATCHES_NODES = "patch on nodes";

    private final KubernetesClient client;
    private final Duration answerWithin;
    private final AskedPause askedPause;

    private ClusterClient(KubernetesClient client, Duration answerWithin, AskedPause askedPause) {
        this.client = client;
        this.answerWithin = answerWithin;
        this.askedPause = askedPause;
    }

    /**
     * Asks nothing of the API yet.
     *
     * @throws ClusterException when the credentials cannot be used
     */
    public static ClusterClient open(ClusterAccess access) throws ClusterException {
        return open(access, ANSWER_WITHIN);
    }

    static ClusterClient open(ClusterAccess access, Duration answerWithin) throws ClusterException {
        try {
            return switch (access) {
                case ClusterAccess.Kubeconfig kubeconfig ->
                    open(Config.fromKubeconfig(kubeconfig.file().toFile()), new JdkHttpClientFactory(), answerWithin);
                case ClusterAccess.InCluster pod ->
                    open(
                            new ConfigBuilder()
                                    .withAutoConfigure(false)
                                    .withMasterUrl(pod.server())
                                    .withCaCertFile(pod.authority().toString())
                                    .withOauthTokenProvider(new TokenFile(pod.token()))
                                    .build(),
                            new Direct(),
                            answerWithin);
            };
        } catch (KubernetesClientException e) {
            throw new ClusterException("cannot use the credentials for the cluster's API: " + reason(e), e);
        }
    }

    /** Without tries of its own: whoever calls knows better when to try again, and says why it is needed. */
    private static ClusterClient open(Config given, JdkHttpClientFactory http, Duration answerWithin) {
        Config config = new ConfigBuilder(given)
                .withAutoConfigure(false)
                .withConnectionTimeout((int) CONNECT_WITHIN.toMillis())
                .withRequestTimeout((int) answerWithin.toMillis())
                .withRequestRetryBackoffLimit(0)
                .withWatchReconnectLimit(0)
                .withUserAgent(AGENT)
                .build();
        var askedPause = new AskedPause();
        return new ClusterClient(
                new KubernetesClientBuilder()
                        .withConfig(config)
                        .withHttpClientFactory(http)
                        .withHttpClientBuilderConsumer(
                                builder -> builder.addOrReplaceInterceptor("erdma-bound", new Bound())
                                        .addOrReplaceInterceptor(AskedPause.NAME, askedPause))
                        .build(),
                answerWithin,
                askedPause);
    }

    /** Ends an answer, and a watch, that brings more than could be of use. */
    private static final class Bound implements Interceptor {
        @Override
        public AsyncBody.Consumer<List<ByteBuffer>> consumer(
                AsyncBody.Consumer<List<ByteBuffer>> consumer, HttpRequest request) {
            var left = new AtomicLong(MOST_BYTES);
            return (buffers, body) -> {
                long bytes = buffers.stream().mapToLong(ByteBuffer::remaining).sum();
                if (left.addAndGet(-bytes) < 0) {
                    // Else its failure would be that it was cancelled.
                    body.done()
                            .completeExceptionally(
                                    new IOException("an answer of more than " + (MOST_BYTES >> 20) + " MB"));
                    body.cancel();
                } else {
                    consumer.consume(buffers, body);
                }
            };
        }
    }

    /** A pod reaches its cluster's API itself, whatever proxy is set for the rest of the world. */
    private static final class Direct extends JdkHttpClientFactory {
        @Override
        protected void additionalConfig(HttpClient.Builder builder) {
            builder.proxy(HttpClient.Builder.NO_PROXY);
        }
    }

    /** What the cloud calls the machine of a Node object; empty while nobody has said it. */
    public Optional<String> providerId(String node) throws ClusterException {
        return Optional.ofNullable(node(node).getSpec().getProviderID()).filter(id -> !id.isEmpty());
    }

    /**
     * How much of an extended resource pods can get on a node, whoever has it now.
     *
     * @return empty when its Node object does not know the resource
     */
    public OptionalLong allocatable(String node, String resource) throws ClusterException {
        try {
            Node object = inTime(() -> client.nodes().withName(node).get());
            if (object == null) {
                throw new ClusterException("there is no Node object " + node, null);
            }
            Quantity quantity = object.getStatus() == null || object.getStatus().getAllocatable() == null
                    ? null
                    : object.getStatus().getAllocatable().get(resource);
            return quantity == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(quantity.getNumericalAmount().longValue());
        } catch (KubernetesClientException e) {
            throw failed("read the Node object " + node, READS_NODES, e);
        }
    }

    /** What the Terway network plugin was told to take; most agents have no right to ask, which is an answer as well. */
    public TerwayWhitelist terwayWhitelist() throws ClusterException {
        String what =
                "read Terway's configuration, the ConfigMap " + TerwayWhitelist.NAMESPACE + "/" + TerwayWhitelist.NAME;
        Optional<String> text;
        try {
            ConfigMap map = inTime(() -> client.configMaps()
                    .inNamespace(TerwayWhitelist.NAMESPACE)
                    .withName(TerwayWhitelist.NAME)
                    .get());
            text = Optional.ofNullable(map)
                    .flatMap(one -> Optional.ofNullable(one.getData()))
                    .flatMap(data -> Optional.ofNullable(data.get(TerwayWhitelist.ENTRY)));
        } catch (KubernetesClientException e) {
            throw failed(what, "get on configmaps of that name", e);
        }
        if (text.isEmpty()) {
            return new TerwayWhitelist.NoTerway();
        }
        try {
            Map<?, ?> configuration = client.getKubernetesSerialization().unmarshal(text.get(), Map.class);
            if (configuration != null) {
                return TerwayWhitelist.of(configuration);
            }
        } catch (RuntimeException e) {
            // Neither its words nor itself: they quote the entry, which may hold keys.
            throw new ClusterException(
                    "cannot " + what + ": " + TerwayWhitelist.ENTRY + " is no JSON object ("
                            + e.getClass().getSimpleName() + ")",
                    null);
        }
        throw new ClusterException("cannot " + what + ": " + TerwayWhitelist.ENTRY + " is empty", null);
    }

    /**
     * What the API has of one name.
     *
     * @param version from which to watch
     */
    record Listed(Optional<ErdmaDevice> object, String version) {}

    /** The object of that name, if there is one. */
    Listed erdmaDevice(String name) throws ClusterException {
        String what = "read the ERdmaDevice object " + name;
        KubernetesResourceList<ErdmaDevice> list;
        try {
            list = inTime(() -> client.resources(ErdmaDevice.class)
                    .withField("metadata.name", name)
                    .list());
        } catch (KubernetesClientException e) {
            throw failed(what, "get, list and watch on erdmadevices", e);
        } catch (RuntimeException e) {
            // Whatever a proxy puts in the place of the API server may trip the client up.
            throw new ClusterException("cannot " + what + ": the answer is no list of objects: " + e, e);
        }
        // An empty answer of somebody else's is not the word that there is no such object.
        if (list == null
                || list.getItems() == null
                || list.getMetadata() == null
                || list.getMetadata().getResourceVersion() == null) {
            throw new ClusterException("cannot " + what + ": the answer is no list of objects", null);
        }
        return new Listed(
                list.getItems().stream().filter(object -> isNamed(name, object)).findFirst(),
                list.getMetadata().getResourceVersion());
    }

    /** The field selector promises that, and a proxy may not know of it. */
    static boolean isNamed(String name, ErdmaDevice object) {
        return object != null
                && object.getMetadata() != null
                && name.equals(object.getMetadata().getName());
    }

    /** Tells of changes from there on, until the watcher's onClose. */
    Watch watch(String name, String resourceVersion, Duration life, Watcher<ErdmaDevice> watcher)
            throws ClusterException {
        try {
            return client.resources(ErdmaDevice.class)
                    .withField("metadata.name", name)
                    .watch(
                            new ListOptionsBuilder()
                                    .withResourceVersion(resourceVersion)
                                    .withTimeoutSeconds(life.toSeconds())
                                    .build(),
                            watcher);
        } catch (KubernetesClientException e) {
            throw failed("watch the ERdmaDevice object " + name, "get, list and watch on erdmadevices", e);
        } catch (RuntimeException e) {
            throw new ClusterException("cannot watch the ERdmaDevice object " + name + ": " + e, e);
        }
    }

    /** The client bounds the time until an answer begins, and waits for its end as long as that takes. */
    private <T> T inTime(Supplier<T> request) {
        var alarm = new Alarm(Thread.currentThread());
        // Later than the client's own time-out, which says more.
        CompletableFuture.delayedExecutor(answerWithin.toMillis() * 3 / 2, TimeUnit.MILLISECONDS)
                .execute(alarm::ring);
        try {
            return request.get();
        } catch (KubernetesClientException e) {
            if (alarm.end()) {
                var late = new KubernetesClientException("no complete answer in time");
                late.addSuppressed(e);
                throw late;
            }
            throw e;
        } finally {
            alarm.end();
        }
    }

    /** Interrupts a thread, unless it has gone on by then. */
    private static final class Alarm {
        private final Thread thread;
        private boolean ended;
        private boolean rung;

        Alarm(Thread thread) {
            this.thread = thread;
        }

        synchronized void ring() {
            if (!ended) {
                rung = true;
                thread.interrupt();
            }
        }

        /** @return whether it interrupted; the thread is not interrupted by it any more */
        synchronized boolean end() {
            if (!ended && rung) {
                Thread.interrupted();
            }
            ended = true;
            return rung;
        }
    }

    /** @param node from where it is written */
    WriteAnswer write(EventWrite write, String node) {
        return answer("write an Event", WRITES_EVENTS, () -> {
            Event event = switch (write.kind()) {
                case CREATE ->
                    client.v1()
                            .events()
                            .inNamespace(write.namespace())
                            .resource(event(write, node))
                            .create();
                case UPDATE ->
                    patch(
                            write,
                            new EventBuilder()
                                    .withMessage(write.message())
                                    .withLastTimestamp(time(write.last()))
                                    .withCount(write.count()));
                case TAKE_OVER ->
                    patch(write, new EventBuilder().withMessage(write.message()).withLastTimestamp(time(write.last())));
            };
            return event == null || event.getCount() == null ? 0 : event.getCount();
        });
    }

    /** By an object that is only a name: for a name alone the client would read the Event first. */
    private Event patch(EventWrite write, EventBuilder changes) {
        Event named = new EventBuilder()
                .withNewMetadata()
                .withName(write.name())
                .withNamespace(write.namespace())
                .endMetadata()
                .build();
        return client.v1()
                .events()
                .inNamespace(write.namespace())
                .resource(named)
                .patch(PatchContext.of(PatchType.JSON_MERGE), Serialization.asJson(changes.build()));
    }

    private static Event event(EventWrite write, String node) {
        return new EventBuilder()
                .withNewMetadata()
                .withName(write.name())
                .withNamespace(write.namespace())
                .endMetadata()
                .withInvolvedObject(reference(write.about()))
                .withReason(write.reason().wire())
                .withType(write.reason().type())
                .withMessage(write.message())
                .withFirstTimestamp(time(write.first()))
                .withLastTimestamp(time(write.last()))
                .withCount(write.count())
                .withNewSource(AGENT, node)
                .withReportingComponent(AGENT)
                .withReportingInstance(node)
                .build();
    }

    private static ObjectReference reference(About about) {
        return switch (about) {
            // The kubelet gives a node's name for its UID as well, and that is what kubectl describe looks for.
            case About.OnNode(String name) ->
                new ObjectReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("Node")
                        .withName(name)
                        .withUid(name)
                        .build();
            case About.OnPod(String namespace, String name, String uid) ->
                new ObjectReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("Pod")
                        .withNamespace(namespace)
                        .withName(name)
                        .withUid(uid)
                        .build();
        };
    }

    /** The API's times are of whole seconds. */
    private static String time(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Of a Node, with what others keep in it. */
    Node node(String name) throws ClusterException {
        try {
            Node node = inTime(() -> client.nodes().withName(name).get());
            if (node == null) {
                throw new ClusterException(
                        "there is no Node object " + name + "; name the right one with --node-name", null);
            }
            return node;
        } catch (KubernetesClientException e) {
            throw failed("read the Node object " + name, READS_NODES, e);
        }
    }

    /** @param patch a strategic merge patch, by which the conditions of others stay as they are */
    WriteAnswer patchStatus(String node, String patch) {
        return answer("set a condition of the Node " + node, PATCHES_STATUS, () -> {
            client.nodes()
                    .resource(named(node))
                    .subresource("status")
                    .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
            return 0;
        });
    }

    /**
     * Server-side apply: what is not in it, and was before, is taken away, unless others have set it, too.
     *
     * @param configuration all of the node that is ours, as JSON
     */
    WriteAnswer applyNode(String node, String configuration) {
        return answer("set a label of the Node " + node, PATCHES_NODES, () -> {
            client.nodes()
                    .resource(named(node))
                    .patch(
                            new PatchContext.Builder()
                                    .withPatchType(PatchType.SERVER_SIDE_APPLY)
                                    .withFieldManager(AGENT)
                                    .withForce(false)
                                    .build(),
                            configuration);
            return 0;
        });
    }

    private static Node named(String node) {
        return new NodeBuilder().withNewMetadata().withName(node).endMetadata().build();
    }

    private WriteAnswer answer(String what, String rights, Supplier<Integer> request) {
        askedPause.forget();
        try {
            return new WriteAnswer.Written(inTime(request));
        } catch (KubernetesClientException e) {
            return WriteAnswer.of(e, "cannot " + what + ": " + reason(e, rights), askedPause.last());
        }
    }

    private static ClusterException failed(String what, String rights, KubernetesClientException e) {
        String why = e.getCode() == 404
                ? "the API server knows no such kind (404); install the CustomResourceDefinition, or use"
                        + " --local-eri-discovery"
                : reason(e, rights);
        return new ClusterException("cannot " + what + ": " + why, e);
    }

    private static String reason(KubernetesClientException e, String rights) {
        return switch (e.getCode()) {
            case 401 -> "the API server refuses the agent's token (401)";
            case 403 -> "the API server forbids it (403); give the agent's service account " + rights;
            default -> reason(e);
        };
    }

    /** The innermost cause is the one that a person can do something about. */
    private static String reason(KubernetesClientException e) {
        Throwable innermost = e;
        while (innermost.getCause() != null && !(innermost instanceof ConnectException)) {
            innermost = innermost.getCause();
        }
        if (innermost instanceof ConnectException) {
            return "no connection to the API server: is it running, and is its address right?";
        }
        String message = Optional.ofNullable(innermost.getMessage())
                .orElse(innermost.getClass().getSimpleName());
        if (innermost instanceof FileSystemException) {
            return "cannot read the file " + Quote.of(message);
        }
        return e.getCode() > 0 ? "the API server answered " + e.getCode() : Quote.of(message);
    }

    /**
     * A resource or a list as the API writes it, for kinds whose models would be loaded for one answer.
     *
     * @param path below the server's address, with its query
     * @param what names it in messages
     */
    JsonNode read(String path, String what) throws ClusterException {
        try {
            String text = inTime(() -> client.raw(path));
            if (text == null) {
                throw new ClusterException("cannot read " + what + ": there is none", null);
            }
            return client.getKubernetesSerialization().unmarshal(text, JsonNode.class);
        } catch (KubernetesClientException e) {
            throw failed("read " + what, "get or list on it", e);
        }
    }

    /** Ends requests under way. */
    @Override
    public void close() {
        client.close();
    }
}
