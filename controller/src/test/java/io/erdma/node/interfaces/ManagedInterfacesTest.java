package io.erdma.node.interfaces;

import static io.erdma.node.interfaces.Devices.device;
import static io.erdma.node.interfaces.Devices.erdma;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.RdmaDevice;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.MacAddress;
import io.erdma.node.net.WantedInterface;
import io.erdma.node.net.WantedInterfaces;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ManagedInterfacesTest {
    private static final MacAddress PRIMARY = MacAddress.parse("00:16:3e:00:00:01");
    private static final MacAddress SECOND = MacAddress.parse("00:16:3e:00:00:02");
    private static final MacAddress THIRD = MacAddress.parse("00:16:3e:00:00:03");
    private static final InterfaceFacts SECOND_FACTS = new InterfaceFacts(
            SECOND, Optional.of(IpPrefix.parse("10.9.1.3/24")), Optional.of(IpPrefix.address("10.9.1.253")));
    private static final InterfaceFacts WITHOUT_IPV4 = new InterfaceFacts(THIRD, Optional.empty(), Optional.empty());
    private static final MetadataReading TOLD = new MetadataReading(
            Optional.of(PRIMARY),
            Map.of(
                    SECOND,
                    SECOND_FACTS,
                    THIRD,
                    WITHOUT_IPV4,
                    PRIMARY,
                    new InterfaceFacts(PRIMARY, Optional.empty(), Optional.empty())),
            List.of());

    private static Candidate candidate(MacAddress mac, int card) {
        return new Candidate(mac, "eni-" + card, OptionalInt.of(card));
    }

    private static WantedInterface secondWith(OptionalInt card, OptionalInt mtu) {
        return new WantedInterface(SECOND, card, SECOND_FACTS.address(), SECOND_FACTS.gateway(), mtu);
    }

    @Test
    void looksAfterEachCandidateButThePrimary() {
        ManagedInterfaces managed = ManagedInterfaces.of(
                List.of(candidate(PRIMARY, 0), candidate(SECOND, 1)), Optional.empty(), TOLD, OptionalInt.of(8500));

        assertThat(managed.wanted())
                .isEqualTo(new WantedInterfaces(
                        Optional.of(PRIMARY), List.of(secondWith(OptionalInt.of(1), OptionalInt.of(8500)))));
        assertThat(managed.problems()).isEmpty();
    }

    /** P27, R14. */
    @Test
    void anInterfaceWithoutIpv4IsBroughtUpWithoutAnAddress() {
        assertThat(ManagedInterfaces.of(List.of(candidate(THIRD, 1)), Optional.empty(), TOLD, OptionalInt.empty())
                        .wanted()
                        .secondary())
                .containsExactly(new WantedInterface(
                        THIRD, OptionalInt.of(1), Optional.empty(), Optional.empty(), OptionalInt.empty()));
    }

    @Test
    void leavesAloneWhatTheMetadataServiceToldNothingOf() {
        MetadataReading silent = new MetadataReading(Optional.empty(), Map.of(), List.of("nobody answers"));

        assertThat(ManagedInterfaces.of(
                                List.of(candidate(SECOND, 1)), Optional.of(PRIMARY), silent, OptionalInt.empty())
                        .wanted())
                .isEqualTo(new WantedInterfaces(Optional.of(PRIMARY), List.of()));
    }

    @Test
    void whenTheSourcesDisagreeAboutThePrimaryNeitherIsTouched() {
        ManagedInterfaces managed = ManagedInterfaces.of(
                List.of(candidate(PRIMARY, 0), candidate(SECOND, 1), candidate(THIRD, 2)),
                Optional.of(SECOND),
                TOLD,
                OptionalInt.empty());

        assertThat(managed.wanted().primary()).contains(PRIMARY);
        assertThat(managed.wanted().secondary())
                .extracting(WantedInterface::mac)
                .containsExactly(THIRD);
        assertThat(managed.problems())
                .containsExactly("eni-1: called the primary interface, which is 00:16:3e:00:00:01 and not"
                        + " 00:16:3e:00:00:02; it is left as it is");
    }

    @Test
    void localDiscoveryLooksAfterTheInterfacesOfOfferedDevices() {
        List<RdmaDevice> found = List.of(
                erdma("erdma_0", PRIMARY.toString()),
                erdma("erdma_1", SECOND.toString()),
                device("odd").guid("0001:0203:0405:0607").build());
        OfferedDevices rules = OfferedDevices.byRules(
                ExposedRules.parse("i-* erdma_1/odd"), new InstanceIdentity.Unknown("not asked"));

        List<Candidate> candidates = LocalDiscovery.candidates(found, rules);

        assertThat(candidates).containsExactly(new Candidate(SECOND, "erdma_1", OptionalInt.empty()));
        assertThat(LocalDiscovery.problems(found, rules))
                .containsExactly("odd: its MAC address is not known, so its interface is left as it is");
    }

    @Test
    void findsTheInterfaceByThePermanentAddressWhateverItHasNow() {
        RdmaDevice moved = device("erdma_1")
                .guid("0216:3eff:fe00:0002")
                .mac("02:00:00:00:00:09")
                .build();

        assertThat(LocalDiscovery.candidates(List.of(moved), new OfferedDevices.Everything()))
                .extracting(Candidate::mac)
                .containsExactly(SECOND);
    }
}
