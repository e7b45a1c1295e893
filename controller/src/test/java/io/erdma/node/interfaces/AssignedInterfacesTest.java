package io.erdma.node.interfaces;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.cluster.crd.ErdmaDeviceSpec;
import io.erdma.cluster.crd.ErdmaDeviceStatus;
import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.OfferedDevices.ByMacs;
import io.erdma.node.interfaces.OfferedDevices.Nothing;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class AssignedInterfacesTest {
    private static final String ONE = "00:16:3e:00:00:01";
    private static final String TWO = "00:16:3e:00:00:02";
    private static final Set<MacAddress> NEVER = Set.of();

    private static ErdmaDeviceSpec.Device device(String id, String mac) {
        return new ErdmaDeviceSpec.Device("i-a", mac, false, id, 0, 1, Map.of());
    }

    private static Optional<ErdmaDeviceSpec> spec(ErdmaDeviceSpec.Device... devices) {
        return Optional.of(new ErdmaDeviceSpec(List.of(devices), false, Map.of()));
    }

    /** @param states id, status, message, id … */
    private static Optional<ErdmaDeviceStatus> status(String... states) {
        List<ErdmaDeviceStatus.Device> devices = new ArrayList<>();
        for (int i = 0; i < states.length; i += 3) {
            devices.add(new ErdmaDeviceStatus.Device(states[i], states[i + 1], states[i + 2], Map.of()));
        }
        return Optional.of(new ErdmaDeviceStatus(devices, Map.of()));
    }

    private static ByMacs only(String... macs) {
        return new ByMacs(Set.copyOf(Stream.of(macs).map(MacAddress::parse).toList()));
    }

    private static AssignedInterfaces read(
            Optional<ErdmaDeviceSpec> spec, Optional<ErdmaDeviceStatus> status, Set<MacAddress> before) {
        return AssignedInterfaces.of("node-a", spec, status, before);
    }

    @Test
    void leavesOutAMacThatTwoDevicesHaveAndThoseOfNoCard() {
        AssignedInterfaces read = read(
                spec(
                        device("eni-1", ONE),
                        device("eni-2", ONE.toUpperCase(Locale.ROOT)),
                        device("eni-3", "00:00:00:00:00:00"),
                        device("eni-4", "ff:ff:ff:ff:ff:ff"),
                        device("eni-5", "01:00:5e:00:00:01"),
                        device("eni-6", TWO)),
                Optional.empty(),
                NEVER);

        assertThat(read.offered()).isEqualTo(only(ONE, TWO));
        assertThat(read.interfaces()).extracting(Candidate::name).containsExactly("eni-1", "eni-6");
        assertThat(read.problems())
                .hasSize(4)
                .contains("ERdmaDevice node-a: eni-2 has the MAC address " + ONE + " of eni-1 as well; it is left out");
    }

    @Test
    void readsNoMoreDevicesThanAnInstanceCanHave() {
        ErdmaDeviceSpec.Device[] devices = IntStream.range(0, 20_000)
                .mapToObj(i -> device("eni-" + i, "00:16:3e:00:%02x:%02x".formatted(i >> 8 & 255, i & 255)))
                .toArray(ErdmaDeviceSpec.Device[]::new);
        AssignedInterfaces read = read(spec(devices), Optional.empty(), NEVER);

        assertThat(read.interfaces()).hasSize(64);
        assertThat(read.problems()).singleElement().asString().contains("it names 20000 devices");
    }

    @Test
    void knowsHowManyQueuePairsAnInterfaceMayHaveWhereTheObjectTells() {
        AssignedInterfaces read = read(
                Optional.of(new ErdmaDeviceSpec(
                        List.of(
                                new ErdmaDeviceSpec.Device("i-a", ONE, false, "eni-1", 0, 1024, Map.of()),
                                new ErdmaDeviceSpec.Device("i-a", TWO, false, "eni-2", 1, 0, Map.of())),
                        false,
                        Map.of())),
                Optional.empty(),
                NEVER);

        assertThat(read.queuePairs()).isEqualTo(Map.of(MacAddress.parse(ONE), 1024));
    }

    @Test
    void offersWhatTheObjectNamesOnceAllIsReady() {
        AssignedInterfaces read = read(
                spec(device("eni-1", ONE), device("eni-2", TWO)),
                status("eni-1", "Ready", "", "eni-2", "Ready", ""),
                NEVER);

        assertThat(read.offered()).isEqualTo(only(ONE, TWO));
        assertThat(read.problems()).isEmpty();
        assertThat(read.interfaces())
                .containsExactly(
                        new Candidate(MacAddress.parse(ONE), "eni-1", OptionalInt.of(0)),
                        new Candidate(MacAddress.parse(TWO), "eni-2", OptionalInt.of(0)));
    }

    @Test
    void takesAnObjectWithoutStatusAsComplete() {
        assertThat(read(spec(device("eni-1", ONE)), Optional.empty(), NEVER).offered())
                .isEqualTo(only(ONE));
        assertThat(read(spec(device("eni-1", ONE), device("eni-2", TWO)), status("eni-1", "Ready", ""), NEVER)
                        .offered())
                .isEqualTo(only(ONE, TWO));
    }

    @Test
    void offersNothingBeforeItIsCompleteAndSaysWhatIsMissing() {
        AssignedInterfaces read = read(
                spec(device("eni-1", ONE), device("eni-2", ""), device("eni-3", TWO), device("", " ")),
                status("eni-1", "Ready", "", "eni-3", "Pending", "attaching"),
                NEVER);

        assertThat(read.offered())
                .isEqualTo(new Nothing("ERdmaDevice node-a is not complete: eni-2 has no MAC address yet;"
                        + " eni-3 is Pending, \"attaching\"; a device without id on network card 0 has no MAC address"
                        + " yet"));
        assertThat(read.interfaces()).isEmpty();
    }

    @Test
    void offersNothingWhileItNamesNoDevice() {
        Nothing nothing = new Nothing("ERdmaDevice node-a names no device that could be offered");

        assertThat(read(Optional.empty(), Optional.empty(), NEVER).offered()).isEqualTo(nothing);
        assertThat(read(spec(), status(), only(ONE).macs()).offered()).isEqualTo(nothing);
    }

    @Test
    void goesOnWithoutTheDeviceThatTheControllerGaveUp() {
        AssignedInterfaces read = read(
                spec(device("eni-1", ONE), device("eni-2", TWO)),
                status("eni-1", "Failed", "quota\nexceeded", "eni-2", "Ready", ""),
                NEVER);

        assertThat(read.offered()).isEqualTo(only(TWO));
        assertThat(read.problems()).containsExactly("ERdmaDevice node-a: eni-1 is Failed, \"quota\\u000aexceeded\"");
    }

    @Test
    void goesOnWithoutAnEntryWhoseMacIsNone() {
        AssignedInterfaces read = read(spec(device("eni-1", "00:16:3e"), device("eni-2", TWO)), status(), NEVER);

        assertThat(read.offered()).isEqualTo(only(TWO));
        assertThat(read.problems())
                .containsExactly("ERdmaDevice node-a: eni-1 has the MAC address \"00:16:3e\", which is none");
    }

    @Test
    void takesBackNothingThatTheObjectStillNames() {
        AssignedInterfaces read = read(
                spec(device("eni-1", ONE), device("eni-2", TWO)),
                status("eni-1", "Pending", "", "eni-2", "Pending", ""),
                only(ONE).macs());

        assertThat(read.offered()).isEqualTo(only(ONE));
        assertThat(read.problems()).containsExactly("ERdmaDevice node-a: eni-2 is Pending");
    }

    @Test
    void takesBackWhatTheObjectNamesNoMore() {
        assertThat(read(spec(device("eni-2", TWO)), status(), only(ONE, TWO).macs())
                        .offered())
                .isEqualTo(only(TWO));
    }

    /** P47. */
    @Test
    void readsAMacInAnyCase() {
        assertThat(read(spec(device("eni-1", "00-16-3E-00-00-01"), device("eni-1", ONE)), status(), NEVER)
                        .interfaces())
                .singleElement()
                .extracting(Candidate::mac)
                .isEqualTo(MacAddress.parse(ONE));
    }

    @Test
    void knowsThePrimaryInterfaceAndJumboFramesAndCards() {
        var primary = new ErdmaDeviceSpec.Device("i-a", ONE, true, "eni-1", 0, 1, Map.of());
        var other = new ErdmaDeviceSpec.Device("i-a", TWO, false, "eni-2", 1, 1, Map.of());
        AssignedInterfaces read =
                read(Optional.of(new ErdmaDeviceSpec(List.of(primary, other), true, Map.of())), status(), NEVER);

        assertThat(read.primary()).contains(MacAddress.parse(ONE));
        assertThat(read.jumboFrame()).isTrue();
        assertThat(read.offered()).isEqualTo(only(ONE, TWO));
        assertThat(read.interfaces())
                .extracting(Candidate::cardIndex)
                .containsExactly(OptionalInt.of(0), OptionalInt.of(1));
    }

    @Provide
    Arbitrary<List<ErdmaDeviceSpec.Device>> devices() {
        return Combinators.combine(
                        Arbitraries.of("eni-1", "eni-2", "", "\u0000"),
                        Arbitraries.of(ONE, TWO, "", "x", ONE.replace("e", "E")),
                        Arbitraries.of(true, false),
                        Arbitraries.integers().between(-1, 2))
                .as((id, mac, primary, card) -> new ErdmaDeviceSpec.Device("i-a", mac, primary, id, card, 1, Map.of()))
                .list()
                .ofMaxSize(5);
    }

    @Property
    void neverOffersWhatTheObjectDoesNotNameAndNeverTakesBackWhatItDoes(
            @ForAll("devices") List<ErdmaDeviceSpec.Device> devices,
            @ForAll("states") List<String> states,
            @ForAll("macs") Set<MacAddress> before) {
        String[] words = Stream.of("eni-1", "eni-2")
                .flatMap(id -> Stream.of(id, states.get(id.equals("eni-1") ? 0 : 1), ""))
                .toArray(String[]::new);
        AssignedInterfaces read = read(spec(devices.toArray(ErdmaDeviceSpec.Device[]::new)), status(words), before);

        Set<MacAddress> named = Set.copyOf(devices.stream()
                .map(ErdmaDeviceSpec.Device::mac)
                .filter(mac -> mac.length() > 1)
                .map(MacAddress::parse)
                .toList());
        assertThat(named).containsAll(read.macs());
        assertThat(read.macs())
                .containsAll(before.stream().filter(named::contains).toList());
        assertThat(read.problems()).allMatch(problem -> problem.matches("[ -~]+"));
        assertThat(read.offered() instanceof ByMacs).isEqualTo(!read.macs().isEmpty());
    }

    @Provide
    Arbitrary<List<String>> states() {
        return Arbitraries.of("", "Ready", "Pending", "Failed", "later").list().ofSize(2);
    }

    @Provide
    Arbitrary<Set<MacAddress>> macs() {
        return Arbitraries.of(MacAddress.parse(ONE), MacAddress.parse(TWO)).set();
    }
}
