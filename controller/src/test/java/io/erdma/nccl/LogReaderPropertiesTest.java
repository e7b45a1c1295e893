package io.erdma.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever the bytes are and however they arrive. */
class LogReaderPropertiesTest {
    /** What gets near the places where a reader could err. */
    private static final List<String> PARTS = List.of(
            "vm:1:2 [0] ",
            "vm:1:2 [0] net.cc:1 ",
            "worker-0:123456789:1 [-1] ",
            ":1:2 [0] ",
            "NCCL INFO ",
            "NCCL WARN ",
            "NCCL",
            "NCCL_",
            "NCCL_IB_HCA set by environment to ",
            "NCCL_NET=",
            "NCCL version ",
            "NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB ",
            "NET/IB : Using [RO]; OOB ",
            "NET/IB : Using [0]={[0] ",
            "NET/IB : No device found.",
            "Using network ",
            "IB",
            "Socket",
            "Channel 00/0 : 0[0] -> 1[0] [send] via ",
            "NET/IB/0/GDRDMA",
            "NET/Socket/0",
            "P2P/CUMEM",
            "comm 0x1 rank 1 nranks 2 ",
            "Got completion from peer with status=12",
            "Segmentation fault",
            "loss=2.3",
            "loss",
            "[rank1]: ",
            "\u001b[31m",
            "\u001b]0;",
            "\u001b",
            "\u0007",
            "{\"log\":\"",
            "\\n\"",
            "[",
            "]",
            ":",
            " ",
            "999999999999",
            "\r",
            "\n",
            "\n",
            "\u00ff",
            "\u0000",
            "x".repeat(300));

    @Provide
    Arbitrary<byte[]> logs() {
        Arbitrary<byte[]> noise = Arbitraries.bytes().array(byte[].class).ofMaxSize(400);
        Arbitrary<byte[]> nearly = Arbitraries.of(PARTS)
                .list()
                .ofMaxSize(60)
                .map(parts -> String.join("", parts).getBytes(StandardCharsets.ISO_8859_1));
        Arbitrary<byte[]> cut = Combinators.combine(
                        Arbitraries.of("p2p.log", "socket-env.log", "ib-forced-missing.log"),
                        Arbitraries.integers().between(0, 12_000),
                        Arbitraries.integers().between(0, 12_000))
                .as((name, one, other) -> {
                    byte[] all = Logs.bytes(name);
                    int from = Math.min(Math.min(one, other), all.length);
                    return Arrays.copyOfRange(all, from, Math.min(Math.max(one, other), all.length));
                });
        return Arbitraries.oneOf(noise, nearly, cut);
    }

    @Property
    void anyBytesGetAVerdict(@ForAll("logs") byte[] bytes) {
        NcclLog log = Logs.read(bytes);

        assertThat(log.bytes()).isEqualTo(bytes.length);
        assertThat(NcclRules.judge(log, Expectation.none()).outcome()).isNotNull();
    }

    @Property
    void piecesOfAnySizeGiveTheSameResult(@ForAll("logs") byte[] bytes, @ForAll Random random) {
        LogReader reader = new LogReader();
        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(1 + random.nextInt(random.nextBoolean() ? 3 : 700), bytes.length - at);
            reader.read(bytes, at, at + length);
            at += length;
        }
        assertThat(reader.finish()).isEqualTo(Logs.read(bytes));
    }

    @Property(tries = 100)
    void longLinesGiveTheSameResultInPieces(@ForAll Random random) {
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < 4; line++) {
            int length = LogReader.LONGEST_LINE + random.nextInt(-60, 60);
            String end = Logs.erdmaRank("vm", 0, 1).lines().findFirst().orElseThrow();
            text.append("y".repeat(Math.max(0, length - random.nextInt(0, 200))))
                    .append(end)
                    .append('\n');
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        LogReader reader = new LogReader();
        for (int at = 0; at < bytes.length; ) {
            int length = Math.min(random.nextInt(1, 20_000), bytes.length - at);
            reader.read(bytes, at, at + length);
            at += length;
        }
        assertThat(reader.finish()).isEqualTo(Logs.read(bytes));
    }

    /** Of a rank's verdict, all but the numbers of lines. */
    private record Said(RankNames.Names ranks, Reason reason, Set<String> networks, List<IbDevice> devices) {}

    private static List<Said> said(String log) {
        return Logs.judge(log).groups().stream()
                .map(group -> new Said(group.ranks(), group.reason(), group.networks(), group.devices()))
                .sorted(Comparator.comparing(Said::toString))
                .toList();
    }

    @Property(tries = 200)
    void ranksMayInterleaveInAnyOrder(@ForAll Random random) {
        int count = random.nextInt(2, 9);
        List<List<String>> ranks = new ArrayList<>();
        for (int rank = 0; rank < count; rank++) {
            String lines = random.nextBoolean()
                    ? Logs.erdmaRank("host-" + rank, rank, count)
                    : Logs.socketRank("host-" + rank, rank, count);
            ranks.add(new ArrayList<>(lines.lines().toList()));
        }
        List<Said> inOrder = said(text(ranks.stream().flatMap(List::stream).toList()));
        List<String> mixed = new ArrayList<>();
        while (!ranks.isEmpty()) {
            List<String> next = ranks.get(random.nextInt(ranks.size()));
            mixed.add(next.removeFirst());
            if (next.isEmpty()) {
                ranks.remove(next);
            }
        }
        assertThat(said(text(mixed))).isEqualTo(inOrder);
    }

    private static String text(List<String> lines) {
        return String.join("\n", lines) + "\n";
    }
}
