package io.erdma.node.interfaces;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.erdma.log.Quote;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import io.erdma.plugin.BackOff;
import java.io.Closeable;
import java.io.IOException;
import java.math.BigInteger;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks the cloud's metadata service about this instance, with a token where the service has them. Each value and each
 * reading has a bounded time. Connections go straight to the service, through no proxy of whatever setting: it answers
 * the instance itself alone, and a token must not leave the node.
 *
 * <p>One thread asks; any other may close. Nothing is held open between requests.
 */
final class MetadataClient implements Closeable {
    /** Where the service is in every network of the cloud. */
    static final InetSocketAddress STANDARD = new InetSocketAddress(IpPrefix.address("100.100.100.200"), 80);

    private static final String TOKEN_PATH = "/latest/api/token";
    private static final String VALUES = "/latest/meta-data/";
    private static final String TOKEN_HEADER = "X-aliyun-ecs-metadata-token";
    private static final String TTL_HEADER = "X-aliyun-ecs-metadata-token-ttl-seconds";
    /** The longest that the service grants; the token is used for half of it. */
    private static final Duration TOKEN_LIFE = Duration.ofHours(6);

    private static final int MAX_INTERFACES = 256;

    /**
     * How patient it is.
     *
     * @param request for one answer
     * @param missing for a value that is not there: those of an interface attached a moment ago come late
     * @param value for one value, with all tries
     * @param reading for all values of a reading together
     * @param pause before the second try; it doubles from try to try
     */
    record Patience(Duration request, Duration missing, Duration value, Duration reading, Duration pause) {
        static final Patience STANDARD = new Patience(
                Duration.ofSeconds(2),
                Duration.ofSeconds(2),
                Duration.ofSeconds(6),
                Duration.ofSeconds(30),
                Duration.ofMillis(250));

        private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

        private BackOff pauses() {
            return new BackOff(pause, LONGEST_PAUSE);
        }
    }

    private final InetSocketAddress address;
    private final Patience patience;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Optional<Socket> connection = Optional.empty();

    // The asking thread's own.
    private Optional<Token> token = Optional.empty();

    /** @param value absent where the service knows no tokens */
    private record Token(Optional<String> value, Deadline renewal) {}

    /** The service is there and has no answer now; another try may get one. */
    private static final class NotNow extends IOException {
        private static final long serialVersionUID = 1L;

        NotNow(int status) {
            super("it answered " + status);
        }
    }

    MetadataClient(InetSocketAddress address, Patience patience) {
        this.address = address;
        this.patience = patience;
    }

    /** The id of this instance. */
    String instanceId() throws MetadataException {
        String id = required("instance-id", Deadline.in(patience.reading()));
        if (!InstanceIdentity.isInstanceId(id)) {
            throw wrong("instance-id", id, "an instance id");
        }
        return id;
    }

    /**
     * What the service knows of these interfaces. It does not fail as a whole: what could not be had is among the
     * problems of the reading, and the other interfaces are in it all the same.
     */
    MetadataReading read(Set<MacAddress> wanted) {
        Deadline deadline = Deadline.in(patience.reading());
        List<String> problems = new ArrayList<>();
        Map<MacAddress, InterfaceFacts> interfaces = new LinkedHashMap<>();
        Optional<MacAddress> primary = Optional.empty();
        try {
            primary = Optional.of(mac("mac", required("mac", deadline)));
            Set<MacAddress> listed = listed(wanted, deadline);
            List<MacAddress> inOrder = wanted.stream()
                    .sorted(Comparator.comparingLong(MacAddress::value))
                    .toList();
            for (MacAddress mac : inOrder) {
                if (!listed.contains(mac)) {
                    problems.add("the metadata service does not list an interface " + mac);
                    continue;
                }
                try {
                    interfaces.put(mac, facts(mac, deadline));
                } catch (MetadataException e) {
                    problems.add(e.getMessage());
                }
            }
        } catch (MetadataException e) {
            problems.add(e.getMessage());
        }
        return new MetadataReading(primary, interfaces, problems);
    }

