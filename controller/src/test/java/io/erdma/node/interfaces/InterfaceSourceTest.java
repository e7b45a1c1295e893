package io.erdma.node.interfaces;

import static io.erdma.node.interfaces.Devices.device;
import static io.erdma.node.interfaces.Devices.erdma;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaDevice;
import io.erdma.health.DeviceChoice;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.MetadataClient.Patience;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ErdmaDeviceWatch.Pace;
import io.erdma.node.kube.FakeApiServer;
import io.erdma.node.net.WantedInterface;
import io.erdma.node.net.WantedInterfaces;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class InterfaceSourceTest {
    private static final String PRIMARY = "00:16:3e:00:00:01";
    private static final String SECOND = "00:16:3e:00:00:02";
    private static final RdmaDevice ERDMA_0 = erdma("erdma_0", PRIMARY);
    private static final RdmaDevice ERDMA_1 = erdma("erdma_1", SECOND);
    private static final Duration SOON = Duration.ofSeconds(30);

    private static final Patience PATIENCE = new Patience(
            Duration.ofSeconds(10),
            Duration.ZERO,
            Duration.ofSeconds(20),
            Duration.ofSeconds(40),
            Duration.ofMillis(1));
    private static final Pace PACE = new Pace(Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMinutes(4));

    @TempDir
    private Path directory;

    /** What the listener heard, in order. */
    private record Told(WantedInterfaces wanted, DeviceChoice choice) {}

    private final List<Told> told = new CopyOnWriteArrayList<>();
    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final Logger logger = Logger.getLogger("io.erdma.node.interfaces");
    private final Handler recorder = new Handler() {
        @Override
        public void publish(LogRecord record) {
            if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
                warnings.add(record.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private FakeMetadata metadata;
    private FakeApiServer api;
    private Optional<InterfaceSource> source = Optional.empty();

    @BeforeEach
    void start() throws IOException {
        logger.addHandler(recorder);
        api = FakeApiServer.start();
        metadata = FakeMetadata.start()
                .value("instance-id", "i-a")
                .value("mac", PRIMARY)
                .eni(PRIMARY, "10.9.0.2", "10.9.0.253")
                .eni(SECOND, "10.9.1.3", "10.9.1.253");
    }

    @AfterEach
    void stop() throws IOException {
        source.ifPresent(InterfaceSource::close);
        api.close();
        metadata.close();
        logger.removeHandler(recorder);
    }

    private InterfaceSettings local(String rules) {
        return new InterfaceSettings(true, ExposedRules.parse(rules), "node-a", metadata.address(), 8500, false);
    }

    private InterfaceSettings byObject() {
        return new InterfaceSettings(false, ExposedRules.NONE, "node-a", metadata.address(), 8500, false);
    }

    private InterfaceSource run(InterfaceSettings settings, Optional<ClusterAccess> cluster) {
        source = Optional.of(new InterfaceSource(settings, cluster, PATIENCE, PACE));
        source.get().start((wanted, choice) -> told.add(new Told(wanted, choice)));
        return source.get();
    }

    private void find(RdmaDevice... devices) {
        source.orElseThrow()
                .advertise(
                        new AdvertisedDevices(
                                Stream.of(devices)
                                        .map(device -> new AdvertisedDevices.Entry(
                                                device, new DeviceHealth.Unhealthy("its link is down", Instant.EPOCH)))
                                        .toList(),
                                Optional.empty()),
                        System.nanoTime());
    }

    private Optional<ClusterAccess> cluster() throws IOException {
        return Optional.of(api.access(directory));
    }

    private List<String> offered(RdmaDevice... devices) {
        DeviceChoice choice = told.getLast().choice();
        return List.of(devices).stream()
                .filter(device -> choice.whyNot(device).isEmpty())
                .map(RdmaDevice::name)
                .toList();
    }

    private List<String> offered() {
        return offered(ERDMA_0, ERDMA_1);
    }

    private List<MacAddress> wanted() {
        return told.getLast().wanted().secondary().stream()
                .map(WantedInterface::mac)
                .toList();
    }

    private static String object(String state, String... macs) {
        StringBuilder devices = new StringBuilder();
        StringBuilder states = new StringBuilder();
        for (String mac : macs) {
            String comma = devices.isEmpty() ? "" : ",";
            String id = "eni-" + mac.substring(mac.length() - 1);
            devices.append("%s{\"id\":\"%s\",\"mac\":\"%s\",\"isPrimaryENI\":%s,\"networkCardIndex\":1}"
                    .formatted(comma, id, mac, mac.equals(PRIMARY)));
            states.append("%s{\"id\":\"%s\",\"status\":\"%s\"}".formatted(comma, id, state));
        }
        return "\"spec\":{\"jumboFrame\":true,\"devices\":[%s]},\"status\":{\"devices\":[%s]}"
                .formatted(devices, states);
    }

    // ---- local discovery

    /** When a part that is opened after it fails, the agent closes it without having started it. */
    @Test
    void closesAlsoBeforeItWasStarted() {
        assertThatCode(() -> new InterfaceSource(byObject(), Optional.empty(), PATIENCE, PACE).close())
                .doesNotThrowAnyException();
    }

    @Test
    void withoutRulesAllIsOfferedBeforeAnybodyHasBeenAsked() {
        InterfaceSource running = run(local(""), Optional.empty());

        assertThat(told.getFirst().choice().whyNot(ERDMA_1)).isEmpty();
        assertThat(running.awaitDecision(Duration.ZERO)).isTrue();
    }

    @Test
    void asksNobodyWhileThereIsNoInterfaceToLookAfter() throws IOException {
        InterfaceSource running = run(local("i-* erdma_0/odd"), cluster());
        find(ERDMA_1, device("odd").guid("0001:0203:0405:0607").build());

        await().atMost(SOON)
                .until(() -> running.status()
                        .problems()
                        .equals(List.of("odd: its MAC address is not known, so its interface is left as it is")));
        assertThat(metadata.requests()).isEmpty();
        assertThat(api.requests()).isEmpty();
    }

    /** P04, R09. */
    @Test
    void looksAfterInterfacesOfDevicesThatTheDriverBringsLater() {
        run(local(""), Optional.empty());
        find(ERDMA_0, ERDMA_1);

        await().atMost(SOON).until(() -> !wanted().isEmpty());
        assertThat(told.getLast().wanted())
                .isEqualTo(new WantedInterfaces(
                        Optional.of(MacAddress.parse(PRIMARY)),
                        List.of(new WantedInterface(
                                MacAddress.parse(SECOND),
                                OptionalInt.empty(),
                                Optional.of(IpPrefix.parse("10.9.1.3/24")),
                                Optional.of(IpPrefix.address("10.9.1.253")),
                                OptionalInt.empty()))));
    }

    @Test
    void changesTheMtuOfLocalInterfacesOnlyWhenItWasGiven() {
        run(new InterfaceSettings(true, ExposedRules.NONE, "node-a", metadata.address(), 8500, true), Optional.empty());
        find(ERDMA_1);

        await().atMost(SOON).until(() -> !wanted().isEmpty());
        assertThat(told.getLast().wanted().secondary().getFirst().mtu()).hasValue(8500);
    }

    @Test
    void asksTheNodeObjectWhichInstanceItIs() throws IOException {
        api.node("cn-hangzhou.i-b");
        InterfaceSource running = run(local("i-b erdma_1,i-* erdma_0"), cluster());

        assertThat(told.getFirst().choice().whyNot(ERDMA_0)).isPresent();
        assertThat(running.awaitDecision(SOON)).isTrue();
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_1")));
        assertThat(metadata.count("GET /latest/meta-data/instance-id")).isZero();
        await().atMost(SOON)
                .until(() ->
                        running.status().source().equals("local discovery on i-b, by the Node object's providerID"));
    }

    @Test
    void asksTheMetadataServiceWhereTheClusterDoesNotTell() throws IOException {
        api.fail(403);
        InterfaceSource running = run(local("i-a erdma_1,i-* erdma_0"), cluster());

        assertThat(running.awaitDecision(SOON)).isTrue();
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_1")));
    }

    @Test
    void offersNothingWhileNobodyTellsTheInstanceAndGoesOnAsking() throws IOException {
        metadata.without("instance-id");
        run(local("i-a erdma_1,i-* erdma_0"), cluster());

        await().atMost(SOON)
                .until(() -> told.getLast()
                        .choice()
                        .whyNot(ERDMA_0)
                        .filter(why ->
                                why.contains("there is no Node object node-a") && why.contains("has no instance-id"))
                        .isPresent());
        metadata.value("instance-id", "i-a");
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_1")));
    }

    @Test
    void aMetadataServiceThatHangsDelaysNoDecision() {
        metadata.next("mac", metadata.hanging());
        InterfaceSource running = run(local("i-* erdma_1"), Optional.empty());
        find(ERDMA_1);

        assertThat(running.awaitDecision(Duration.ZERO)).isTrue();
        assertThat(offered()).containsExactly("erdma_1");
        await().atMost(SOON).until(() -> metadata.count("GET /latest/meta-data/mac") == 1);
        assertClosesSoon(running);
    }

    @Test
    void reportsOneBadInterfaceAndGoesOnWithTheOthers() {
        RdmaDevice unlisted = erdma("erdma_2", "00:16:3e:00:00:09");
        InterfaceSource running = run(local(""), Optional.empty());
        find(ERDMA_1, unlisted);

        await().atMost(SOON).until(() -> wanted().equals(List.of(MacAddress.parse(SECOND))));
        await().atMost(SOON)
                .until(() -> running.status()
                        .problems()
                        .equals(List.of("the metadata service does not list an interface 00:16:3e:00:00:09")));
        assertThat(offered(ERDMA_1, unlisted)).containsExactly("erdma_1", "erdma_2");
    }

    // ---- the node's object

    @Test
    void offersNothingUntilTheObjectIsCompleteThenWhatItNames() throws IOException {
        InterfaceSource running = run(byObject(), cluster());
        assertThat(offered()).isEmpty();

        assertThat(running.awaitDecision(SOON)).isTrue();
        api.put(object("Pending", PRIMARY, SECOND));
        await().atMost(SOON)
                .until(() -> told.getLast()
                        .choice()
                        .whyNot(ERDMA_1)
                        .equals(Optional.of("ERdmaDevice node-a is not complete: eni-1 is Pending; eni-2 is Pending")));
        api.put(object("Ready", PRIMARY, SECOND));
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_0", "erdma_1")) && !wanted().isEmpty());

        assertThat(told.getLast().wanted())
                .isEqualTo(new WantedInterfaces(
                        Optional.of(MacAddress.parse(PRIMARY)),
                        List.of(new WantedInterface(
                                MacAddress.parse(SECOND),
                                OptionalInt.of(1),
                                Optional.of(IpPrefix.parse("10.9.1.3/24")),
                                Optional.of(IpPrefix.address("10.9.1.253")),
                                OptionalInt.of(8500)))));
    }

    @Test
    void followsLaterChangesAndSaysLoudlyThatTheObjectWasDeleted() throws IOException {
        api.put(object("Ready", PRIMARY, SECOND));
        run(byObject(), cluster());
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_0", "erdma_1")));

        api.put(object("Ready", SECOND));
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_1")));
        api.delete();
        await().atMost(SOON).until(() -> offered().isEmpty() && wanted().isEmpty());

        assertThat(warnings)
                .contains("the ERdmaDevice object of this node was deleted: its devices are offered no longer; running"
                        + " pods keep what they have");
        assertThat(told.getLast().choice().whyNot(ERDMA_1))
                .contains("there is no ERdmaDevice object node-a; a controller or a person has to write it, or use"
                        + " --local-eri-discovery");
    }

    @Test
    void keepsOfferingWhileTheApiFailsAndSaysSoOnce() throws IOException {
        api.put(object("Ready", SECOND));
        InterfaceSource running = run(byObject(), cluster());
        await().atMost(SOON).until(() -> !wanted().isEmpty());
        int before = told.size();
        String problem = "cannot read the ERdmaDevice object node-a: the API server answered 500";

        api.fail(500);
        api.endWatches();
        int asked = api.requests().size();
        await().atMost(SOON).until(() -> api.requests().size() > asked + 3);

        assertThat(running.status().problems()).containsExactly(problem);
        assertThat(warnings.stream().filter(problem::equals)).hasSize(1);
        assertThat(told).hasSize(before);
        api.fail(0);
        await().atMost(SOON).until(() -> running.status().problems().isEmpty());
        assertThat(told).hasSize(before);
    }

    /**
     * Where nobody knows which devices are ours, none is offered, and the kubelet hears so rather than nothing: the plugin
     * is there and ready. Pods that run keep what they have.
     */
    @Test
    void offersNothingWhileTheApiIsDownFromTheStartAndWhatTheObjectNamesOnceItAnswers() throws IOException {
        api.put(object("Ready", SECOND));
        api.fail(503);
        InterfaceSource running = run(byObject(), cluster());
        assertThat(running.awaitDecision(Duration.ofMillis(100))).isFalse();
        await().atMost(SOON)
                .until(() -> told.getLast().choice().whyNot(ERDMA_1).orElse("").contains("answered 503"));
        assertThat(offered()).isEmpty();

        api.fail(0);
        assertThat(running.awaitDecision(SOON)).isTrue();
        await().atMost(SOON).until(() -> offered().equals(List.of("erdma_1")));
    }

    /** Whatever the object and the metadata service say, the primary interface is nobody's to touch. */
    @Test
    void neverLooksAfterThePrimaryInterfaceThatAnObjectTakesForAnother() throws IOException {
        api.put(object("Ready", SECOND, PRIMARY));
        run(byObject(), cluster());

        await().atMost(SOON).until(() -> !wanted().isEmpty());
        assertThat(told.getLast().wanted().primary()).contains(MacAddress.parse(PRIMARY));
        assertThat(told.getLast().wanted().secondary())
                .extracting(WantedInterface::mac)
                .doesNotContain(MacAddress.parse(PRIMARY));
    }

    @Test
    void saysWhatIsMissingWithoutAccessToTheCluster() {
        InterfaceSource running = run(byObject(), Optional.empty());

        assertThat(running.awaitDecision(Duration.ZERO)).isTrue();
        assertThat(warnings)
                .containsExactly("devices to offer: none: no access to the cluster's API, where the ERdmaDevice object"
                        + " node-a is; give the agent's pod a service account, or use --local-eri-discovery");
    }

    @Test
    void saysThatTheCredentialsCannotBeUsed() {
        run(byObject(), Optional.of(new ClusterAccess.Kubeconfig(directory.resolve("nowhere"))));

        await().atMost(SOON)
                .until(() -> told.getLast()
                        .choice()
                        .whyNot(ERDMA_1)
                        .filter(why -> why.startsWith("the ERdmaDevice object node-a could not be read yet: cannot use"
                                + " the credentials for the cluster's API: cannot read the file "))
                        .isPresent());
    }

    @Test
    void closesWithinASecondWhileTheApiHangs() throws IOException {
        api.hang();
        InterfaceSource running = run(byObject(), cluster());
        await().atMost(SOON).until(() -> !api.requests().isEmpty());

        assertThat(running.awaitDecision(Duration.ofMillis(10))).isFalse();
        assertClosesSoon(running);
    }

    private static void assertClosesSoon(InterfaceSource running) {
        running.close();

        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("erdma-interfaces");
    }
}
