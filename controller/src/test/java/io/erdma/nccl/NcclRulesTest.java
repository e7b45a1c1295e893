package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.NcclVerdict.Finding;
import io.erdma.nccl.NcclVerdict.GpuDirect;
import io.erdma.nccl.NcclVerdict.Group;
import io.erdma.nccl.NcclVerdict.Traffic;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases R15 and R16: what a log proves, and what it doesn't. */
class NcclRulesTest {
    private static final String USING =
            "w:1:2 [0] NCCL INFO NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n";
    private static final String NETWORK_IB = "w:1:2 [0] NCCL INFO Using network IB\n";

    private static Reason reason(String log) {
        return Logs.judge(log).groups().getFirst().reason();
    }

    private static Expectation mode(Mode mode) {
        return new Expectation(Set.of(), Optional.of(mode), "the test");
    }

    @Test
    void isContentWhenEveryRankSelectedErdma() {
        NcclVerdict verdict = Logs.judge(Logs.erdmaRank("a", 0, 2) + Logs.erdmaRank("b", 1, 2));

        assertThat(verdict.outcome()).isEqualTo(Outcome.ERDMA);
        assertThat(verdict.failing()).isEmpty();
        assertThat(verdict.groups()).hasSize(1);
        Group group = verdict.groups().getFirst();
        assertThat(group.ranks()).isEqualTo(new RankNames.Names(2, "ranks 0-1"));
        assertThat(group.devices()).containsExactly(new IbDevice(0, "erdma_0", 1, "RoCE"));
        assertThat(group.traffic()).isEqualTo(Traffic.VERBS);
        assertThat(group.gpuDirect()).isEqualTo(GpuDirect.USED);
    }

    @Test
    void namesTheOneRankThatFellBack() {
        StringBuilder log = new StringBuilder();
        for (int rank = 0; rank < 16; rank++) {
            log.append(rank == 11 ? Logs.socketRank("h" + rank, rank, 16) : Logs.erdmaRank("h" + rank, rank, 16));
        }
        NcclVerdict verdict = Logs.judge(log.toString());

        assertThat(verdict.outcome()).isEqualTo(Outcome.NOT_ERDMA);
        assertThat(verdict.failing()).contains(new RankNames.Names(1, "rank 11"));
        assertThat(verdict.groups())
                .extracting(group -> group.ranks().text())
                .containsExactly("rank 11", "ranks 0-10,12-15");
    }

