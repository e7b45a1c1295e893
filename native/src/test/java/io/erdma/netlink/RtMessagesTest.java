package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.NodeFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RtMessagesTest {
    private static List<Link> links(String node) throws NetlinkFormatException {
        return Recorded.answer(node, "links.hex", true).kept().stream()
                .flatMap(message -> RtMessages.link(message).stream())
                .toList();
    }

    private static List<LinkChange> recordedChanges() throws NetlinkFormatException {
        return Recorded.messages(Recorded.VETH, "link-changes.hex").stream()
                .flatMap(message -> RtMessages.change(message).stream())
                .toList();
    }

    /** A message of the given type: family, index, flags 0x1003, then attributes. */
    private static NetlinkMessage message(int type, int family, int index, byte[] attributes)
            throws NetlinkFormatException {
        byte[] body = ByteBuffer.allocate(16 + attributes.length)
                .order(ByteOrder.nativeOrder())
                .put(0, (byte) family)
                .putInt(4, index)
                .putInt(8, 0x1003)
                .put(16, attributes)
                .array();
        return NetlinkMessage.split(NetlinkMessage.request(type, 0, 0, body)).get(0);
    }

    @Test
    void readsTheLinksOfARecordedNode() throws NetlinkFormatException {
        assertThat(links(NodeFixture.SOFT_ROCE)).extracting(Link::name).containsExactly("lo", "eth0", "eth1", "eth2");
        assertThat(links(NodeFixture.SOFT_ROCE))
                .contains(new Link(
                        3,
                        "eth1",
                        0x11043,
                        1500,
                        6,
                        Optional.of(true),
                        Optional.of(MacAddress.parse("52:54:00:00:00:02")),
                        Optional.of(MacAddress.parse("52:54:00:00:00:02")),
                        Optional.empty(),
                        Optional.of("virtio2")));
        Link eth0 = links(NodeFixture.SOFT_ROCE).get(1);
        assertThat(eth0.isUp()).isFalse();
        assertThat(eth0.hasCarrier()).isFalse();
    }

    @Test
    void readsKindsAndHardwareAddressesThatAreNoMacAddress() throws NetlinkFormatException {
        List<Link> links = links(Recorded.VETH);
        assertThat(links).extracting(Link::name).containsExactlyInAnyOrder("lo", "v0", "v1", "br0", "ifb7", "tun0");
        assertThat(links).filteredOn(link -> link.name().equals("v0")).first().satisfies(link -> {
            assertThat(link.kind()).contains("veth");
            assertThat(link.hasCarrier()).isTrue();
            assertThat(link.permanentAddress()).isEmpty();
        });
        assertThat(links)
                .filteredOn(link -> link.name().equals("tun0"))
                .first()
                .satisfies(link -> assertThat(link.address()).isEmpty());
    }

    @Test
    void readsRecordedChangesInTheirOrder() throws NetlinkFormatException {
        assertThat(recordedChanges()).hasSize(21);
        assertThat(recordedChanges().get(0)).isInstanceOfSatisfying(LinkChange.Changed.class, change -> {
            assertThat(change.link().name()).isEqualTo("v1");
            assertThat(change.link().isUp()).isFalse();
        });
        assertThat(recordedChanges())
                .filteredOn(LinkChange.Changed.class::isInstance)
                .extracting(change -> ((LinkChange.Changed) change).link().name())
                .contains("renamed");
    }

    @Test
    void takesLeavingABridgeForNoRemoval() throws NetlinkFormatException {
        assertThat(Recorded.messages(Recorded.VETH, "link-changes.hex"))
                .filteredOn(message -> message.type() == RtMessages.DELETE_LINK)
                .hasSize(3);
        assertThat(recordedChanges())
                .filteredOn(LinkChange.Removed.class::isInstance)
                .containsExactly(new LinkChange.Removed(3, "v0"), new LinkChange.Removed(2, "v1"));
    }

    @Test
    void readsWhatIsWrittenByHand() throws NetlinkFormatException {
        // name "erdma0", MTU 8500, operational state 6, carrier 1, permanent address
        byte[] attributes = HexFormat.of()
                .parseHex("0b0003006572646d613000" + "00" + "0800040034210000" + "0500100006000000" + "0500210001000000"
                        + "0a00360000163e0000010000");
        assertThat(RtMessages.link(message(RtMessages.NEW_LINK, 0, 7, attributes)))
                .contains(new Link(
                        7,
                        "erdma0",
                        0x1003,
                        8500,
                        6,
                        Optional.of(true),
                        Optional.empty(),
                        Optional.of(MacAddress.parse("00:16:3e:00:00:01")),
                        Optional.empty(),
                        Optional.empty()));
    }

    @Test
    void skipsLinksThatHaveNoNameOrNoIndex() throws NetlinkFormatException {
        byte[] name = HexFormat.of().parseHex("0700030061620000");
        assertThat(RtMessages.link(message(RtMessages.NEW_LINK, 0, 7, new byte[0])))
                .isEmpty();
        assertThat(RtMessages.link(message(RtMessages.NEW_LINK, 0, 0, name))).isEmpty();
        assertThat(RtMessages.link(message(RtMessages.NEW_LINK, 0, 7, name))).isPresent();
        assertThat(RtMessages.link(message(RtMessages.DELETE_LINK, 0, 7, name))).isEmpty();
        assertThat(RtMessages.change(message(RtMessages.DELETE_LINK, 7, 7, name)))
                .isEmpty();
    }

    @Test
    void keepsWhatCameBeforeADamagedAttribute() throws NetlinkFormatException {
        for (String damage : List.of("0000", "03000100", "ffff0100", "0900040034210000", "05")) {
            byte[] attributes = HexFormat.of().parseHex("0700030061620000" + damage);
            Optional<Link> link = RtMessages.link(message(RtMessages.NEW_LINK, 0, 7, attributes));
            assertThat(link).as(damage).isPresent();
            assertThat(link.get().name()).isEqualTo("ab");
            assertThat(link.get().mtu()).isZero();
        }
    }

    @Test
    void reportsAnOverrunAsLost() throws NetlinkFormatException {
        assertThat(RtMessages.change(message(NetlinkMessage.OVERRUN, 0, 0, new byte[0])))
                .contains(new LinkChange.Lost());
    }

    @Test
    void asksForAllLinksWithoutTheirStatistics() {
        assertThat(HexFormat.of().formatHex(RtMessages.allLinks())).isEqualTo("00".repeat(16) + "08001d0008000000");
    }
}
