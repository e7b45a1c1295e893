package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.libc.Errno;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RdmaMessagesTest {
    private static List<NetlinkMessage> dump(String file) throws NetlinkFormatException {
        return Recorded.answer(NodeFixture.SOFT_ROCE, file, true).kept();
    }

    private static NetlinkMessage single(String file) throws NetlinkFormatException {
        return Recorded.answer(NodeFixture.SOFT_ROCE, file, false).kept().get(0);
    }

    private static NetlinkMessage byHand(String attributes) throws NetlinkFormatException {
        return NetlinkMessage.split(NetlinkMessage.request(
                        RdmaMessages.GET_DEVICES, 0, 1, HexFormat.of().parseHex(attributes)))
                .get(0);
    }

    @Test
    void readsTheRecordedDevices() throws NetlinkFormatException {
        assertThat(dump("rdma-devices.hex"))
                .flatMap(message -> RdmaMessages.device(message).stream().toList())
                .containsExactly(
                        new RdmaLink(0, "erdma_0", 1, new NodeGuid(0x505400fffe000002L), NodeType.CA, "", "roce"),
                        new RdmaLink(1, "erdma_1", 1, new NodeGuid(0x505400fffe000003L), NodeType.CA, "", "roce"));
    }

    @Test
    void readsTheSamePortFromADumpAndFromASingleAnswerOfAnotherType() throws NetlinkFormatException {
        var port = new RdmaPort(0, 1, PortState.ACTIVE, 5, OptionalInt.of(3), Optional.of("eth1"));
        assertThat(dump("rdma-ports-0.hex"))
                .flatMap(message -> RdmaMessages.port(message).stream().toList())
                .containsExactly(port);
        NetlinkMessage single = single("rdma-port1-0.hex");
        assertThat(single.type()).isNotEqualTo(RdmaMessages.GET_PORTS);
        assertThat(RdmaMessages.port(single)).contains(port);
    }

    @Test
    void readsTheRecordedUverbsNodes() throws NetlinkFormatException {
        assertThat(RdmaMessages.characterDevice(single("rdma-chardev-0.hex")))
                .contains(new RdmaCharacterDevice("uverbs0", 14, 231, 192, 2));
        assertThat(RdmaMessages.characterDevice(single("rdma-chardev-1.hex")))
                .contains(new RdmaCharacterDevice("uverbs1", 14, 231, 193, 2));
    }

    @Test
    void readsBothRecordedNamespaceModes() throws NetlinkFormatException {
        assertThat(RdmaMessages.netnsMode(List.of(single("rdma-system.hex")))).isEqualTo(NetnsMode.SHARED);
        assertThat(RdmaMessages.netnsMode(List.of(single("rdma-system-exclusive.hex"))))
                .isEqualTo(NetnsMode.EXCLUSIVE);
    }

    @Test
    void r16_aKernelThatDoesNotTellTheNamespaceModeSharesItsDevices() throws NetlinkFormatException {
        // Another attribute, none at all, no answer, and a command that the kernel doesn't know.
        assertThat(RdmaMessages.netnsMode(List.of(byHand("0500600000000000")))).isEqualTo(NetnsMode.SHARED);
        assertThat(RdmaMessages.netnsMode(List.of(byHand("")))).isEqualTo(NetnsMode.SHARED);
        assertThat(RdmaMessages.netnsMode(List.of())).isEqualTo(NetnsMode.SHARED);
        assertThat(RdmaMessages.netnsModeByRefusal(Errno.EINVAL)).contains(NetnsMode.SHARED);
        assertThat(RdmaMessages.netnsModeByRefusal(Errno.EOPNOTSUPP)).contains(NetnsMode.SHARED);
    }

    @Test
    void anyOtherRefusalToTellTheNamespaceModeSaysNothingAboutIt() {
        assertThat(RdmaMessages.netnsModeByRefusal(Errno.EPERM)).isEmpty();
        assertThat(RdmaMessages.netnsModeByRefusal(Errno.ENOBUFS)).isEmpty();
    }

    @Test
    void countsTheRecordedResources() throws NetlinkFormatException {
        Map<String, Long> counts = RdmaMessages.resources(single("rdma-resources-1.hex"));
        assertThat(counts).containsKeys("pd", "cq", "qp", "cm_id", "mr", "ctx", "srq");
        assertThat(counts).containsEntry("qp", 3L).containsEntry("ctx", 2L);
        assertThat(RdmaMessages.resources(single("rdma-resources-0.hex")))
                .containsEntry("qp", 1L)
                .containsEntry("ctx", 0L);
    }

    @Test
    void tellsQueuePairsOfProcessesFromThoseOfTheKernel() throws NetlinkFormatException {
        assertThat(dump("rdma-qps-1.hex"))
                .flatMap(RdmaMessages::queuePairs)
                .containsExactlyInAnyOrder(
                        new RdmaQueuePair(1, 1, 17, 2, 2, OptionalLong.of(146), Optional.empty()),
                        new RdmaQueuePair(1, 1, 18, 2, 3, OptionalLong.of(149), Optional.empty()),
                        new RdmaQueuePair(1, 1, 1, 1, 3, OptionalLong.empty(), Optional.of("ib_core")));
    }

    @Test
    void readsWhoHoldsContextsAndThatTheOwnerOfOneIsOutOfSight() throws NetlinkFormatException {
        // device 1; a table of two entries: context 0 of pid 4711, context 7 without a pid
        assertThat(RdmaMessages.contexts(byHand("0800010001000000" + "24005680" + "14005780" + "0800400000000000"
                        + "08001c0067120000" + "0c005780" + "0800400007000000")))
                .containsExactly(
                        new RdmaContext(1, 0, OptionalLong.of(4711)), new RdmaContext(1, 7, OptionalLong.empty()));
    }

    @Test
    void readsAnErdmaDeviceWrittenByHand() throws NetlinkFormatException {
        // index 4, name "erdma_0", one port, GUID in host order, node type 4, protocol "iw"
        assertThat(RdmaMessages.device(byHand("0800010004000000" + "0c0002006572646d615f3000" + "0800030001000000"
                        + "0c000600010000feff3e1602" + "05000e0004000000" + "0700430069770000")))
                .contains(new RdmaLink(4, "erdma_0", 1, new NodeGuid(0x02163efffe000001L), NodeType.RNIC, "", "iw"));
    }

    @Test
    void readsErdmasDriverIdAndLargeMinorNumbers() throws NetlinkFormatException {
        // name "uverbs9", device number 510:0x2a1c3 as the kernel packs it, ABI 1, driver 19
        assertThat(RdmaMessages.characterDevice(byHand("0c0046007576657262733900" + "0c004800c3fe112a00000000"
                        + "0c0047000100000000000000" + "0800490013000000")))
                .contains(new RdmaCharacterDevice("uverbs9", RdmaCharacterDevice.DRIVER_ERDMA, 0x1fe, 0x2a1c3, 1));
    }

    @Test
    void leavesTheInterfaceOutWhereItLivesInAnotherNamespace() throws NetlinkFormatException {
        assertThat(RdmaMessages.port(byHand("0800010000000000" + "0800030001000000" + "05000c0001000000")))
                .contains(new RdmaPort(0, 1, PortState.DOWN, 0, OptionalInt.empty(), Optional.empty()));
    }

    @Test
    void keepsPortStatesThatItDoesNotKnow() throws NetlinkFormatException {
        assertThat(RdmaMessages.port(byHand("0800010000000000" + "0800030001000000" + "05000c00c8000000")))
                .hasValueSatisfying(port -> assertThat(port.state()).isEqualTo(PortState.UNKNOWN));
    }

    @Test
    void answersWithNothingForAMessageWithoutWhatIdentifiesIt() throws NetlinkFormatException {
        NetlinkMessage empty = byHand("");
        assertThat(RdmaMessages.device(empty)).isEmpty();
        assertThat(RdmaMessages.port(empty)).isEmpty();
        assertThat(RdmaMessages.characterDevice(empty)).isEmpty();
        assertThat(RdmaMessages.queuePairs(empty)).isEmpty();
        assertThat(RdmaMessages.contexts(empty)).isEmpty();
        assertThat(RdmaMessages.resources(empty)).isEmpty();
    }

    @Test
    void asksForTheUverbsNodeOfOneDevice() {
        assertThat(HexFormat.of().formatHex(RdmaMessages.aboutUverbsOf(3)))
                .isEqualTo("0800010003000000" + "0b00450075766572627300" + "00");
    }
}
