package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The forms that lines have in different versions of NCCL, and what happens to them on their way into a file. */
class LogFormsTest {
    private static final String NETWORK = "vm:739:740 [0] NCCL INFO Using network IB\n";

    private static List<String> devices(String using) {
        return Logs.read("vm:739:740 [0] NCCL INFO NET/IB : Using" + using + "\n")
                .processes()
                .getFirst()
                .devices()
                .stream()
                .map(IbDevice::toString)
                .toList();
    }

    @Test
    void namesDevicesInEachVersionsForm() {
        assertThat(devices(" [0]erdma_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>")).containsExactly("[0]erdma_0:1/RoCE");
        assertThat(devices(" [0]erdma_0:1/RoCE ; OOB eth0:10.0.0.1<0>")).containsExactly("[0]erdma_0:1/RoCE");
        assertThat(devices(" [0]erdma_0:1/RoCE [1]erdma_1:1/RoCE [RO]; OOB eth0:fe80::1%eth0<0>"))
                .containsExactly("[0]erdma_0:1/RoCE", "[1]erdma_1:1/RoCE");
        assertThat(devices(" [0]mlx5_0:1/IB/SHARP [RO]; OOB eno1:192.0.2.1<0>")).containsExactly("[0]mlx5_0:1/IB");
        // 2.21 to 2.23 merge ports.
        assertThat(devices(" [0]={[0] erdma_0:1/RoCE, [1] erdma_1:1/RoCE} [1]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"))
                .containsExactly("[0]erdma_0:1/RoCE", "[0]erdma_1:1/RoCE", "[1]mlx5_0:1/RoCE");
        // 2.30 may tell rail and plane.
        assertThat(devices(" [0]erdma_0:1:0/RoCE [1]erdma_1:1:1:2/RoCE [RO]; OOB eth0:10.0.0.1<0>"))
                .containsExactly("[0]erdma_0:1/RoCE", "[1]erdma_1:1/RoCE");
    }

