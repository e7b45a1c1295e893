package io.erdma.node.net;

import static io.erdma.node.net.TestNode.link;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.erdma.libc.Errno;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.Route;
import io.erdma.node.net.InterfaceConfigurer.Failure;
import io.erdma.node.net.InterfaceConfigurer.Outcome;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InterfaceConfigurerTest {
    private final TestNode node = new TestNode(2).withDefault(0);
    private final ModelNetwork network = new ModelNetwork(node.kernel);
    private final InterfaceConfigurer configurer = new InterfaceConfigurer(network);

    @Test
    void carriesAPlanOut() {
        Outcome outcome = configurer.apply(node.plan().changes());

        assertThat(outcome.failures()).isEmpty();
        assertThat(outcome.made()).hasSize(10);
        assertThat(node.plan()).isEqualTo(Plan.NONE);
    }

    @Test
    void saysWhatFailedWhyAndWhatToDo() {
        network.refuse(change -> change instanceof NetChange.AddRoute, Errno.EPERM, Optional.empty());

        assertThat(configurer.apply(node.plan().changes()).failures())
                .extracting(Failure::message)
                .containsExactly(
                        "cannot add route 10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.3 metric 200: the kernel"
                                + " answered EPERM (1). Give the agent container CAP_NET_ADMIN (values.yaml:"
                                + " agent.securityContext) and the host's network (hostNetwork: true).",
                        "cannot add route 10.9.0.0/24 dev eth2 proto 217 scope link src 10.9.0.4 metric 201: the kernel"
                                + " answered EPERM (1). Give the agent container CAP_NET_ADMIN (values.yaml:"
                                + " agent.securityContext) and the host's network (hostNetwork: true).");
    }

    @Test
    void goesOnWithTheOtherInterfaces() {
        network.refuse(
                change -> change.equals(new NetChange.SetUp(link(1), "eth1")), Errno.ENODEV, Optional.of("gone"));
        Outcome outcome = configurer.apply(node.plan().changes());

        assertThat(outcome.failures())
                .extracting(Failure::message)
                .singleElement(STRING)
                .startsWith("cannot set link eth1 up: the kernel answered ENODEV (19), \"gone\". ");
        assertThat(outcome.made())
                .filteredOn(change -> change.link() == link(1))
                .hasSize(1);
        assertThat(outcome.made())
                .filteredOn(change -> change.link() == link(2))
                .hasSize(5);
    }

    @Test
    void doesNotStopAtAnMtuThatTheCardRefuses() {
        network.refuse(change -> change instanceof NetChange.SetMtu, Errno.EINVAL, Optional.empty());
        Outcome outcome = configurer.apply(node.plan().changes());

        assertThat(outcome.made()).hasSize(8);
        assertThat(outcome.failures())
                .hasSize(2)
                .allSatisfy(failure -> assertThat(failure.message()).contains("lower --jumbo-frame-mtu"));
    }

    @Test
    void keepsTheOldRouteWhereTheNewOneCannotBeAdded() {
        node.settle();
        node.withDefault(1024);
        List<String> before = node.routes();
        network.refuse(change -> change instanceof NetChange.AddRoute, Errno.ENOMEM, Optional.empty());
        configurer.apply(node.plan().changes());

        assertThat(node.routes()).isEqualTo(before);
    }

    @Test
    void takesWhatIsGoneAlreadyForDone() {
        Route gone =
                Route.onLink(TestNode.SUBNET, link(1), TestNode.addressOf(1).address(), InterfacePlan.PROTOCOL, 200);
        var address = new InterfaceAddress(link(1), TestNode.addressOf(1), 0, 0);
        Outcome outcome = configurer.apply(
                List.of(new NetChange.DeleteRoute("eth1", gone), new NetChange.DeleteAddress("eth1", address)));

        assertThat(outcome).isEqualTo(new Outcome(List.of(), List.of()));
    }
}