    /** All interfaces of the instance; asked again for a moment while some that are wanted are missing. */
    private Set<MacAddress> listed(Set<MacAddress> wanted, Deadline deadline) throws MetadataException {
        String path = "network/interfaces/macs/";
        Deadline moment = deadline.within(patience.missing());
        BackOff pauses = patience.pauses();
        while (true) {
            Set<MacAddress> macs = new LinkedHashSet<>();
            for (String line : answer(path, deadline)
                    .orElse("")
                    .lines()
                    .limit(MAX_INTERFACES)
                    .toList()) {
                if (!line.isBlank()) {
                    macs.add(mac(path, trimmed(line)));
                }
            }
            if (macs.containsAll(wanted) || !pause(pauses.next(), moment)) {
                return macs;
            }
        }
    }

    private InterfaceFacts facts(MacAddress mac, Deadline deadline) throws MetadataException {
        String at = "network/interfaces/macs/" + mac + "/";
        Optional<InetAddress> address = ipv4(at + "primary-ip-address", deadline);
        if (address.isEmpty()) {
            return new InterfaceFacts(mac, Optional.empty(), Optional.empty());
        }
        var own = new IpPrefix(address.get(), prefixLength(at, deadline));
        Optional<InetAddress> gateway = ipv4(at + "gateway", deadline);
        if (gateway.isPresent() && !own.contains(gateway.get())) {
            throw wrong(at + "gateway", gateway.get().getHostAddress(), "in the network of " + own);
        }
        return new InterfaceFacts(mac, Optional.of(own), gateway);
    }

    private int prefixLength(String at, Deadline deadline) throws MetadataException {
        Optional<String> mask = value(at + "netmask", deadline);
        if (mask.isPresent()) {
            return length(at + "netmask", mask.get());
        }
        String block = required(at + "vswitch-cidr-block", deadline);
        try {
            return IpPrefix.parse(block).length();
        } catch (IllegalArgumentException e) {
            throw wrong(at + "vswitch-cidr-block", block, "a network");
        }
    }

    private int length(String path, String mask) throws MetadataException {
        int bits = new BigInteger(1, parsedIpv4(path, mask, "a netmask").getAddress()).intValue();
        int length = Integer.bitCount(bits);
        if (bits != (length == 0 ? 0 : -1 << (Integer.SIZE - length))) {
            throw wrong(path, mask, "a netmask");
        }
        return length;
    }

    private Optional<InetAddress> ipv4(String path, Deadline deadline) throws MetadataException {
        Optional<String> text = value(path, deadline);
        return text.isPresent() ? Optional.of(parsedIpv4(path, text.get(), "an IPv4 address")) : Optional.empty();
    }

