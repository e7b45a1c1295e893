package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.NcclVerdict.JudgedVariable;
import io.erdma.nccl.VariableRules.Kind;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Case R16: what is said of NCCL's variables. */
class VariableRulesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", emptyValue = "", textBlock = """
                    NCCL_IB_RETRY_CNT           | 10         | SYSTEM | FAILURE | 0 to 7
                    NCCL_IB_RETRY_CNT           | 8          | SYSTEM | FAILURE | 0 to 7
                    NCCL_IB_RETRY_CNT           | -1         | SYSTEM | FAILURE | 0 to 7
                    NCCL_IB_RETRY_CNT           | many       | SYSTEM | FAILURE | 0 to 7
                    NCCL_IB_RETRY_CNT           | 7          | SYSTEM | -       | -
                    NCCL_IB_RETRY_CNT           | 0x7        | SYSTEM | -       | -
                    NCCL_IB_TIMEOUT             | 23         | SYSTEM | -       | 34.4 s
                    NCCL_IB_TIMEOUT             | 31         | SYSTEM | -       | s for each try
                    NCCL_IB_TIMEOUT             | 32         | SYSTEM | FAILURE | 1 to 31
                    NCCL_IB_TIMEOUT             | 0          | SYSTEM | WARNING | for ever
                    NCCL_NET_GDR_LEVEL          | 1          | DEBUG  | WARNING | PIX
                    NCCL_NET_GDR_LEVEL          | PIX        | DEBUG  | WARNING | disables
                    NCCL_NET_GDR_LEVEL          | LOC        | DEBUG  | WARNING | never
                    NCCL_NET_GDR_LEVEL          | 0          | DEBUG  | WARNING | never
                    NCCL_NET_GDR_LEVEL          | SYS        | DEBUG  | NOTE    | debugging
                    NCCL_NET_GDR_LEVEL          | 5          | DEBUG  | NOTE    | debugging
                    NCCL_NET_GDR_LEVEL          | ALL        | DEBUG  | FAILURE | unknown
                    NCCL_IB_DISABLE             | 1          | DEBUG  | FAILURE | TCP
                    NCCL_IB_DISABLE             | 0          | DEBUG  | NOTE    | debugging
                    NCCL_IB_HCA                 | erdma_0    | SYSTEM | -       | erdma_10
                    NCCL_IB_HCA                 | =erdma_0   | SYSTEM | -       | -
                    NCCL_IB_HCA                 | erdma      | SYSTEM | -       | -
                    NCCL_IB_HCA                 | =erdma_0:1 | SYSTEM | -       | -
                    NCCL_IB_HCA                 | =erdma_0:2 | SYSTEM | FAILURE | port 1
                    NCCL_IB_HCA                 | mlx5       | SYSTEM | FAILURE | names no eRDMA device
                    NCCL_IB_HCA                 | =erdma     | SYSTEM | FAILURE | names no eRDMA device
                    NCCL_IB_HCA                 | ^erdma     | SYSTEM | FAILURE | excludes
                    NCCL_IB_HCA                 | ^=mlx5_0   | SYSTEM | -       | -
                    NCCL_IB_HCA                 | mlx5_0,=erdma_1 | SYSTEM | FAILURE | names no eRDMA device
                    NCCL_IB_GID_INDEX           | -1         | SYSTEM | -       | -
                    NCCL_IB_GID_INDEX           | 1          | SYSTEM | WARNING | unset
                    NCCL_IB_GID_INDEX           | 16         | SYSTEM | FAILURE | 0 to 15
                    NCCL_NET                    | IB         | SYSTEM | -       | -
                    NCCL_NET                    | Socket     | SYSTEM | FAILURE | TCP
                    NCCL_NET_PLUGIN             | none       | SYSTEM | -       | -
                    NCCL_NET_PLUGIN             | aws-ofi    | SYSTEM | WARNING | plugin
                    NCCL_SOCKET_IFNAME          | eth0       | SYSTEM | -       | -
                    NCCL_SOCKET_IFNAME          | lo         | SYSTEM | WARNING | own host
                    NCCL_IB_ROCE_VERSION_NUM    | 1          | SYSTEM | FAILURE | v2
                    NCCL_IB_TC                  | 256        | SYSTEM | FAILURE | 0 to 255
                    NCCL_IB_QPS_PER_CONNECTION  | 4          | DEBUG  | WARNING | quota
                    NCCL_DMABUF_ENABLE          | 0          | DEBUG  | WARNING | nvidia_peermem
                    NCCL_P2P_LEVEL              | SYS        | DEBUG  | WARNING | debugging
                    NCCL_ALGO                   | Ring       | DEBUG  | WARNING | debugging
                    NCCL_DEBUG                  | INFO       | SYSTEM | -       | -
                    NCCL_NVLS_ENABLE            | 0          | OTHER  | -       | -
                    """)
    void judges(String name, String value, Kind kind, Severity severity, String meaning) {
        VariableRules.Judgement judgement = VariableRules.judge(name, value, Expectation.none());

        assertThat(judgement.kind()).isEqualTo(kind);
        assertThat(judgement.severity()).isEqualTo(Optional.ofNullable(severity));
        assertThat(judgement.meaning()).contains(meaning == null ? "" : meaning);
        if (meaning == null) {
            assertThat(judgement.meaning()).isEmpty();
        }
    }

    @Test
    void measuresTheListOfDevicesByTheNamesGiven() {
        Expectation renamed = new Expectation(Set.of("rocep128s7"), Optional.empty(), "");

        assertThat(VariableRules.judge("NCCL_IB_HCA", "roce", renamed).severity())
                .isEmpty();
        assertThat(VariableRules.judge("NCCL_IB_HCA", "=rocep128s7", renamed).severity())
                .isEmpty();
        assertThat(VariableRules.judge("NCCL_IB_HCA", "erdma_0", renamed).severity())
                .contains(Severity.FAILURE);
    }

    private static List<String> found(String log) {
        return Logs.judge(log).variables().stream()
                .map(variable -> variable.name() + "=" + variable.value())
                .toList();
    }

    @Test
    void findsThemInEachFormThatLogsHave() {
        assertThat(found("vm:1:2 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 23.\n"))
                .containsExactly("NCCL_IB_TIMEOUT=23");
        assertThat(found("vm:1:2 [0] NCCL INFO NCCL_IB_HCA set to erdma_0\n")).containsExactly("NCCL_IB_HCA=erdma_0");
        assertThat(found("""
                NCCL_IB_RETRY_CNT=10
                export NCCL_ALGO="Ring"
                + NCCL_NET=IB torchrun x.py
                declare -x NCCL_PROTO='Simple'
                """))
                .containsExactly("NCCL_ALGO=Ring", "NCCL_IB_RETRY_CNT=10", "NCCL_NET=IB", "NCCL_PROTO=Simple");
    }

    @Test
    void takesNoAdviceForASetting() {
        assertThat(found("ncclInvalidUsage: see above (run with NCCL_DEBUG=WARN for details)\n"))
                .isEmpty();
        assertThat(found("vm:1:2 [0] NCCL INFO NCCL_IB_HCA set to erdma")).isEmpty();
    }

    @Test
    void namesTheRanksThatHaveADifferentValue() {
        String off = "b:10:11 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n";
        List<JudgedVariable> variables = Logs.judge(Logs.erdmaRank("a", 0, 2) + off + Logs.socketRank("b", 1, 2))
                .variables();

        assertThat(variables).singleElement().satisfies(variable -> {
            assertThat(variable.ranks().orElseThrow().text()).isEqualTo("rank 1");
            assertThat(variable.severity()).contains(Severity.FAILURE);
        });
    }
}