    @Test
    void oneThatFellBackWeighsMoreThanOneThatIsUnknownAndThatMoreThanTheRest() {
        String unknown = "u:1:2 [0] NCCL INFO cudaDriverVersion 13000\n";
        String good = Logs.erdmaRank("a", 0, 3);
        String bad = Logs.socketRank("b", 1, 3);

        assertThat(Logs.judge(good + unknown).outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(Logs.judge(unknown + bad + good).outcome()).isEqualTo(Outcome.NOT_ERDMA);
        assertThat(Logs.judge(bad + unknown).outcome()).isEqualTo(Outcome.NOT_ERDMA);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "step 1 loss: 2.3\n",
                "NCCL version 2.21.5+cuda12.4\n",
                "[2026-11-30 23:36:14] vm:739:740 [0] misc/socket.cc:1 NCCL WARN socketStartConnect: exceeded retries\n"
            })
    void cannotTellWithoutLinesAtTheLevelInfoAndSaysWhatToSet(String log) {
        NcclVerdict verdict = Logs.judge(log);

        assertThat(verdict.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(verdict.findings())
                .filteredOn(finding -> finding.id().equals("no-info-lines"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.cure()).contains("NCCL_DEBUG=INFO", "INIT,NET"));
    }

    @Test
    void needsTheNameOfTheDeviceAndOfTheNetwork() {
        assertThat(reason(USING + NETWORK_IB)).isEqualTo(Reason.SELECTED);
        assertThat(reason(USING)).isEqualTo(Reason.NETWORK_UNNAMED);
        assertThat(reason(NETWORK_IB)).isEqualTo(Reason.DEVICE_UNNAMED);
        assertThat(reason("w:1:2 [0] NCCL INFO Using network AWS Libfabric\n" + USING))
                .isEqualTo(Reason.OTHER_PLUGIN);
        assertThat(reason("w:1:2 [0] NCCL INFO NET/IB : No device found.\n")).isEqualTo(Reason.NO_DEVICE);
        assertThat(reason(NETWORK_IB + "w:1:2 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>\n"))
                .isEqualTo(Reason.DEVICE_UNNAMED);
    }

    @Test
    void doesNotMindAPluginThatFoundNoDeviceBeforeNcclDid() {
        NcclVerdict verdict = Logs.judge("w:1:2 [0] NCCL INFO NET/IB : No device found.\n" + USING + NETWORK_IB);

        assertThat(verdict.outcome()).isEqualTo(Outcome.ERDMA);
        assertThat(verdict.findings()).extracting(Finding::id).doesNotContain("no-device");
    }

    @Test
    void believesAChannelMoreThanAPromise() {
        String socket = "w:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n";
        assertThat(reason(USING + NETWORK_IB + socket)).isEqualTo(Reason.SOCKET_CHANNEL);
    }

    @Test
    void aCommunicatorOverTcpSpoilsItsRank() {
        assertThat(reason(USING + NETWORK_IB + "w:1:2 [0] NCCL INFO Using network Socket\n"))
                .isEqualTo(Reason.TCP);
    }

    @Test
    void knowsTheDeviceOfAChannelByItsIndex() {
        String two = USING.replace("/RoCE [RO]", "/RoCE [1]mlx5_0:1/RoCE [RO]") + NETWORK_IB;
        String channel = "w:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/INDEX\n";

        assertThat(reason(two + channel.replace("INDEX", "0"))).isEqualTo(Reason.SELECTED);
        assertThat(reason(two + channel.replace("INDEX", "1/GDRDMA"))).isEqualTo(Reason.OTHER_DEVICE_CHANNEL);
        // A device that NCCL made of several; it lists only the parts.
        assertThat(reason(two + channel.replace("INDEX", "2"))).isEqualTo(Reason.SELECTED);
        assertThat(Logs.judge(two).findings()).extracting(Finding::id).contains("other-devices");
    }

    @Test
    void takesOtherNamesOnlyWhenTold() {
        String renamed = Logs.erdmaRank("a", 0, 1).replace("erdma_0", "rocep128s7");

        assertThat(reason(renamed)).isEqualTo(Reason.OTHER_DEVICE);
        assertThat(Logs.judge(renamed, new Expectation(Set.of("rocep128s7"), Optional.empty(), ""))
                        .outcome())
                .isEqualTo(Outcome.ERDMA);
        assertThat(Logs.judge(Logs.erdmaRank("a", 0, 1), new Expectation(Set.of("erdma_1"), Optional.empty(), ""))
                        .outcome())
                .isEqualTo(Outcome.NOT_ERDMA);
    }

    @Test
    void warnsThatTheModeIsNotInTheLog() {
        String log = Logs.erdmaRank("a", 0, 1);

        assertThat(Logs.judge(log).findings()).extracting(Finding::id).containsExactly("mode-unknown");
        assertThat(Logs.judge(log, mode(Mode.ROCE)).findings()).isEmpty();
    }

    @Test
    void callsIwarpWhatItIsWhereverTheModeIsKnown() {
        NcclVerdict verdict = Logs.judge(Logs.erdmaRank("a", 0, 1), mode(Mode.IWARP));

        assertThat(verdict.outcome()).isEqualTo(Outcome.NOT_ERDMA);
        assertThat(verdict.groups().getFirst().reason()).isEqualTo(Reason.IWARP);
        assertThat(Reason.IWARP.text()).contains("iWARP", "/RoCE");
    }

    @ParameterizedTest
    @CsvSource({
        "via P2P/CUMEM, LOCAL",
        "via P2P/IPC/read, LOCAL",
        "via SHM/direct/direct, LOCAL",
        "[send] via NET/IB/0, VERBS",
        "[receive] via NET/IB/0(3)/GDRDMA/Shared, VERBS"
    })
    void callsTrafficProvenOnlyWhenChannelsGoViaVerbs(String via, Traffic traffic) {
        NcclVerdict verdict =
                Logs.judge(USING + NETWORK_IB + "w:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] " + via + "\n");

        assertThat(verdict.outcome()).isEqualTo(Outcome.ERDMA);
        assertThat(verdict.groups().getFirst().traffic()).isEqualTo(traffic);
        assertThat(verdict.findings().stream().anyMatch(finding -> finding.id().equals("traffic-not-proven")))
                .isEqualTo(traffic != Traffic.VERBS);
    }

    @Test
    void saysThatTrafficIsNotProvenWithoutAnyChannel() {
        assertThat(Logs.judge(USING + NETWORK_IB).findings())
                .extracting(Finding::id)
                .contains("traffic-not-proven");
    }

    @ParameterizedTest
    @CsvSource({
        "NET/IB/0/GDRDMA, NET/IB/0/GDRDMA, USED",
        "NET/IB/0/GDRDMA, NET/IB/0, PARTLY",
        "NET/IB/0, NET/IB/0/Shared, UNUSED",
        "NET/IB/0(5)/GDRDMA(PCI), NET/IB/1/GDRDMA(PCI)/Shared, USED"
    })
    void seesGpuDirectInTheChannels(String one, String other, GpuDirect expected) {
        NcclVerdict verdict = Logs.judge(USING + NETWORK_IB
                + "w:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via " + one + "\n"
                + "w:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via " + other + "\n");

        assertThat(verdict.groups().getFirst().gpuDirect()).isEqualTo(expected);
        assertThat(verdict.findings().stream().anyMatch(finding -> finding.id().equals("no-gpudirect")))
                .isEqualTo(expected == GpuDirect.UNUSED);
    }

    @Test
    void seesWhatNcclSaysAboutGpuDirectWhenThereAreNoChannels() {
        String enabled = "w:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'erdma_0'\n";

        assertThat(Logs.judge(USING + NETWORK_IB + enabled).groups().getFirst().gpuDirect())
                .isEqualTo(GpuDirect.ENABLED);
        assertThat(Logs.judge(USING + NETWORK_IB + enabled.replace("Enabled", "Disabled"))
                        .groups()
                        .getFirst()
                        .gpuDirect())
                .isEqualTo(GpuDirect.DISABLED);
        assertThat(Logs.judge(USING + NETWORK_IB).groups().getFirst().gpuDirect())
                .isEqualTo(GpuDirect.UNKNOWN);
    }

    @Test
    void warnsOfVersionsThatCrash() {
        String log = "w:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n" + USING + NETWORK_IB;

        assertThat(Logs.judge(log).findings()).extracting(Finding::id).contains("crashing-version");
        assertThat(Logs.judge(log.replace("2.28.9", "2.29.7")).findings())
                .extracting(Finding::id)
                .doesNotContain("crashing-version");
    }

    @Test
    void saysWhichPartOfTheJobTheLogHolds() {
        assertThat(Logs.judge(Logs.erdmaRank("a", 0, 16)).findings())
                .filteredOn(finding -> finding.id().equals("ranks-missing"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.meaning()).contains("1 of the job's 16 ranks"));
    }

    @Test
    void takesARanksNumberFromTheLargestCommunicator() {
        String log = Logs.erdmaRank("a", 5, 16)
                + "a:10:11 [0] NCCL INFO ncclCommSplit comm 0x56 rank 1 nranks 2 cudaDev 0 - Init COMPLETE\n";

        assertThat(Logs.judge(log).groups().getFirst().ranks().text()).isEqualTo("rank 5");
    }

    @Test
    void namesProcessesWhereNumbersAreNotUnique() {
        // Two starts of the same rank in one log: the first fell back.
        String log = Logs.socketRank("a", 0, 1) + Logs.erdmaRank("a", 0, 1).replace("a:10:", "a:99:");
        NcclVerdict verdict = Logs.judge(log);

        assertThat(verdict.outcome()).isEqualTo(Outcome.NOT_ERDMA);
        assertThat(verdict.failing().orElseThrow().text()).isEqualTo("a:10 (rank 0)");
    }

    @Test
    void countsTheRanksOfAProcessWithSeveralGpus() {
        StringBuilder log = new StringBuilder(USING);
        for (int gpu = 0; gpu < 8; gpu++) {
            log.append("w:1:%d [%d] NCCL INFO Using network IB\n".formatted(gpu + 2, gpu))
                    .append(
                            "w:1:%d [%d] NCCL INFO ncclCommInitAll comm 0x5%d rank %d nranks 8 cudaDev %d - Init START\n"
                                    .formatted(gpu + 2, gpu, gpu, gpu, gpu));
        }
        assertThat(Logs.judge(log.toString()).groups().getFirst().ranks())
                .isEqualTo(new RankNames.Names(8, "ranks 0-7"));
    }
}
