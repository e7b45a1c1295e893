package io.erdma.node.net;

import static io.erdma.node.net.TestNode.GATEWAY;
import static io.erdma.node.net.TestNode.addressOf;
import static io.erdma.node.net.TestNode.described;
import static io.erdma.node.net.TestNode.link;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Route;
import java.util.List;
import org.junit.jupiter.api.Test;

class CleanupPlanTest {
    private final TestNode node = new TestNode(2).withDefault(100);

    private Plan cleanup() {
        return CleanupPlan.of(node.kernel.state());
    }

    @Test
    void takesRoutesThenAddressesAndLeavesLinksUp() {
        List<String> before = node.routes();
        node.settle();
        Plan plan = cleanup();
        node.make(plan.changes());

        assertThat(described(plan))
                .hasSize(6)
                .endsWith("delete address 10.9.0.3/24 dev eth1", "delete address 10.9.0.4/24 dev eth2");
        assertThat(node.routes()).isEqualTo(before);
        assertThat(node.kernel.state().links()).filteredOn(link -> !link.isUp()).isEmpty();
        assertThat(cleanup()).isEqualTo(Plan.NONE);
    }

    @Test
    void takesAnAddressOfOursThatIsWantedNoMore() {
        node.settle();
        node.address(link(1), "10.9.0.77/24", InterfaceAddress.IFA_F_NOPREFIXROUTE);
        node.add(Route.onLink(
                IpPrefix.parse("10.9.0.0/24"), link(1), IpPrefix.address("10.9.0.77"), InterfacePlan.PROTOCOL, 300));

        assertThat(described(cleanup()))
                .contains("delete address 10.9.0.3/24 dev eth1", "delete address 10.9.0.77/24 dev eth1");
    }

    @Test
    void keepsAnAddressThatSomebodyElsesRouteDependsOn() {
        node.settle();
        node.add(Route.via(
                GATEWAY, IpPrefix.parse("10.50.0.0/16"), link(1), addressOf(1).address(), Route.PROTOCOL_STATIC, 0));
        Plan plan = cleanup();

        assertThat(described(plan)).doesNotContain("delete address 10.9.0.3/24 dev eth1");
        assertThat(plan.notes())
                .extracting(Note::toString)
                .containsExactly("eth1: keeps 10.9.0.3/24, since the route 10.50.0.0/16 via 10.9.0.253 dev eth1 proto"
                        + " static src 10.9.0.3 metric 0 would go with it");
    }

    @Test
    void keepsAnAddressThatAnotherOneDependsOn() {
        node.settle();
        node.address(link(1), "10.9.0.77/24", InterfaceAddress.IFA_F_NOPREFIXROUTE);

        assertThat(described(cleanup())).doesNotContain("delete address 10.9.0.3/24 dev eth1");
        assertThat(cleanup().notes())
                .singleElement()
                .satisfies(note -> assertThat(note.text()).contains("the address 10.9.0.77/24 would go with it"));
    }

    @Test
    void takesNoAddressWithoutItsMarkNorOneThatNoRouteOfOursHas() {
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", 0);
        node.up(link(2));
        node.address(link(2), "10.9.0.4/24", InterfaceAddress.IFA_F_NOPREFIXROUTE);
        assertThat(cleanup()).isEqualTo(Plan.NONE);

        node.add(Route.onLink(
                IpPrefix.parse("10.9.0.0/24"), link(1), addressOf(1).address(), InterfacePlan.PROTOCOL, 200));
        assertThat(described(cleanup())).singleElement().asString().startsWith("delete route 10.9.0.0/24 dev eth1");
    }

    @Test
    void takesNoAddressForOursOnANodeWhereWeNeverWere() {
        node.up(link(1));
        node.address(link(1), "10.9.0.3/24", 0);
        node.add(Route.via(GATEWAY, TestNode.ANYWHERE, link(1), addressOf(1).address(), Route.PROTOCOL_STATIC, 300));
        assertThat(cleanup()).isEqualTo(Plan.NONE);
    }
}
