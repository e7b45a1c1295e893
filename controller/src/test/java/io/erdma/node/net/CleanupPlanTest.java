package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Route;
import org.junit.jupiter.api.Test;

class CleanupPlanTest {
    private final TestNode node = new TestNode(2).withDefault(0);

    @Test
    void findsOurRoutesAndTheirAddressesWithoutBeingToldWhatWasWanted() {
        node.settle();
        assertThat(CleanupPlan.of(node.kernel.state())).isEqualTo(CleanupPlan.of(node.kernel.state(), node.wanted()));
        assertThat(TestNode.described(CleanupPlan.of(node.kernel.state())))
                .contains("delete address 10.9.0.3/24 dev eth1", "delete address 10.9.0.4/24 dev eth2")
                .allMatch(change -> change.endsWith("dev eth1")
                        || change.endsWith("dev eth2")
                        || change.contains("dev eth1 ")
                        || change.contains("dev eth2 "));
    }

    @Test
    void hasNothingToDoTheSecondTime() {
        node.settle();
        node.make(CleanupPlan.of(node.kernel.state()).changes());
        assertThat(CleanupPlan.of(node.kernel.state())).isEqualTo(Plan.NONE);
    }

    @Test
    void leavesANodeAloneOnWhichWeNeverWere() {
        node.up(TestNode.link(1));
        node.address(TestNode.link(1), "10.9.0.3/24", 0);
        node.add(Route.via(
                TestNode.GATEWAY,
                TestNode.ANYWHERE,
                TestNode.link(1),
                IpPrefix.address("10.9.0.3"),
                Route.PROTOCOL_STATIC,
                300));
        assertThat(CleanupPlan.of(node.kernel.state())).isEqualTo(Plan.NONE);
    }
}
