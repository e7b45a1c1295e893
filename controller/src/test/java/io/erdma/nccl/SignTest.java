package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.NcclVerdict.Finding;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each known failure is seen in every form that it has. */
class SignTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NO_DEVICE          | INFO NET/IB : No device found.
                    LIBRARY_MISSING    | INFO Failed to open libibverbs.so[.1]
                    LIBRARY_MISSING    | INFO Count not open libibverbs.so.1
                    OPEN_DENIED        | WARN NET/IB : Unable to open device erdma_0
                    OPEN_DENIED        | WARN Call to ibv_open_device failed
                    NO_NETWORK         | WARN Failed to initialize any NET plugin
                    MEMORY             | WARN Call to ibv_create_qp failed
                    MEMORY             | WARN Call to ibv_create_qp failed with error Cannot allocate memory errno 12
                    MEMORY             | WARN Call to ibv_create_qp failed with error Unknown error -12
                    MEMORY             | WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory
                    VERBS_CALL         | WARN Call to ibv_reg_mr failed with error Bad address
                    VERBS_CALL         | WARN Call to ibv_query_gid failed with error Invalid argument
                    QUEUE_PAIR_STATE   | WARN Call to ibv_modify_qp failed with error Invalid argument errno 22
                    QUEUE_PAIR_STATE   | WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev erdma_0:1
                    RETRY_EXCEEDED     | WARN NET/IB : Got completion from peer 10.0.0.2<33> with error 12, opcode 0, len 0, vendor err 129 (Recv)
                    RETRY_EXCEEDED     | WARN NET/IB: Got completion from peer 10.0.0.2<33> with status=12 opcode=0 len=0 vendor err 129 (Recv)
                    RETRY_EXCEEDED     | WARN NET/IB: Got completion from peer 10.0.0.2<33> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129
                    COMPLETION_ERROR   | WARN NET/IB: Got completion from peer 10.0.0.2<33> with status=5 opcode=12 len=12 vendor err 12
                    COMPLETION_ERROR   | WARN NET/IB: Got completion from peer 10.0.0.2<33> with status=IBV_WC_LOC_PROT_ERR(4) opcode=x(12)
                    PORT_DOWN          | WARN NET/IB : Got async event : port error
                    PORT_DOWN          | WARN NET/IB : erdma_0:1 Got async event : port error
                    PORT_DOWN          | WARN NET/IB : erdma_0:1 Got non-fatal async event: port error(10)
                    ASYNC_FATAL        | WARN NET/IB : erdma_0:1 Got async error event: local catastrophic error
                    ASYNC_FATAL        | WARN NET/IB : erdma_0:1 async fatal event: local catastrophic error
                    ASYNC_FATAL        | WARN NET/IB: erdma_0:1 async fatal event on QP: local access violation work queue error
                    SOCKET_INTERFACE   | WARN Bootstrap : no socket interface found
                    PEER_CLOSED        | WARN socketProgress: Connection closed by remote peer worker-1<4711>
                    """)
    void isSeenInNcclsLine(Sign sign, String message) {
        String place = message.startsWith("WARN") ? " [0] transport/net_ib.cc:1296 NCCL " : " [0] NCCL ";
        NcclLog log = Logs.read("\nvm:1:2" + place + message + "\n");

        assertThat(log.signs()).containsOnlyKeys(sign);
        assertThat(log.signs().get(sign)).isEqualTo(new Evidence(2, message.substring(5)));
        assertThat(log.processes().getFirst().has(sign)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    SEGMENTATION_FAULT | Segmentation fault (core dumped)
                    SEGMENTATION_FAULT | [worker-0:10] Signal: Segmentation fault (11)
                    SEGMENTATION_FAULT | traceback : Signal 11 (SIGSEGV) received by PID 4711
                    COLLECTIVE_TIMEOUT | [E1130 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)
                    PROVIDER_MISSING   | libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0
                    """)
    void isSeenInALineOfAnotherProgram(Sign sign, String line) {
        assertThat(Logs.read(line + "\n").signs()).containsOnlyKeys(sign);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NET/IB : erdma_0:1 Got async event : port active",
                "NET/IB : erdma_0:1 Got async event : GID table change",
                "NET/IB : erdma_0:1 Got non-fatal async event: last WQE reached(16)",
                "Call to ibv_create_qp took long"
            })
    void isNotSeenInWhatIsHarmless(String message) {
        assertThat(Logs.read("vm:1:2 [0] transport/net_ib.cc:12 NCCL WARN " + message + "\n")
                        .signs())
                .isEmpty();
    }

    @Test
    void isReportedOnceWithItsFirstLineItsRanksAndItsCure() {
        String failure =
                "vm:1:2 [0] transport/net_ib.cc:12 NCCL WARN NET/IB: Got completion from peer a with status=12 opcode=0\n";
        NcclVerdict verdict =
                Logs.judge(failure.replace("vm", "b") + failure.replace("vm", "a") + failure.repeat(1_000));

        assertThat(verdict.findings())
                .filteredOn(finding -> finding.id().equals("retry-exceeded"))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.evidence().orElseThrow().line()).isEqualTo(1);
                    assertThat(finding.ranks().orElseThrow().text()).isEqualTo("b:1, a:1, vm:1");
                    assertThat(finding.cure()).contains("NCCL_IB_TIMEOUT=23", "NCCL_IB_RETRY_CNT=7");
                });
    }

    @Test
    void comesBeforeWarningsInTheReport() {
        NcclVerdict verdict = Logs.judge(Logs.erdmaRank("a", 0, 1) + "Segmentation fault\n");

        assertThat(verdict.outcome()).isEqualTo(Outcome.ERDMA);
        assertThat(verdict.findings()).extracting(Finding::id).containsExactly("segmentation-fault", "mode-unknown");
    }

    @Test
    void hasAnIdOfItsOwnAndACure() {
        assertThat(Arrays.stream(Sign.values()).map(Sign::id)).doesNotHaveDuplicates();
        assertThat(Sign.values()).allSatisfy(sign -> assertThat(sign.cure()).isNotEmpty());
    }
}
