package io.erdma.traffic;

import static io.erdma.traffic.Counters.port;
import static io.erdma.traffic.Counters.reading;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.traffic.CounterMeaning.Kind;
import io.erdma.traffic.CounterReading.CarrierBytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrafficCountersTest {
    @ParameterizedTest
    @CsvSource({
        // erdma of the kernel's tree
        "tx_packets_cnt, PACKETS, false, 1",
        "tx_bytes_cnt, BYTES, false, 1",
        "tx_disable_drop_cnt, OTHER_DROPS, false, 1",
        "tx_bps_limit_drop_cnt, BANDWIDTH_DROPS, false, 1",
        "tx_pps_limit_drop_cnt, PACKET_RATE_DROPS, false, 1",
        "rx_packets_cnt, PACKETS, true, 1",
        "rx_bytes_cnt, BYTES, true, 1",
        "rx_bps_limit_drop_cnt, BANDWIDTH_DROPS, true, 1",
        "rx_pps_limit_drop_cnt, PACKET_RATE_DROPS, true, 1",
        // erdma out of the tree, whose sending side leaves the direction out
        "hw_tx_packets_cnt, PACKETS, false, 1",
        "hw_tx_bytes_cnt, BYTES, false, 1",
        "hw_disable_drop_cnt, OTHER_DROPS, false, 1",
        "hw_bps_limit_drop_cnt, BANDWIDTH_DROPS, false, 1",
        "hw_pps_limit_drop_cnt, PACKET_RATE_DROPS, false, 1",
        "hw_rx_packets_cnt, PACKETS, true, 1",
        "hw_rx_bytes_cnt, BYTES, true, 1",
        "hw_rx_disable_drop_cnt, OTHER_DROPS, true, 1",
        "hw_rx_bps_limit_drop_cnt, BANDWIDTH_DROPS, true, 1",
        "hw_rx_pps_limit_drop_cnt, PACKET_RATE_DROPS, true, 1",
        // soft-RoCE
        "sent_pkts, PACKETS, false, 1",
        "rcvd_pkts, PACKETS, true, 1",
        // InfiniBand's own, which count words of four bytes
        "port_xmit_data, BYTES, false, 4",
        "port_rcv_data, BYTES, true, 4",
        "port_xmit_packets, PACKETS, false, 1",
        "port_rcv_packets, PACKETS, true, 1",
    })
    void knowsWhatACounterCountsByItsName(String name, Kind kind, boolean received, long factor) {
        assertThat(CounterMeaning.of(name)).contains(new CounterMeaning(kind, received, factor));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "_",
                "tx_reqs_cnt",
                "hw_tx_reqs_cnt",
                "cmdq_comp_cnt",
                "listen_success_cnt",
                "unicast_rcv_packets",
                "multicast_xmit_packets",
                "rx_write_requests",
                "rdma_sends",
                "rcvd_seq_err",
                "tx_rx_bytes",
                "data",
                "xmit_data",
                "port_xmit_wait",
                "verbs_create_qp_cnt",
                "rx_rx"
            })
    void leavesAloneWhatCountsSomethingElseOrAPartOfIt(String name) {
        assertThat(CounterMeaning.of(name)).isEmpty();
    }

    @Test
    void findsTheSameTrafficInBothSpellingsOfErdma() {
        TrafficTotals inTree = TrafficCounters.of(reading(Map.of(
                "tx_bytes_cnt", 1L,
                "tx_packets_cnt", 2L,
                "rx_bytes_cnt", 3L,
                "rx_packets_cnt", 4L,
                "tx_bps_limit_drop_cnt", 5L,
                "rx_pps_limit_drop_cnt", 6L,
                "rx_disable_drop_cnt", 7L)));
        TrafficTotals outOfTree = TrafficCounters.of(reading(Map.of(
                "hw_tx_bytes_cnt", 1L,
                "hw_tx_packets_cnt", 2L,
                "hw_rx_bytes_cnt", 3L,
                "hw_rx_packets_cnt", 4L,
                "hw_bps_limit_drop_cnt", 5L,
                "hw_rx_pps_limit_drop_cnt", 6L,
                "hw_rx_disable_drop_cnt", 7L)));
        assertThat(outOfTree).isEqualTo(inTree);
        assertThat(inTree.sent().bytes()).hasValue(1);
        assertThat(inTree.sent().packets()).hasValue(2);
        assertThat(inTree.received().bytes()).hasValue(3);
        assertThat(inTree.received().packets()).hasValue(4);
        assertThat(inTree.sent().bandwidthDrops()).hasValue(5);
        assertThat(inTree.received().packetRateDrops()).hasValue(6);
        assertThat(inTree.received().otherDrops()).hasValue(7);
        assertThat(inTree.carrier()).isEmpty();
    }

    @Test
    void prefersWhatTheHardwareCountsToWhatTheDriverCountsBesideIt() {
        TrafficTotals totals = TrafficCounters.of(reading(Map.of("rx_bytes_cnt", 1L, "hw_rx_bytes_cnt", 2L)));
        assertThat(totals.received().bytes()).hasValue(2);
    }

    @Test
    void takesInfinibandsNamesOnlyWhereTheDriverHasNoneOfItsOwn() {
        Map<String, Long> standard = Map.of("port_rcv_data", 10L, "port_rcv_packets", 3L);
        assertThat(TrafficCounters.of(of(Map.of("rx_bytes", 7L), standard)).received())
                .satisfies(received -> assertThat(received.bytes()).hasValue(7))
                .satisfies(received -> assertThat(received.packets()).hasValue(3));
        assertThat(TrafficCounters.of(of(Map.of(), standard)).received().bytes())
                .hasValue(40);
    }

    private static CounterReading of(Map<String, Long> hardware, Map<String, Long> standard) {
        return new CounterReading("mlx5_0", 0, List.of(port(hardware, standard)), Optional.empty());
    }

    @Test
    void addsUpThePortsOfADevice() {
        var ports = List.of(port(Map.of("tx_bytes", 1L), Map.of()), port(Map.of("tx_bytes", 2L), Map.of()));
        assertThat(TrafficCounters.of(new CounterReading("x", 0, ports, Optional.empty()))
                        .sent()
                        .bytes())
                .hasValue(3);
    }

    @Test
    void namesTheInterfaceWhoseBytesStandForThoseOfASoftwareDevice() {
        TrafficTotals totals = TrafficCounters.of(
                reading(Map.of("sent_pkts", 5L, "rcvd_pkts", 6L), new CarrierBytes("eth1", 700, 800)));
        assertThat(totals.carrier()).contains("eth1");
        assertThat(totals.received().bytes()).hasValue(700);
        assertThat(totals.sent().bytes()).hasValue(800);
        assertThat(totals.sent().packets()).hasValue(5);
    }

    @Test
    void needsNoSubstituteWhereTheDeviceCountsBytes() {
        TrafficTotals totals = TrafficCounters.of(reading(Map.of("rx_bytes", 1L), new CarrierBytes("eth1", 700, 800)));
        assertThat(totals.carrier()).isEmpty();
        assertThat(totals.received().bytes()).hasValue(1);
        assertThat(totals.sent().bytes()).isEmpty();
    }

    /** Traffic of a real eRDMA device never passes its interface, so its interface must not answer for it. */
    @Test
    void asksOnlyTheInterfaceOfASoftwareDevice() {
        assertThat(new TrafficDevice("erdma_0", "erdma", Optional.of("eth1")).carrier())
                .isEmpty();
        assertThat(new TrafficDevice("rxe0", "rdma_rxe", Optional.of("eth1")).carrier())
                .contains("eth1");
        assertThat(new TrafficDevice("siw0", "siw", Optional.of("eth1")).carrier())
                .contains("eth1");
    }
}
