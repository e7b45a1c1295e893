package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.interfaces.InterfacesStatus;
import io.erdma.node.interfaces.OfferedDevices;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.kube.EventCounts;
import io.erdma.node.net.KeeperStatus;
import io.erdma.node.net.NetChange;
import io.erdma.node.net.Note;
import io.erdma.node.net.Plan;
import io.erdma.node.net.WantedInterfaces;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlanTextTest {
    private static final KeeperStatus WELL =
            new KeeperStatus(Plan.NONE, List.of(), Optional.empty(), 0, true, Optional.empty());

    private static InterfacesStatus source(String... problems) {
        return new InterfacesStatus(
                "the node", true, new OfferedDevices.Everything(), WantedInterfaces.NONE, List.of(problems));
    }

    @Test
    void callsWhatTheDriverIsAboutToDoPlanned() {
        var driver = new DriverStatus(
                DriverMode.OFED,
                true,
                ModeInForce.DEFAULT,
                "switch erdma from mode default to ofed",
                true,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Instant.EPOCH);

        assertThat(PlanText.of(Optional.of(driver), WELL, source()).lines())
                .contains(
                        "planned driver: preferred ofed (chosen by the node), in force default: switch erdma from mode"
                                + " default to ofed");
    }

    @Test
    void tellsInOneLineHowTheClusterIsTold() {
        var counts = new EventCounts(3, 1, 2);

        assertThat(PlanText.of(new ClusterReporter.Status(Optional.empty(), Optional.empty(), counts)))
                .isEqualTo("info cluster: 3 Events written, 2 dropped\n");
        assertThat(PlanText.of(
                        new ClusterReporter.Status(Optional.empty(), Optional.of("cannot write an\nEvent"), counts)))
                .isEqualTo("warning cluster: 3 Events written, 2 dropped; cannot write an\\x0aEvent\n");
        assertThat(PlanText.of(new ClusterReporter.Status(
                        Optional.of("it is switched off"), Optional.empty(), new EventCounts(0, 0, 0))))
                .isEqualTo("info cluster: the cluster is told nothing: it is switched off\n");
    }

    @Test
    void beginsEachLineWithHowItStands() {
        var driver = new DriverStatus(
                DriverMode.OFED,
                false,
                ModeInForce.DEFAULT,
                "switch pending: 1 user",
                false,
                Optional.of("switch pending: 1 user"),
                Optional.of("modprobe failed"),
                List.of("pod default/train"),
                Instant.EPOCH);
        var keeper = new KeeperStatus(
                new Plan(List.of(new NetChange.SetUp(3, "eth1")), List.of()),
                List.of(new Note("eth1", Note.Severity.WARNING, "somebody undoes it")),
                Optional.of("netlink: EPERM"),
                0,
                false,
                Optional.empty());

        assertThat(PlanText.of(Optional.of(driver), keeper, source("no metadata"))
                        .lines())
                .contains(
                        "pending driver: switch pending: 1 user",
                        "problem driver: modprobe failed",
                        "info driver: used by pod default/train",
                        "warning interfaces: no metadata",
                        "planned interfaces: set link eth1 up (not done: the agent only plans)",
                        "warning interfaces: eth1: somebody undoes it",
                        "problem interfaces: netlink: EPERM");
    }

    @Test
    void hasOnlyInfoWhileAllIsWell() {
        assertThat(PlanText.of(Optional.empty(), WELL, source()).lines())
                .isNotEmpty()
                .allMatch(line -> line.startsWith("info "));
    }

    @Test
    void letsNoNameBeginALineOfItsOwn() {
        assertThat(PlanText.of(Optional.empty(), WELL, source("eth\nproblem driver: forged")))
                .doesNotContain("\nproblem")
                .contains("eth\\x0aproblem");
    }
}
