package io.erdma.node.interfaces;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A metadata service on a port of this machine, as strict as the real one: values only below its path, only with a token
 * that it gave, nothing but 404 for what it does not have. A path can be given other ways of answering.
 */
public final class FakeMetadata implements AutoCloseable {
    private static final String VALUES = "/latest/meta-data/";

    /** How one request is answered, on its connection. */
    @FunctionalInterface
    public interface Answer {
        void to(OutputStream out) throws IOException, InterruptedException;
    }

    private final ServerSocket server;
    private final Map<String, String> values = new ConcurrentHashMap<>();
    private final Map<String, List<Answer>> scripts = new ConcurrentHashMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<String> tokens = ConcurrentHashMap.newKeySet();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean tokenMode = true;

    private FakeMetadata(ServerSocket server) {
        this.server = server;
    }

    public static FakeMetadata start() throws IOException {
        var fake = new FakeMetadata(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        Thread.ofPlatform().daemon().name("fake-metadata").start(fake::accept);
        return fake;
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
    }

    public FakeMetadata value(String path, String value) {
        values.put(path, value);
        return this;
    }

    public FakeMetadata without(String path) {
        values.remove(path);
        return this;
    }

    /** An interface with an IPv4 address in a /24. */
    public FakeMetadata eni(String mac, String address, String gateway) {
        listed(mac);
        String at = "network/interfaces/macs/" + mac + "/";
        return value(at + "primary-ip-address", address)
                .value(at + "netmask", "255.255.255.0")
                .value(at + "vswitch-cidr-block", "10.0.0.0/16")
                .value(at + "gateway", gateway)
                .value(at + "network-interface-id", "eni-" + mac.replace(":", ""));
    }

    public FakeMetadata listed(String mac) {
        values.merge("network/interfaces/macs/", mac + "/", (all, one) -> all + "\n" + one);
        return this;
    }

    /** The way the next requests for the path are answered, one after the other; then as usual again. */
    public FakeMetadata next(String path, Answer... answers) {
        scripts.put(path, new CopyOnWriteArrayList<>(answers));
        return this;
    }

    /** As before token mode: no token is given, none is asked for. */
    public FakeMetadata withoutTokens() {
        tokenMode = false;
        return this;
    }

    /** Tokens given so far are refused from now on. */
    public void forgetTokens() {
        tokens.clear();
    }

    /** Method and path of all requests so far. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    public long count(String request) {
        return requests.stream().filter(request::equals).count();
    }

    public static Answer status(int status) {
        return plain(status, "");
    }

    public static Answer plain(int status, String body) {
        return out -> out.write(("HTTP/1.1 " + status + " Status\r\nContent-Type: text/plain\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body)
                .getBytes(ISO_8859_1));
    }

    public static Answer raw(String bytes) {
        return out -> out.write(bytes.getBytes(ISO_8859_1));
    }

    /** Never answers. */
    public Answer hanging() {
        return out -> closed.await();
    }

    /** One byte now and then, for ever. */
    public Answer dripping() {
        return out -> {
            out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(ISO_8859_1));
            do {
                out.write('x');
                out.flush();
            } while (!closed.await(10, TimeUnit.MILLISECONDS));
        };
    }

    private void accept() {
        while (closed.getCount() > 0) {
            try {
                Socket socket = server.accept();
                connections.add(socket);
                Thread.ofPlatform().daemon().name("fake-metadata-answer").start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            List<String> head = head(socket.getInputStream());
            String[] request = head.getFirst().split(" ", -1);
            requests.add(request[0] + " " + request[1]);
            answer(request[0], request[1], head).to(socket.getOutputStream());
            socket.shutdownOutput();
        } catch (IOException e) {
            // The client has gone, as it may.
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connections.remove(socket);
        }
    }

    private static List<String> head(InputStream in) throws IOException {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b != '\n') {
                line.append((char) b);
            } else if (line.toString().isBlank()) {
                return lines;
            } else {
                lines.add(line.toString().strip());
                line.setLength(0);
            }
        }
        throw new IOException("no whole request");
    }

    private Answer answer(String method, String path, List<String> head) {
        List<Answer> script = scripts.getOrDefault(path.replaceFirst("^" + VALUES, ""), List.of());
        if (!script.isEmpty()) {
            return script.removeFirst();
        }
        if (method.equals("PUT") && path.equals("/latest/api/token")) {
            return tokenMode ? token(head) : status(404);
        }
        if (!method.equals("GET") || !path.startsWith(VALUES)) {
            return status(404);
        }
        if (tokenMode && tokens.stream().noneMatch(token -> head.contains("X-aliyun-ecs-metadata-token: " + token))) {
            return status(401);
        }
        String value = values.get(path.substring(VALUES.length()));
        return value == null ? plain(404, "<html>Not Found</html>") : plain(200, value + "\n");
    }

    private Answer token(List<String> head) {
        boolean valid = head.stream()
                .filter(line -> line.startsWith("X-aliyun-ecs-metadata-token-ttl-seconds: "))
                .map(line -> Integer.parseInt(line.substring(line.indexOf(' ') + 1)))
                .anyMatch(seconds -> seconds >= 1 && seconds <= 21_600);
        if (!valid) {
            return status(400);
        }
        String token = "token-" + requests.size() + "==";
        tokens.add(token);
        return plain(200, token);
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        server.close();
        for (Socket socket : new HashSet<>(connections)) {
            socket.close();
        }
    }
}
