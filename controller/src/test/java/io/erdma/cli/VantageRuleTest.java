package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.doctor.Side;
import java.util.List;
import org.junit.jupiter.api.Test;

class VantageRuleTest {
    private static final List<String> NODES = List.of("uverbs0", "uverbs1");

    @Test
    void looksFromWhereItIsAskedTo() {
        assertThat(VantageRule.decide(true, true, NODES, NODES, false).side()).isEqualTo(Side.POD);
    }

    @Test
    void isOnTheNodeWhereTheKubeletsDirectoryIs() {
        // The agent's own pod, too: it has the kubelet's variables.
        assertThat(VantageRule.decide(false, true, NODES, NODES, true).side()).isEqualTo(Side.NODE);
    }

    @Test
    void isInAPodThatHasSomeOfTheNodesDevices() {
        var vantage = VantageRule.decide(false, false, NODES, List.of("uverbs1"), false);
        assertThat(vantage.side()).isEqualTo(Side.POD);
        assertThat(vantage.why()).contains("has uverbs1 of the node's uverbs0, uverbs1");
    }

    @Test
    void isInAPodThatHasAllOrNoneOfThem() {
        assertThat(VantageRule.decide(false, false, NODES, NODES, true).side()).isEqualTo(Side.POD);
        assertThat(VantageRule.decide(false, false, NODES, List.of(), true).side())
                .isEqualTo(Side.POD);
    }

    @Test
    void isOnAMachineWithoutACluster() {
        assertThat(VantageRule.decide(false, false, NODES, NODES, false).side()).isEqualTo(Side.NODE);
        assertThat(VantageRule.decide(false, false, List.of(), List.of(), false).side())
                .isEqualTo(Side.NODE);
    }
}
