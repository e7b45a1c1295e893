package io.erdma.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.SysfsCounters.PortCounters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SysfsCountersTest {
    private static final String PORT = "class/infiniband/erdma_0/ports/1/";

    @TempDir
    private Path directory;

    private NodeFixture node;

    private SysfsCounters lay(String name) {
        node = NodeFixture.lay(name, directory);
        return new SysfsCounters(node.sysfs());
    }

    private static PortCounters only(SysfsCounters counters) {
        List<PortCounters> ports = counters.read("erdma_0").orElseThrow();
        assertThat(ports).hasSize(1);
        return ports.getFirst();
    }

    @Test
    void listsEveryCounterOfARecordedSoftRoceDevice() {
        PortCounters port = only(lay(NodeFixture.SOFT_ROCE));
        assertThat(port.port()).isEqualTo(1);
        assertThat(port.hardware())
                .hasSize(15)
                .containsKeys("sent_pkts", "rcvd_pkts")
                .doesNotContainKey("lifespan");
        assertThat(port.standard()).isEmpty();
        assertThat(port.unreadable()).isEmpty();
        assertThat(port.lifespan()).isEqualTo(Duration.ofMillis(12));
    }

    @Test
    void readsCountersUpToTheLargestUnsignedNumber() {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        node.write(PORT + "hw_counters/hw_tx_bytes_cnt", "18446744073709551615\n");
        assertThat(only(counters).hardware()).containsEntry("hw_tx_bytes_cnt", -1L);
    }

    @Test
    void readsInfinibandsOwnCountersBesideTheDrivers() {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        node.write(PORT + "counters/port_xmit_data", "7\n");
        assertThat(only(counters).standard()).containsEntry("port_xmit_data", 7L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "18446744073709551616", "N/A (no PMA)", "0x10", "\u0661"})
    void leavesOutACounterThatIsNoNumberAndSaysWhy(String text) {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        node.write(PORT + "hw_counters/hw_tx_bytes_cnt", text + "\n");
        PortCounters port = only(counters);
        assertThat(port.hardware()).doesNotContainKey("hw_tx_bytes_cnt").containsKey("hw_rx_bytes_cnt");
        assertThat(port.unreadable()).containsEntry("hw_counters/hw_tx_bytes_cnt", "not a number: '" + text + "'");
    }

    @Test
    void leavesOutWhatIsNoFileAndSaysSo() throws IOException {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        Files.createDirectory(node.sysfs().resolve(PORT + "hw_counters/odd"));
        assertThat(only(counters).unreadable()).containsEntry("hw_counters/odd", "no such file");
    }

    @Test
    void survivesAnEndlessFileAmongTheCounters() {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        node.write(PORT + "hw_counters/endless", "7".repeat(1 << 16));
        node.link(PORT + "hw_counters/zero", "/dev/zero");
        assertThat(only(counters).unreadable())
                .containsEntry("hw_counters/endless", "not a number: '" + "7".repeat(40) + "'")
                .containsEntry("hw_counters/zero", "no such file");
    }

    @Test
    void takesTheKernelsDefaultWhereTheLifespanIsNotToldOrOdd() {
        SysfsCounters counters = lay(NodeFixture.ERDMA_COMPAT);
        node.write(PORT + "hw_counters/lifespan", "soon\n");
        assertThat(only(counters).lifespan()).isEqualTo(Duration.ofMillis(10));
    }

    @ParameterizedTest
    @ValueSource(strings = {"erdma_9", "", ".", "..", "a/b", "a\0b"})
    void hasNoAnswerForADeviceThatIsNotThere(String name) {
        assertThat(lay(NodeFixture.ERDMA_COMPAT).read(name)).isEmpty();
    }

    @Test
    void knowsADeviceWithoutAnyCounter() {
        SysfsCounters counters = lay(NodeFixture.ERDMA_IN_TREE_IWARP);
        node.remove(PORT + "hw_counters");
        assertThat(only(counters).hardware()).isEmpty();
    }

    @Test
    void readsWhatAnInterfaceHasCounted() {
        SysfsCounters counters = lay(NodeFixture.SOFT_ROCE);
        node.write("class/net/eth1/statistics/rx_bytes", "4711\n");
        assertThat(counters.netdevStatistic("eth1", "rx_bytes")).hasValue(4711);
        assertThat(counters.netdevStatistic("eth1", "tx_bytes")).isEmpty();
        assertThat(counters.netdevStatistic("..", "rx_bytes")).isEmpty();
        assertThat(counters.netdevStatistic("eth1", "../mtu")).isEmpty();
    }
}
