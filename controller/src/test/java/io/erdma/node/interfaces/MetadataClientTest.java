package io.erdma.node.interfaces;

import static io.erdma.node.interfaces.FakeMetadata.plain;
import static io.erdma.node.interfaces.FakeMetadata.raw;
import static io.erdma.node.interfaces.FakeMetadata.status;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.MetadataClient.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MetadataClientTest {
    private static final String PUT = "PUT /latest/api/token";
    private static final String GET_ID = "GET /latest/meta-data/instance-id";
    private static final String PRIMARY = "00:16:3e:00:00:01";
    private static final String SECOND = "00:16:3e:00:00:02";
    private static final String THIRD = "00:16:3e:00:00:03";
    private static final String AT_SECOND = "network/interfaces/macs/" + SECOND + "/";

    /** Tries without delay for as long as even a busy machine needs. */
    private static final Patience PATIENT = new Patience(
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Duration.ofSeconds(20),
            Duration.ofSeconds(40),
            Duration.ofMillis(1));

    /** Tries once, since there is no time for the pause before a second try. */
    private static final Patience ONE_TRY = new Patience(
            Duration.ofSeconds(10),
            Duration.ZERO,
            Duration.ofSeconds(20),
            Duration.ofSeconds(40),
            Duration.ofMinutes(5));

    /** Gives up soon: for services that never answer. */
    private static final Patience SHORT = new Patience(
            Duration.ofMillis(60),
            Duration.ofMillis(20),
            Duration.ofMillis(150),
            Duration.ofMillis(400),
            Duration.ofMillis(1));

    private static final Duration FAR_BELOW_FOR_EVER = Duration.ofSeconds(10);

    private FakeMetadata service;

    @BeforeEach
    void start() throws IOException {
        service = FakeMetadata.start()
                .value("instance-id", "i-bp1abc")
                .value("mac", PRIMARY)
                .eni(PRIMARY, "10.9.0.2", "10.9.0.253")
                .eni(SECOND, "10.9.1.3", "10.9.1.253");
    }

    @AfterEach
    void stop() throws IOException {
        service.close();
    }

    private MetadataClient client() {
        return client(PATIENT);
    }

    private MetadataClient client(Patience patience) {
        return new MetadataClient(service.address(), patience);
    }

    private static Set<MacAddress> macs(String... macs) {
        Set<MacAddress> all = new LinkedHashSet<>();
        for (String mac : macs) {
            all.add(MacAddress.parse(mac));
        }
        return all;
    }

    @Test
    void readsWithATokenThatItKeeps() throws IOException {
        MetadataClient client = client();

        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        assertThat(service.requests()).containsExactly(PUT, GET_ID, GET_ID);
    }

    @Test
    void readsWithoutATokenWhereTheServiceGivesNone() throws IOException {
        service.withoutTokens();
        MetadataClient client = client();

        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        assertThat(service.count(PUT)).isOne();
    }

    @Test
    void fetchesOneNewTokenWhenItsOwnIsRefused() throws IOException {
        MetadataClient client = client();
        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        service.forgetTokens();

        assertThat(client.instanceId()).isEqualTo("i-bp1abc");
        assertThat(service.requests()).containsExactly(PUT, GET_ID, GET_ID, PUT, GET_ID);
    }

    @Test
    void doesNotAskForTokenAfterTokenWhenTheServiceRefusesAll() {
        service.next("instance-id", status(401), status(401), status(401), status(401));

        assertThatThrownBy(client()::instanceId)
                .isInstanceOf(MetadataException.class)
                .hasMessage("cannot read instance-id from the metadata service at 127.0.0.1:"
                        + service.address().getPort() + ": it refuses a new token as well (401)");
        assertThat(service.requests()).containsExactly(PUT, GET_ID, PUT, GET_ID);
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 502, 503})
    void triesAgainWhenTheServiceHasNoAnswerNow(int busy) throws IOException {
        service.next("/latest/api/token", status(busy)).next("instance-id", status(busy), status(busy));

        assertThat(client().instanceId()).isEqualTo("i-bp1abc");
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 400, 403})
    void doesNotTryAgainWhereThatCannotHelp(int answer) {
        service.next("instance-id", status(answer));

        assertThatThrownBy(client()::instanceId).hasMessageContaining("it answered " + answer);
        assertThat(service.count(GET_ID)).isOne();
    }

    @Test
    void waitsAMomentForAValueThatIsNotThereYet() throws IOException {
        service.next("instance-id", status(404), status(404));

        assertThat(client().instanceId()).isEqualTo("i-bp1abc");
    }

    @Test
    void saysThatAValueIsMissing() {
        service.without("instance-id");

        assertThatThrownBy(client(ONE_TRY)::instanceId)
                .hasMessage(
                        "the metadata service at 127.0.0.1:" + service.address().getPort() + " has no instance-id");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\n\r\ni-bp1abc\nmore\n",
                "HTTP/1.0 200 OK\n\n  i-bp1abc/ \n",
                "HTTP/1.1 200\r\ncontent-length:8\r\n\r\ni-bp1abcIGNORED",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ni-b\r\n5;x=y\r\np1abc\r\n0\r\n\r\n"
            })
    void readsTheFirstLineHoweverTheServerFramesIt(String answer) throws IOException {
        service.next("instance-id", raw(answer));

        assertThat(client().instanceId()).isEqualTo("i-bp1abc");
    }

    @Test
    void refusesWhatIsNoInstanceId() {
        service.next("instance-id", plain(200, "<html>\u001b[2J sign in</html>"));

        assertThatThrownBy(client()::instanceId)
                .hasMessage(
                        "the metadata service at 127.0.0.1:" + service.address().getPort()
                                + " says \"<html>\\u001b[2J sign in</html>\" for instance-id, which is not an instance id");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP/1.1 200 OK\\r\\nContent-Length: 20\\r\\n\\r\\ni-bp|the answer is cut off",
                "HTTP/1.1 200 OK\\r\\nConte|the answer is cut off",
                "HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n8\\r\\ni-b|the answer is cut off",
                "HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n-8\\r\\n|the answer tells no valid length",
                "HTTP/1.1 200 OK\\r\\nContent-Length: 99999999\\r\\n\\r\\n|the answer is larger than 64 KiB",
                "HTTP/1.1 200 OK\\r\\nContent-Length: x\\r\\n\\r\\n|the answer tells no valid length",
                "SSH-2.0-OpenSSH_9.2\\r\\n|the answer is no HTTP",
                "''|the answer is cut off",
            })
    void triesAgainAfterAnAnswerThatIsNoneAndSaysWhatWasWrong(String answer, String reason) throws IOException {
        String bytes = answer.replace("\\r", "\r").replace("\\n", "\n");
        service.next("instance-id", raw(bytes));
        assertThat(client().instanceId()).isEqualTo("i-bp1abc");

        service.next("instance-id", raw(bytes));
        assertThatThrownBy(client(ONE_TRY)::instanceId).hasMessageContaining(reason);
    }

    @Test
    void endsAnAnswerThatIsTooLarge() {
        FakeMetadata.Answer endless = out -> {
            out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(ISO_8859_1));
            for (int i = 0; i < 100; i++) {
                out.write(new byte[64 * 1024]);
            }
        };
        service.next("instance-id", endless);

        assertThatThrownBy(client(ONE_TRY)::instanceId).hasMessageContaining("the answer is larger than 64 KiB");
    }

    @Test
    void givesUpInTimeOnAServiceThatHangsOrDrips() {
        for (FakeMetadata.Answer answer : List.of(service.hanging(), service.dripping())) {
            service.next("instance-id", answer, answer, answer, answer);
            long before = System.nanoTime();

            assertThatThrownBy(client(SHORT)::instanceId).hasMessageContaining("no complete answer in time");
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(FAR_BELOW_FOR_EVER);
        }
    }

    @Test
    void aReadingAsAWholeEndsInTimeToo() {
        FakeMetadata.Answer[] hanging = {service.hanging(), service.hanging(), service.hanging(), service.hanging()};
        for (String path : List.of("primary-ip-address", "netmask", "gateway")) {
            service.next(AT_SECOND + path, hanging);
        }
        long before = System.nanoTime();

        MetadataReading reading = client(SHORT).read(macs(SECOND));

        assertThat(reading.problems()).isNotEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(FAR_BELOW_FOR_EVER);
    }

    @Test
    void saysThatNobodyAnswers() throws IOException {
        InetSocketAddress nobody;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
        }

        assertThatThrownBy(new MetadataClient(nobody, ONE_TRY)::instanceId)
                .hasMessageContaining(
                        "cannot read instance-id from the metadata service at 127.0.0.1:" + nobody.getPort())
                .hasMessageContaining("refused");
    }

    @Test
    void closingEndsARequestThatHangs() throws Exception {
        service.next("instance-id", service.hanging());
        MetadataClient client = new MetadataClient(
                service.address(),
                new Patience(
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1)));
        CompletableFuture<Void> asking = CompletableFuture.runAsync(
                () -> assertThatThrownBy(client::instanceId).isInstanceOf(MetadataException.class));
        await().until(() -> service.count(GET_ID) == 1);

        client.close();

        asking.get(1, TimeUnit.SECONDS);
        assertThatThrownBy(client::instanceId).hasMessageContaining("the agent stops");
    }

    /** Whatever proxy is set for this JVM, HTTP's or SOCKS; the environment's http_proxy is none of its business. */
    @Test
    void goesThroughNoProxy() throws IOException {
        try (FakeMetadata proxy = FakeMetadata.start()) {
            String port = Integer.toString(proxy.address().getPort());
            List<String> names = List.of("http.proxyHost", "http.proxyPort", "socksProxyHost", "socksProxyPort");
            names.forEach(name -> System.setProperty(name, name.endsWith("Host") ? "127.0.0.1" : port));
            System.setProperty("http.nonProxyHosts", "");
            System.setProperty("socksNonProxyHosts", "");
            try {
                assertThat(client().instanceId()).isEqualTo("i-bp1abc");
                assertThat(proxy.requests()).isEmpty();
            } finally {
                names.forEach(System::clearProperty);
                System.clearProperty("http.nonProxyHosts");
                System.clearProperty("socksNonProxyHosts");
            }
        }
    }

    @Test
    void readsTheFactsOfTheInterfacesAskedFor() {
        MetadataReading reading = client().read(macs(SECOND));

        assertThat(reading.problems()).isEmpty();
        assertThat(reading.primary()).contains(MacAddress.parse(PRIMARY));
        assertThat(reading.interfaces().values())
                .containsExactly(new InterfaceFacts(
                        MacAddress.parse(SECOND),
                        Optional.of(IpPrefix.parse("10.9.1.3/24")),
                        Optional.of(IpPrefix.address("10.9.1.253"))));
    }

    @Test
    void takesThePrefixOfTheVSwitchWhereThereIsNoNetmask() {
        service.without(AT_SECOND + "netmask").value(AT_SECOND + "vswitch-cidr-block", "10.9.0.0/20");

        assertThat(client(ONE_TRY)
                        .read(macs(SECOND))
                        .interfaces()
                        .get(MacAddress.parse(SECOND))
                        .address())
                .contains(IpPrefix.parse("10.9.1.3/20"));
    }

    /** P27, R14. */
    @Test
    void anInterfaceWithoutIpv4IsAnAnswerAndNoProblem() {
        for (String path : List.of("primary-ip-address", "netmask", "vswitch-cidr-block", "gateway")) {
            service.without(AT_SECOND + path);
        }

        MetadataReading reading = client(ONE_TRY).read(macs(SECOND));

        assertThat(reading.problems()).isEmpty();
        assertThat(reading.interfaces().get(MacAddress.parse(SECOND)))
                .isEqualTo(new InterfaceFacts(MacAddress.parse(SECOND), Optional.empty(), Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource({
        "primary-ip-address, 10.9.1, which is not an IPv4 address",
        "primary-ip-address, fd00::1, which is not an IPv4 address",
        "netmask, 255.0.255.0, which is not a netmask",
        "netmask, 24, which is not a netmask",
        "gateway, 192.168.0.1, which is not in the network of 10.9.1.3/24"
    })
    void oneBadInterfaceIsReportedAndTheOthersAreRead(String path, String value, String problem) {
        service.value(AT_SECOND + path, value).eni(THIRD, "10.9.2.3", "10.9.2.253");

        MetadataReading reading = client().read(macs(SECOND, THIRD));

        assertThat(reading.interfaces().keySet()).isEqualTo(macs(THIRD));
        assertThat(reading.problems()).singleElement().asString().contains(AT_SECOND + path, problem);
    }

    @Test
    void reportsAnInterfaceThatTheServiceDoesNotList() {
        MetadataReading reading = client(ONE_TRY).read(macs(SECOND, THIRD));

        assertThat(reading.interfaces().keySet()).isEqualTo(macs(SECOND));
        assertThat(reading.problems()).containsExactly("the metadata service does not list an interface " + THIRD);
    }

    @Test
    void waitsAMomentForAnInterfaceThatWasAttachedJustNow() {
        service.eni(THIRD, "10.9.2.3", "10.9.2.253")
                .next("network/interfaces/macs/", plain(200, PRIMARY + "/\n" + SECOND + "/\n"));

        assertThat(client().read(macs(THIRD)).interfaces().keySet()).isEqualTo(macs(THIRD));
    }
}
