package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.sysfs.NodeFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NetlinkAnswerTest {
    private static final int MULTI = 2;
    private static final int EPERM = 1;
    private static final int EINVAL = 22;

    private static byte[] message(int type, int flags, int sequence, byte[] payload) {
        byte[] message = NetlinkMessage.request(type, flags, sequence, payload);
        // A request always has the flag REQUEST, an answer never.
        ByteBuffer.wrap(message).order(ByteOrder.nativeOrder()).putShort(6, (short) flags);
        return message;
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.nativeOrder());
        Arrays.stream(values).forEach(bytes::putInt);
        return bytes.array();
    }

    private static byte[] join(byte[]... parts) {
        ByteBuffer bytes = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        Arrays.stream(parts).forEach(bytes::put);
        return bytes.array();
    }

    private static byte[] text(String text) {
        return new Attributes.Writer().text(1, text).toBytes();
    }

    @Test
    void completesADumpWithDone() throws NetlinkFormatException {
        var answer = NetlinkAnswer.ofMessages(7, true);
        assertThat(answer.accept(message(16, MULTI, 7, ints(1)))).isFalse();
        assertThat(answer.accept(message(16, MULTI, 7, ints(2)))).isFalse();
        assertThat(answer.accept(message(NetlinkMessage.DONE, MULTI, 7, ints(0))))
                .isTrue();
        assertThat(answer.kept()).hasSize(2);
        assertThat(answer.interrupted()).isFalse();
        assertThat(answer.failure()).isEmpty();
    }

    @Test
    void completesASingleAnswerWithItsAcknowledgement() throws NetlinkFormatException {
        NetlinkAnswer<NetlinkMessage> answer = Recorded.answer(NodeFixture.SOFT_ROCE, "rdma-port1-0.hex", false);
        assertThat(answer.kept()).hasSize(1);
        assertThat(answer.failure()).isEmpty();
    }

    @Test
    void leavesOutWhatBearsAnotherSequenceNumber() throws NetlinkFormatException {
        var answer = NetlinkAnswer.ofMessages(7, true);
        assertThat(answer.accept(join(
                        message(16, MULTI, 6, ints(1)),
                        message(16, 0, 0, ints(1)),
                        message(NetlinkMessage.DONE, MULTI, 6, ints(0)),
                        message(NetlinkMessage.ERROR, 0, 6, ints(-EPERM, 0, 0, 0, 0)))))
                .isFalse();
        assertThat(answer.accept(message(NetlinkMessage.DONE, MULTI, 7, ints(0))))
                .isTrue();
        assertThat(answer.kept()).isEmpty();
        assertThat(answer.failure()).isEmpty();
    }

    @Test
    void noticesAnInterruptedDumpByAnyOfItsParts() throws NetlinkFormatException {
        for (int interruptedPart = 0; interruptedPart < 3; interruptedPart++) {
            var answer = NetlinkAnswer.ofMessages(7, true);
            for (int part = 0; part < 3; part++) {
                int flags = MULTI | (part == interruptedPart ? NetlinkMessage.FLAG_DUMP_INTERRUPTED : 0);
                answer.accept(message(part == 2 ? NetlinkMessage.DONE : 16, flags, 7, ints(0)));
            }
            assertThat(answer.interrupted()).isTrue();
        }
    }

    @Test
    void endsADumpThatDoneSaysHasFailed() throws NetlinkFormatException {
        NetlinkAnswer<NetlinkMessage> answer = Recorded.answer(NodeFixture.SOFT_ROCE, "rdma-unknown-device.hex", true);
        assertThat(answer.failure())
                .hasValueSatisfying(verdict -> assertThat(verdict.errno()).isEqualTo(EINVAL));
    }

    @Test
    void endsADumpThatIsRefused() throws NetlinkFormatException {
        var answer = NetlinkAnswer.ofMessages(7, true);
        assertThat(answer.accept(message(NetlinkMessage.ERROR, 0, 7, ints(-EPERM, 16, 0, 7, 0))))
                .isTrue();
        assertThat(answer.failure())
                .hasValueSatisfying(verdict -> assertThat(verdict.errno()).isEqualTo(EPERM));
    }

    @Test
    void readsTheKernelsTextBehindACappedAndBehindAFullRequest() throws NetlinkFormatException {
        byte[] capped = message(
                NetlinkMessage.ERROR,
                NetlinkMessage.FLAG_CAPPED | NetlinkMessage.FLAG_ACK_ATTRIBUTES,
                7,
                join(ints(-EINVAL, 40, 0, 7, 0), text("no such thing")));
        byte[] full = message(
                NetlinkMessage.ERROR,
                NetlinkMessage.FLAG_ACK_ATTRIBUTES,
                7,
                join(ints(-EINVAL, 24, 0, 7, 0, 0x1111, 0x2222), text("no such thing")));
        for (byte[] datagram : new byte[][] {capped, full}) {
            var answer = NetlinkAnswer.ofMessages(7, false);
            assertThat(answer.accept(datagram)).isTrue();
            assertThat(answer.failure())
                    .hasValueSatisfying(verdict -> assertThat(verdict.text()).contains("no such thing"));
        }
    }

    @Test
    void doesWithoutATextWhoseLengthsAreWrong() throws NetlinkFormatException {
        for (int repeated : new int[] {0, 15, 1000, -1, Integer.MAX_VALUE}) {
            var answer = NetlinkAnswer.ofMessages(7, false);
            assertThat(answer.accept(message(
                            NetlinkMessage.ERROR,
                            NetlinkMessage.FLAG_ACK_ATTRIBUTES,
                            7,
                            join(ints(-EINVAL, repeated, 0, 7, 0), "abc".getBytes(StandardCharsets.UTF_8)))))
                    .isTrue();
            assertThat(answer.failure())
                    .hasValueSatisfying(verdict -> assertThat(verdict.text()).isEmpty());
        }
    }

    @Test
    void refusesMessagesWhoseLengthIsWrong() {
        for (int length : new int[] {0, 15, 21, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            byte[] datagram = message(16, 0, 7, ints(1));
            ByteBuffer.wrap(datagram).order(ByteOrder.nativeOrder()).putInt(0, length);
            assertThatThrownBy(() -> NetlinkMessage.split(datagram))
                    .isInstanceOf(NetlinkFormatException.class)
                    .hasMessageContaining("claims");
        }
        assertThatThrownBy(() -> NetlinkMessage.split(new byte[5])).isInstanceOf(NetlinkFormatException.class);
    }

    @Test
    void refusesErrorNumbersThatAreNone() {
        for (int error : new int[] {1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThatThrownBy(() -> NetlinkAnswer.ofMessages(7, false)
                            .accept(message(NetlinkMessage.ERROR, 0, 7, ints(error, 0, 0, 0, 0))))
                    .isInstanceOf(NetlinkFormatException.class);
        }
        assertThatThrownBy(() ->
                        NetlinkAnswer.ofMessages(7, false).accept(message(NetlinkMessage.ERROR, 0, 7, new byte[0])))
                .isInstanceOf(NetlinkFormatException.class);
    }

    @Test
    void givesUpOnAnAnswerWithoutEnd() {
        var answer = NetlinkAnswer.ofMessages(7, true);
        byte[] part = message(16, MULTI, 7, new byte[1 << 20]);
        assertThatThrownBy(() -> {
                    while (!answer.accept(part)) {
                        assertThat(answer.kept()).hasSizeLessThan(100);
                    }
                })
                .isInstanceOf(NetlinkFormatException.class)
                .hasMessageContaining("goes on");
    }

    /** The agent's heap is 24 MB, which a hundred thousand routes used up. */
    @Test
    void givesUpOnMoreSmallMessagesThanTheHeapHolds() {
        var answer = NetlinkAnswer.ofMessages(7, true);
        byte[] route = message(24, MULTI, 7, new byte[44]);
        assertThatThrownBy(() -> {
                    for (int routes = 0; routes < 50_000; routes++) {
                        answer.accept(route);
                    }
                })
                .isInstanceOf(NetlinkFormatException.class)
                .hasMessageContaining("goes on");
    }

    @Test
    void keepsNothingOfWhatIsNotWanted() throws NetlinkFormatException {
        var answer =
                new NetlinkAnswer<>(7, true, message -> message.type() == 24 ? Optional.empty() : Optional.of(message));
        byte[] unwanted = message(24, MULTI, 7, new byte[1 << 20]);
        for (int megabyte = 0; megabyte < 100; megabyte++) {
            assertThat(answer.accept(unwanted)).isFalse();
        }
        answer.accept(message(16, MULTI, 7, ints(1)));
        assertThat(answer.accept(message(NetlinkMessage.DONE, MULTI, 7, ints(0))))
                .isTrue();
        assertThat(answer.kept()).hasSize(1);
    }

    /** As a node has them that speaks BGP. What is kept are objects of their own, so no datagram stays behind them. */
    @Test
    void readsAMillionRoutesOfWhichFewMatter() throws NetlinkFormatException {
        var answer = new NetlinkAnswer<>(7, true, RtMessages::routeOfMainTable);
        assertThat(answer.accept(message(16, MULTI, 7, ints(1)))).isFalse();
        byte[] others = message(RtMessages.NEW_ROUTE, MULTI, 7, new byte[44]);
        byte[][] datagram = new byte[500][];
        Arrays.fill(datagram, others);
        byte[] full = join(datagram);
        byte[] route =
                message(RtMessages.NEW_ROUTE, MULTI, 7, new byte[] {2, 0, 0, 0, (byte) 254, 3, 0, 1, 0, 0, 0, 0});
        for (int i = 0; i < 2000; i++) {
            assertThat(answer.accept(full)).isFalse();
        }
        assertThat(answer.accept(route)).isFalse();
        assertThat(answer.accept(message(NetlinkMessage.DONE, MULTI, 7, ints(0))))
                .isTrue();
        assertThat(answer.kept())
                .singleElement()
                .satisfies(one -> assertThat(one.isDefault()).isTrue());
    }

    private static NetlinkAnswer<NetlinkMessage> dump(int value, boolean interrupted) throws NetlinkFormatException {
        var answer = NetlinkAnswer.ofMessages(7, true);
        answer.accept(message(16, MULTI, 7, ints(value)));
        answer.accept(message(
                NetlinkMessage.DONE, MULTI | (interrupted ? NetlinkMessage.FLAG_DUMP_INTERRUPTED : 0), 7, ints(0)));
        return answer;
    }

    @Test
    void discardsInterruptedDumpsAndAsksAgain() throws Exception {
        var answers = new ArrayDeque<>(List.of(dump(1, true), dump(2, true), dump(3, false), dump(4, false)));
        assertThat(NetlinkSocket.consistent("RTM_GETLINK", "links", answers::poll))
                .singleElement()
                .satisfies(message -> assertThat(message.payload().getInt(0)).isEqualTo(3));
        assertThat(answers).hasSize(1);
    }

    @Test
    void saysSoWhenEveryDumpIsInterrupted() throws NetlinkFormatException {
        NetlinkAnswer<NetlinkMessage> interrupted = dump(1, true);
        assertThatThrownBy(() -> NetlinkSocket.consistent("RTM_GETLINK", "links", () -> interrupted))
                .isInstanceOfSatisfying(
                        NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .hasMessageContaining("changed during each");
    }
}