    private InetAddress parsedIpv4(String path, String text, String what) throws MetadataException {
        try {
            InetAddress parsed = IpPrefix.address(text);
            if (parsed instanceof Inet4Address) {
                return parsed;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw wrong(path, text, what);
    }

    private MacAddress mac(String path, String text) throws MetadataException {
        try {
            return MacAddress.parse(text);
        } catch (IllegalArgumentException e) {
            throw wrong(path, text, "a MAC address");
        }
    }

    private MetadataException wrong(String path, String text, String what) {
        return new MetadataException("the metadata service at " + host() + " says " + Quote.of(text) + " for " + path
                + ", which is not " + what);
    }

    private String required(String path, Deadline deadline) throws MetadataException {
        return value(path, deadline)
                .orElseThrow(() -> new MetadataException("the metadata service at " + host() + " has no " + path));
    }

    /** The first line of the answer; empty when the service has no such value. */
    private Optional<String> value(String path, Deadline deadline) throws MetadataException {
        return answer(path, deadline)
                .map(body -> trimmed(body.lines().findFirst().orElse("")))
                .filter(text -> !text.isEmpty());
    }

    /** Lists write a slash behind each name. */
    private static String trimmed(String line) {
        return line.strip().replaceFirst("/+$", "");
    }

    private Optional<String> answer(String path, Deadline reading) throws MetadataException {
        Deadline deadline = reading.within(patience.value());
        Deadline moment = deadline.within(patience.missing());
        BackOff pauses = patience.pauses();
        boolean renewed = false;
        while (true) {
            IOException failure;
            boolean missing = false;
            try {
                HttpAnswer answer = ask("GET", VALUES + path, tokenHeader(deadline), deadline);
                switch (answer.status()) {
                    case 200 -> {
                        return Optional.of(answer.body());
                    }
                    case 401 -> {
                        if (renewed) {
                            throw failed(path, "it refuses a new token as well (401)", null);
                        }
                        renewed = true;
                        token = Optional.empty();
                        continue;
                    }
                    case 404 -> missing = true;
                    default -> {
                        if (!worthATry(answer.status())) {
                            throw failed(path, "it answered " + answer.status(), null);
                        }
                    }
                }
                failure = new NotNow(answer.status());
            } catch (MetadataException e) {
                throw e;
            } catch (IOException e) {
                failure = e;
            }
            if (!pause(pauses.next(), missing ? moment : deadline)) {
                if (missing) {
                    return Optional.empty();
                }
                throw failed(path, reason(failure), failure);
            }
        }
    }

    private MetadataException failed(String path, String why, Throwable cause) {
        return new MetadataException(
                "cannot read " + path + " from the metadata service at " + host() + ": " + why, cause);
    }

    private static String reason(IOException e) {
        return e instanceof SocketTimeoutException
                ? "no complete answer in time"
                : Optional.ofNullable(e.getMessage()).orElse(e.toString());
    }

    /** False once the time is up, or the client closed. */
    private boolean pause(Duration time, Deadline deadline) {
        if (deadline.left().compareTo(time) <= 0) {
            return false;
        }
        try {
            return !closed.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private String tokenHeader(Deadline deadline) throws IOException {
        if (token.isEmpty() || token.get().renewal().isOver()) {
            HttpAnswer answer = ask("PUT", TOKEN_PATH, TTL_HEADER + ": " + TOKEN_LIFE.toSeconds() + "\r\n", deadline);
            if (worthATry(answer.status())) {
                throw new NotNow(answer.status());
            }
            // Anything else but a token: a service without token mode, which then answers without one.
            token = Optional.of(new Token(
                    Optional.of(trimmed(answer.body()))
                            .filter(text -> answer.status() == 200 && text.matches("[!-~]{1,4096}")),
                    Deadline.in(TOKEN_LIFE.dividedBy(2))));
        }
        return token.get()
                .value()
                .map(value -> TOKEN_HEADER + ": " + value + "\r\n")
                .orElse("");
    }

    private static boolean worthATry(int status) {
        return status == 429 || status >= 500;
    }

    /** @param header a line with its end, or nothing */
    private HttpAnswer ask(String method, String path, String header, Deadline value) throws IOException {
        Deadline deadline = value.within(patience.request());
        if (deadline.isOver()) {
            throw new SocketTimeoutException("no time left");
        }
        try (Socket socket = new Socket(Proxy.NO_PROXY)) {
            connection = Optional.of(socket);
            // Whoever closes looks at the connection after that, so one of the two sees the other.
            if (closed.getCount() == 0) {
                throw new IOException("the agent stops");
            }
            socket.connect(address, (int) deadline.left().toMillis() + 1);
            String length = method.equals("PUT") ? "Content-Length: 0\r\n" : "";
            String request = method + " " + path + " HTTP/1.1\r\nHost: " + host() + "\r\nConnection: close\r\n" + length
                    + header + "\r\n";
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
            return HttpAnswer.read(socket, deadline);
        } finally {
            connection = Optional.empty();
        }
    }

    private String host() {
        InetAddress host = address.getAddress();
        String text = host instanceof Inet4Address ? host.getHostAddress() : "[" + host.getHostAddress() + "]";
        return address.getPort() == 80 ? text : text + ":" + address.getPort();
    }

    /** Ends a request under way; later ones fail at once. */
    @Override
    public void close() {
        closed.countDown();
        connection.ifPresent(socket -> {
            try {
                socket.close();
            } catch (IOException e) {
                // Only a socket that is closed already fails so.
                return;
            }
        });
    }
}
