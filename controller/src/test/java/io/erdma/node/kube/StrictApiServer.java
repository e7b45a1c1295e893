package io.erdma.node.kube;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * An API server that takes Events and marks on one Node, and refuses what the real one refuses, with its answers: rights,
 * Events outside of their object's namespace, names that are none, fields that are missing. It can be made to fail.
 */
final class StrictApiServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern EVENTS = Pattern.compile("/api/v1/namespaces/([^/]+)/events(?:/([^/]+))?");
    private static final Pattern NODE = Pattern.compile("/api/v1/nodes/([^/]+?)(/status)?");
    private static final Pattern DNS_SUBDOMAIN =
            Pattern.compile("(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

    /** A failure to be answered with. */
    private record Failure(int status, Map<String, String> headers, String body) {}

    /** A refusal, as the real server words it. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final int code;
        private final String reason;

        Refusal(int code, String reason, String message) {
            super(message);
            this.code = code;
            this.reason = reason;
        }
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("strict-api-", 0).factory());
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<String> namespaces = ConcurrentHashMap.newKeySet();
    private final Set<String> terminating = ConcurrentHashMap.newKeySet();
    private final Set<String> rights = ConcurrentHashMap.newKeySet();
    private final Map<String, ObjectNode> events = new TreeMap<>();
    private final ObjectNode node;
    private final Map<String, Set<String>> labelOwners = new TreeMap<>();

    private volatile Optional<Failure> failure = Optional.empty();
    private volatile boolean hanging;
    private volatile Optional<String> token = Optional.empty();

    private StrictApiServer(HttpServer server) {
        this.server = server;
        node = JSON.createObjectNode();
        node.put("kind", "Node").put("apiVersion", "v1");
        node.putObject("metadata").put("name", "node-a").putObject("labels").put("kubernetes.io/hostname", "node-a");
        node.putObject("spec");
        node.putObject("status")
                .putArray("conditions")
                .addObject()
                .put("type", "Ready")
                .put("status", "True");
    }

    /** With all rights, and the namespaces default and training. */
    static StrictApiServer start() throws IOException {
        var fake =
                new StrictApiServer(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
        fake.namespaces.addAll(List.of("default", "training"));
        fake.rights.addAll(List.of("create events", "patch events", "get nodes", "patch nodes/status", "patch nodes"));
        fake.server.setExecutor(fake.threads);
        fake.server.createContext("/", fake::answer);
        fake.server.start();
        return fake;
    }

    ClusterAccess access(Path directory) throws IOException {
        Path file = directory.resolve("kubeconfig-" + server.getAddress().getPort());
        return new ClusterAccess.Kubeconfig(Files.writeString(file, FakeApiServer.kubeconfig(url())));
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void revoke(String right) {
        rights.remove(right);
    }

    void grant(String right) {
        rights.add(right);
    }

    void demand(String bearer) {
        token = Optional.of(bearer);
    }

    /** Answers so from now on. */
    void fail(int status, Map<String, String> headers, String body) {
        failure = Optional.of(new Failure(status, headers, body));
    }

    void fail(int status) {
        fail(status, Map.of(), "{\"kind\":\"Status\",\"code\":" + status + "}");
    }

    void recover() {
        failure = Optional.empty();
    }

    void hang() {
        hanging = true;
    }

    void terminate(String namespace) {
        terminating.add(namespace);
    }

    void removeNamespace(String namespace) {
        namespaces.remove(namespace);
    }

    synchronized void expire(String name) {
        events.keySet().removeIf(key -> key.endsWith("/" + name));
    }

    /** As somebody else would set it by an update. */
    synchronized void labelByOther(String key, String value) {
        labels().put(key, value);
        labelOwners.computeIfAbsent(key, _ -> new TreeSet<>()).add("kubectl");
    }

    List<String> requests() {
        return List.copyOf(requests);
    }

    synchronized List<JsonNode> events() {
        return events.values().stream()
                .map(event -> (JsonNode) event.deepCopy())
                .toList();
    }

    synchronized Optional<JsonNode> condition(String type) {
        return StreamSupport.stream(conditions().spliterator(), false)
                .filter(one -> one.path("type").asText().equals(type))
                .<JsonNode>map(JsonNode::deepCopy)
                .findFirst();
    }

    synchronized Optional<String> label(String key) {
        return Optional.ofNullable(labels().get(key)).map(JsonNode::asText);
    }

    private ObjectNode labels() {
        return (ObjectNode) node.path("metadata").path("labels");
    }

    private ArrayNode conditions() {
        return (ArrayNode) node.path("status").path("conditions");
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (hanging) {
                closed.await();
            }
            Optional<Failure> failing = failure;
            if (failing.isPresent()) {
                failing.get().headers().forEach(exchange.getResponseHeaders()::set);
                send(exchange, failing.get().status(), failing.get().body());
                return;
            }
            try {
                ObjectNode answer = serve(exchange, body);
                send(exchange, exchange.getRequestMethod().equals("POST") ? 201 : 200, answer.toString());
            } catch (Refusal e) {
                send(exchange, e.code, status(e).toString());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ObjectNode status(Refusal refusal) {
        ObjectNode status = JSON.createObjectNode()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("status", "Failure")
                .put("message", refusal.getMessage())
                .put("code", refusal.code);
        if (refusal.reason.equals("NamespaceTerminating")) {
            status.put("reason", "Forbidden");
            status.putObject("details").putArray("causes").addObject().put("reason", "NamespaceTerminating");
        } else {
            status.put("reason", refusal.reason);
        }
        return status;
    }

    private synchronized ObjectNode serve(HttpExchange exchange, byte[] body) throws Refusal, IOException {
        String path = exchange.getRequestURI().getPath();
        String verb = switch (exchange.getRequestMethod()) {
            case "POST" -> "create";
            case "PATCH" -> "patch";
            case "PUT" -> "update";
            default -> "get";
        };
        Optional<String> demanded = token.map(text -> "Bearer " + text);
        if (demanded.isPresent()
                && !demanded.get().equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
            throw new Refusal(401, "Unauthorized", "Unauthorized");
        }
        Matcher event = EVENTS.matcher(path);
        if (event.matches()) {
            may(verb, "events");
            return event.group(2) == null
                    ? create(event.group(1), object(body))
                    : patch(exchange, event.group(1), event.group(2), object(body));
        }
        Matcher ofNode = NODE.matcher(path);
        if (ofNode.matches()) {
            may(verb, ofNode.group(2) == null ? "nodes" : "nodes/status");
            if (!ofNode.group(1).equals("node-a")) {
                throw new Refusal(404, "NotFound", "nodes \"" + ofNode.group(1) + "\" not found");
            }
            if (verb.equals("patch")) {
                patchNode(exchange, ofNode.group(2) != null, object(body));
            }
            return node.deepCopy();
        }
        throw new Refusal(403, "Forbidden", path + " is forbidden");
    }

    private static ObjectNode object(byte[] body) throws Refusal {
        try {
            return (ObjectNode) JSON.readTree(body);
        } catch (IOException | ClassCastException e) {
            throw new Refusal(400, "BadRequest", "the object provided is unrecognized");
        }
    }

    private void may(String verb, String resource) throws Refusal {
        if (!rights.contains(verb + " " + resource)) {
            throw new Refusal(403, "Forbidden", resource + " is forbidden: cannot " + verb + " resource");
        }
    }

    private ObjectNode create(String namespace, ObjectNode event) throws Refusal {
        if (!namespaces.contains(namespace)) {
            throw new Refusal(404, "NotFound", "namespaces \"" + namespace + "\" not found");
        }
        if (terminating.contains(namespace)) {
            throw new Refusal(403, "NamespaceTerminating", "unable to create new content in namespace");
        }
        String name = event.path("metadata").path("name").asText();
        demand(event.path("apiVersion").asText().equals("v1"), "apiVersion");
        demand(event.path("kind").asText().equals("Event"), "kind");
        demand(DNS_SUBDOMAIN.matcher(name).matches(), "metadata.name: " + name);
        demand(event.path("metadata").path("namespace").asText().equals(namespace), "metadata.namespace");
        JsonNode about = event.path("involvedObject");
        String of = about.path("namespace").asText();
        demand(of.isEmpty() ? namespace.equals("default") : of.equals(namespace), "involvedObject.namespace");
        for (String field : List.of("kind", "name", "uid", "apiVersion")) {
            demand(!about.path(field).asText().isEmpty(), "involvedObject." + field);
        }
        demand(event.path("reason").asText().matches("[A-Z][A-Za-z]{0,127}"), "reason");
        demand(event.path("type").asText().matches("Normal|Warning"), "type");
        demand(!event.path("source").path("component").asText().isEmpty(), "source.component");
        changeable(event);
        time(event, "firstTimestamp");
        if (events.containsKey(namespace + "/" + name)) {
            throw new Refusal(409, "AlreadyExists", "events \"" + name + "\" already exists");
        }
        events.put(namespace + "/" + name, event);
        return event;
    }

    private void changeable(ObjectNode event) throws Refusal {
        demand(!event.path("message").asText().isEmpty(), "message");
        demand(event.path("message").asText().getBytes(UTF_8).length <= 1024, "message");
        demand(event.path("count").asInt() >= 1, "count");
        time(event, "lastTimestamp");
    }

    private ObjectNode patch(HttpExchange exchange, String namespace, String name, ObjectNode patch) throws Refusal {
        content(exchange, "application/merge-patch+json");
        ObjectNode event = events.get(namespace + "/" + name);
        if (event == null) {
            throw new Refusal(404, "NotFound", "events \"" + name + "\" not found");
        }
        demand(!patch.has("involvedObject") && !patch.has("firstTimestamp"), "a field that stays");
        event.setAll(patch);
        changeable(event);
        return event;
    }

    private void patchNode(HttpExchange exchange, boolean status, ObjectNode patch) throws Refusal {
        if (status) {
            content(exchange, "application/strategic-merge-patch+json");
            for (JsonNode change : patch.path("status").path("conditions")) {
                merge((ObjectNode) change);
            }
            return;
        }
        content(exchange, "application/apply-patch+yaml");
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        demand(query.contains("fieldManager=erdma-agent"), "fieldManager");
        demand(!query.contains("force=true"), "what others own stays theirs");
        JsonNode wanted = patch.path("metadata").path("labels");
        labelOwners.forEach((key, owners) -> {
            if (!wanted.has(key) && owners.remove("erdma-agent") && owners.isEmpty()) {
                labels().remove(key);
            }
        });
        for (Map.Entry<String, JsonNode> label : wanted.properties()) {
            Set<String> owners = labelOwners.computeIfAbsent(label.getKey(), _ -> new TreeSet<>());
            boolean others = owners.stream().anyMatch(owner -> !owner.equals("erdma-agent"));
            if (others && !label.getValue().equals(labels().get(label.getKey()))) {
                throw new Refusal(409, "Conflict", "Apply failed with 1 conflict: conflict with \"kubectl\"");
            }
            owners.add("erdma-agent");
            labels().set(label.getKey(), label.getValue());
        }
        ArrayNode managed = ((ObjectNode) node.path("metadata")).putArray("managedFields");
        if (labelOwners.values().stream().anyMatch(owners -> owners.contains("erdma-agent"))) {
            managed.addObject().put("manager", "erdma-agent").put("operation", "Apply");
        }
    }

    private void merge(ObjectNode change) throws Refusal {
        String type = change.path("type").asText();
        demand(!type.isEmpty(), "status.conditions.type");
        ArrayNode all = conditions();
        int at = -1;
        for (int i = 0; i < all.size(); i++) {
            at = all.get(i).path("type").asText().equals(type) ? i : at;
        }
        if (change.path("$patch").asText().equals("delete")) {
            if (at >= 0) {
                all.remove(at);
            }
        } else if (at >= 0) {
            ((ObjectNode) all.get(at)).setAll(change);
        } else {
            demand(change.path("status").asText().matches("True|False|Unknown"), "status");
            all.add(change);
        }
    }

    private static void content(HttpExchange exchange, String type) throws Refusal {
        String sent = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
        if (!sent.startsWith(type)) {
            throw new Refusal(415, "UnsupportedMediaType", "the body of the request was in an unknown format: " + sent);
        }
    }

    private static void time(ObjectNode event, String field) throws Refusal {
        String text = event.path(field).asText();
        try {
            demand(
                    Instant.parse(text)
                            .truncatedTo(ChronoUnit.SECONDS)
                            .toString()
                            .equals(text),
                    field);
        } catch (DateTimeParseException e) {
            throw new Refusal(400, "BadRequest", field + " cannot be parsed: " + text);
        }
    }

    private static void demand(boolean condition, String field) throws Refusal {
        if (!condition) {
            throw new Refusal(422, "Invalid", "Event is invalid: " + field);
        }
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        byte[] body = json.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