    @Test
    void namesNoDeviceWhereNcclNamesNone() {
        assertThat(devices(" [RO]; OOB eth0:10.0.0.1<0>")).isEmpty();
        assertThat(devices(" ; OOB eth0:10.0.0.1<0>")).isEmpty();
        assertThat(devices(" [0]; OOB [1]erdma_0:1/RoCE")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Using network IB", "Assigned NET plugin IB to comm", "Using network IBext_v8"})
    void readsTheNetwork(String message) {
        assertThat(Logs.read("vm:739:740 [0] NCCL INFO " + message + "\n")
                        .processes()
                        .getFirst()
                        .networks())
                .containsExactly("IB");
    }

    @Test
    void doesNotTakeThePluginsVersionForANetwork() {
        assertThat(Logs.read("vm:1:2 [0] NCCL INFO Using non-device net plugin version 0\n")
                        .processes()
                        .getFirst()
                        .networks())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Channel 00 : 0[1c1d0] -> 1[2d1d0] [send] via NET/IB/0",
                "Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA",
                "Channel 00/1 : 0[0] -> 8[0] [send] via NET/IB/0(3)/GDRDMA/Shared",
                "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA(PCI)"
            })
    void readsChannels(String message) {
        assertThat(Logs.read("vm:739:740 [0] NCCL INFO " + message + "\n")
                        .processes()
                        .getFirst()
                        .routes()
                        .ib())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "comm 0x55ba rank 3 nranks 16 cudaDev 0 nvmlDev 0 busId a4000 commId 0xab - Init START",
        "ncclCommInitRank comm 0x55d8 rank 3 nranks 16 cudaDev 0 nvmlDev 0 busId 81000 commId 0x9e - Init START",
        "ncclCommInitRankConfig comm 0x21 rank 3 nranks 16 cudaDev 0 nvmlDev 0 busId 60 commId 0x76 - Init COMPLETE",
        "comm 0x21db57b0 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0"
    })
    void readsTheRank(String message) {
        NcclProcess process = Logs.read("vm:739:740 [0] NCCL INFO " + message + "\n")
                .processes()
                .getFirst();

        assertThat(process.ranks()).containsExactly(3);
        assertThat(process.ranksInJob()).isEqualTo(16);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "vm:739:740 [0] NCCL INFO Using network Socket",
                "[2026-11-30 23:36:14] vm:739:740 [0] NCCL INFO Using network Socket",
                "2026-11-30T23:36:14.123456789Z vm:739:740 [0] NCCL INFO Using network Socket",
                "2026-11-30T23:36:14.123456789Z stdout F vm:739:740 [0] NCCL INFO Using network Socket",
                "[rank3]:vm:739:740 [0] NCCL INFO Using network Socket",
                "[default3]:vm:739:740 [0] NCCL INFO Using network Socket",
                "[1,3]<stdout>:vm:739:740 [0] NCCL INFO Using network Socket",
                "3: vm:739:740 [0] NCCL INFO Using network Socket",
                "(worker pid=77, ip=10.0.0.1) vm:739:740 [0] NCCL INFO Using network Socket",
                "[pod/job-worker-0/pytorch] vm:739:740 [-1] NCCL INFO Using network Socket",
                "\u001b[32mvm:739:740 [0] NCCL INFO\u001b[0m Using network \u001b[1;31mSocket\u001b[0m",
                "\u001b]0;title\u0007vm:739:740 [0] NCCL INFO Using network Socket",
                "vm:739:740 [0] NCCL INFO Using network Socket\r",
                " 10%|#         | 1/10 [00:01<00:09]\rvm:739:740 [0] NCCL INFO Using network Socket",
                "{\"log\":\"vm:739:740 [0] NCCL INFO Using network Socket\\n\",\"stream\":\"stdout\"}",
                "vm:739:740 [0] NCCL INFO Using network Socket vm:739:741 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.1<0>",
                "vm:739:740 [0] init.cc:95 NCCL WARN x vm:739:740 [0] NCCL INFO Using network Socket"
            })
    void findsNcclsLineWhateverStandsAroundIt(String line) {
        for (String end : List.of("\n", "\r\n", "")) {
            NcclLog log = Logs.read("one\n" + line + end);

            assertThat(log.processes()).singleElement().satisfies(process -> {
                assertThat(process.host()).isEqualTo("vm");
                assertThat(process.pid()).isEqualTo(739);
                assertThat(process.networks()).containsExactly("Socket");
                assertThat(process.proofs().network().orElseThrow().line()).isEqualTo(2);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "vm:739:740 [0] transport/net_ib.cc:1296 NCCL WARN ",
                "[2026-11-30 23:36:14] vm:739:740 [0] plugin/net.cc:379 NCCL WARN ",
                "[2026-11-30 23:36:14] vm:739:740 [0] plugin/net.cc:379 (ncclNetInit) NCCL WARN ",
                "[2026-11-30 23:36:14] vm:739:740 [0] plugin/net.cc:379 (ncclNetInit) NCCL ATTN ",
                "vm:739:740 [0] ncclNetInit:379 NCCL WARN ",
                "vm:739:740 [0] NCCL INFO "
            })
    void findsFailuresBehindEachVersionsHead(String head) {
        NcclLog log = Logs.read(head + "Failed to initialize any NET plugin\n");

        assertThat(log.processes()).singleElement().satisfies(process -> {
            assertThat(process.host()).isEqualTo("vm");
            assertThat(process.noNetwork()).isTrue();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NCCL INFO Using network Socket",
                "[0] NCCL INFO Using network Socket",
                ":739:740 [0] NCCL INFO Using network Socket",
                "vm:739 [0] NCCL INFO Using network Socket",
                "vm:739:740 [x] NCCL INFO Using network Socket",
                "vm:739:740 NCCL INFO Using network Socket",
                "vm:9999999999:740 [0] NCCL INFO Using network Socket",
                "vm:739:740 [0] a b c NCCL WARN Using network Socket"
            })
    void takesNoLineWithoutItsHead(String line) {
        assertThat(Logs.read(line + "\n").processes()).isEmpty();
    }

    @Test
    void countsLinesAsEditorsDo() {
        assertThat(Logs.read("").lines()).isZero();
        assertThat(Logs.read("a").lines()).isEqualTo(1);
        assertThat(Logs.read("a\n").lines()).isEqualTo(1);
        assertThat(Logs.read("a\r\nb\rc\n\n").lines()).isEqualTo(3);
    }

    @Test
    void survivesMalformedUtf8() {
        byte[] log = ("\u00ff\u00fe " + NETWORK).getBytes(StandardCharsets.ISO_8859_1);

        assertThat(Logs.read(log).processes()).hasSize(1);
    }

    @Test
    void givesALineBehindTextWithoutNewlineToItsProcess() {
        NcclLog log = Logs.read(Logs.socketRank("vm", 0, 1)
                + "loss=2.3564vm:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n");

        assertThat(log.processes()).singleElement().satisfies(process -> {
            assertThat(process.host()).isEqualTo("vm");
            assertThat(process.routes().socket()).isTrue();
        });
        assertThat(log.training().steps()).isEqualTo(1);
    }

    @Test
    void givesAFirstLineThatBeginsWithinTheHostToItsProcess() {
        NcclLog log =
                Logs.read("ker-0:10:11 [0] NCCL INFO cudaDriverVersion 13000\n" + Logs.erdmaRank("worker-0", 0, 1));

        assertThat(log.processes()).extracting(NcclProcess::host).containsExactly("worker-0");
    }

    @Test
    void keepsProcessesOfOneIdOnDifferentHostsApart() {
        NcclLog log = Logs.read(Logs.erdmaRank("worker-1", 0, 2) + Logs.erdmaRank("my-worker-1", 1, 2));

        assertThat(log.processes()).extracting(NcclProcess::host).containsExactly("worker-1", "my-worker-1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "vm:739:740 [0] NCCL INFO Using network So",
                "vm:739:740 [0] NCCL INFO Using network I",
                "vm:739:740 [0] NCCL INFO Using network AWS Libf",
                "vm:739:740 [0] NCCL INFO NET/IB : Using [0]erdma_0:1/Ro",
                "vm:739:740 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket",
                "vm:739:740 [0] NCCL INFO comm 0x21 rank 3 nRanks 1"
            })
    void takesNothingFromAWordThatTheEndOfTheLogCuts(String line) {
        NcclProcess process = Logs.read(line).processes().getFirst();

        assertThat(process.networks()).isEmpty();
        assertThat(process.devices()).isEmpty();
        assertThat(process.ranks()).isEmpty();
        assertThat(process.routes().socket()).isFalse();
    }

    @Test
    void doesNotCallGpuDirectUnusedWhereTheLineIsCut() {
        NcclProcess process = Logs.read("vm:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDR")
                .processes()
                .getFirst();

        assertThat(process.routes().ib()).isTrue();
        assertThat(process.routes().staged()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Train Epoch: 1 [640/60000 (1%)]\tloss=2.3073",
                "Epoch: [0][10/100]  Time 0.1 (0.2)  Loss 6.9012e+00 (6.95)",
                "{'loss': 2.3145, 'grad_norm': 1.2, 'epoch': 0.01}",
                " iteration       10/     100 | consumed samples: 160 | lm loss: 1.036524E+01 | loss scale: 1.0 |",
                "step=3 train_loss = nan",
                "Loss: tensor(2.3)",
                " 10%|#    | 1/10 [00:01<00:09, loss=2.3]\r 20%|",
                "the loss went down, loss: -0.5"
            })
    void seesTrainingGoOn(String line) {
        assertThat(Logs.read(line + "\n").training().steps()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss function: cross entropy",
                "criterion = nn.CrossEntropyLoss()",
                "100% packet loss, time 1000ms",
                "boss: 3, gloss is no l o s s",
                "lossy=1",
                "loss"
            })
    void doesNotTakeAnyLossForTraining(String line) {
        assertThat(Logs.read(line + "\n").training().steps()).isZero();
    }

    @Test
    void knowsWhoseLossItIsWhereTheLineIsTagged() {
        String log = """
                [rank3]: loss=1
                [1,5]<stdout>:loss=1
                7: loss=1
                [default9]: loss=1
                2026-11-30: loss=1
                """;
        assertThat(Logs.read(log).training().ranks().stream()).containsExactly(3, 5, 7);
    }
}
