package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.NcclVerdict.Finding;
import io.erdma.nccl.NcclVerdict.Group;
import io.erdma.nccl.NcclVerdict.Traffic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The logs of real runs get the verdicts that stand beside them. */
class RecordedLogsTest {
    private static NcclVerdict judge(String name) {
        return NcclRules.judge(Logs.read(Logs.bytes(name)), Expectation.none());
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2p.log", "socket.log", "socket-env.log", "ib-forced-missing.log"})
    void noneOfThemWasOverErdma(String name) {
        NcclVerdict verdict = judge(name);

        assertThat(verdict.outcome()).isEqualTo(Outcome.NOT_ERDMA);
        assertThat(verdict.ranks()).isEqualTo(2);
        // "Using [RO]" follows "No device found." in each.
        assertThat(verdict.groups())
                .allSatisfy(group -> assertThat(group.devices()).isEmpty());
        assertThat(verdict.findings()).extracting(Finding::id).contains("no-device");
    }

    @Test
    void ranksOfOneHostTalkedOverP2p() {
        Group group = judge("p2p.log").groups().getFirst();

        assertThat(group.ranks().text()).isEqualTo("ranks 0-1");
        assertThat(group.reason()).isEqualTo(Reason.TCP);
        assertThat(group.traffic()).isEqualTo(Traffic.LOCAL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"socket.log", "socket-env.log"})
    void fellBackToTcp(String name) {
        Group group = judge(name).groups().getFirst();

        assertThat(group.ranks().text()).isEqualTo("ranks 0-1");
        assertThat(group.reason()).isEqualTo(Reason.TCP);
        assertThat(group.networks()).containsExactly("Socket");
        assertThat(group.traffic()).isEqualTo(Traffic.TCP);
    }

    @Test
    void theVariableThatNamesADeviceChangesNothing() {
        assertThat(judge("socket-env.log").variables())
                .anySatisfy(variable -> {
                    assertThat(variable.name()).isEqualTo("NCCL_IB_HCA");
                    assertThat(variable.value()).isEqualTo("erdma_0");
                    assertThat(variable.ranks().orElseThrow().text()).isEqualTo("ranks 0-1");
                    assertThat(variable.severity()).isEmpty();
                })
                .anySatisfy(variable -> {
                    assertThat(variable.name()).isEqualTo("NCCL_SOCKET_IFNAME");
                    assertThat(variable.severity()).contains(Severity.WARNING);
                });
    }

    @Test
    void demandedANetworkThatWasNotThere() {
        NcclVerdict verdict = judge("ib-forced-missing.log");

        assertThat(verdict.groups()).hasSize(1);
        Group group = verdict.groups().getFirst();
        assertThat(group.reason()).isEqualTo(Reason.NO_NETWORK);
        assertThat(group.evidence()).contains(new Evidence(21, "Failed to initialize any NET plugin"));
        // It died before any communicator was made, so no line tells a rank's number.
        assertThat(group.ranks().text()).isEqualTo("vm:739, vm:740");
        assertThat(verdict.findings()).extracting(Finding::id).containsExactly("no-device", "no-network");
    }

    @Test
    void showTrainingWhereItWent() {
        assertThat(Logs.read(Logs.bytes("p2p.log")).training().steps()).isEqualTo(6);
        assertThat(Logs.read(Logs.bytes("ib-forced-missing.log")).training().first())
                .isEmpty();
        assertThat(Logs.read(Logs.bytes("socket.log")).training().first().orElseThrow())
                .isEqualTo(new Evidence(86, "Train Epoch: 1 [0/60000 (0%)]\tloss=2.3315"));
    }

    @Test
    void tellTheirVersionOnce() {
        assertThat(Logs.read(Logs.bytes("ib-forced-missing.log")).versions()).containsExactly("2.28.9+cuda13.0");
    }
}
