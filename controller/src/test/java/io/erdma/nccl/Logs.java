package io.erdma.nccl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Logs for tests, real ones and made ones, and their way through the reader. */
public final class Logs {
    private static final Path DIRECTORY = Path.of("src/test/resources/nccl");

    private Logs() {}

    public static Path file(String name) {
        return DIRECTORY.resolve(name);
    }

    static byte[] bytes(String name) {
        try {
            return Files.readAllBytes(file(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static NcclLog read(byte[] bytes) {
        LogReader reader = new LogReader();
        reader.read(bytes, 0, bytes.length);
        return reader.finish();
    }

    static NcclLog read(String text) {
        return read(text.getBytes(StandardCharsets.UTF_8));
    }

    static NcclVerdict judge(String text) {
        return judge(text, Expectation.none());
    }

    static NcclVerdict judge(String text, Expectation expected) {
        return NcclRules.judge(read(text), expected);
    }

    /** The lines of one process that chose the first eRDMA device, in the form of NCCL 2.21. */
    public static String erdmaRank(String host, int rank, int of) {
        return """
                HOST:10:11 [0] NCCL INFO NET/IB : Using [0]erdma_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>
                HOST:10:11 [0] NCCL INFO Using network IB
                HOST:10:11 [0] NCCL INFO ncclCommInitRank comm 0x55d8 rank RANK nranks OF cudaDev 0 nvmlDev 0 busId 60 commId 0x9e - Init START
                HOST:10:11 [0] NCCL INFO Channel 00/0 : RANK[0] -> 1[0] [send] via NET/IB/0/GDRDMA
                """.replace("HOST", host).replace("RANK", Integer.toString(rank)).replace("OF", Integer.toString(of));
    }

    /** One that found no device and uses TCP. */
    public static String socketRank(String host, int rank, int of) {
        return """
                HOST:10:11 [0] NCCL INFO NET/IB : No device found.
                HOST:10:11 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>
                HOST:10:11 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
                HOST:10:11 [0] NCCL INFO Using network Socket
                HOST:10:11 [0] NCCL INFO ncclCommInitRank comm 0x55d8 rank RANK nranks OF cudaDev 0 nvmlDev 0 busId 60 commId 0x9e - Init START
                """.replace("HOST", host).replace("RANK", Integer.toString(rank)).replace("OF", Integer.toString(of));
    }
}
