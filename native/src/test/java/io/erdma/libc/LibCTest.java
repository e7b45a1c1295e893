package io.erdma.libc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LibCTest {
    private static final int AF_UNUSED = 200;
    private static final int EAFNOSUPPORT = 97;

    @Test
    void answersTheDescriptorAndClosesIt() throws Exception {
        LibC libc = LibC.load();
        int fd = SystemCall.checked(
                "socket", "a route socket", () -> libc.socket(LibC.AF_NETLINK, LibC.SOCK_RAW | LibC.SOCK_CLOEXEC, 0));
        assertThat(fd).isGreaterThan(2);
        SystemCall.close(libc, fd, "a route socket");
        assertThatThrownBy(() -> SystemCall.close(libc, fd, "a route socket"))
                .isInstanceOfSatisfying(
                        NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
    }

    @Test
    void bindsAndReceivesTheKernelsAnswer() throws Exception {
        LibC libc = LibC.load();
        int fd = SystemCall.checked("socket", "route", () -> libc.socket(LibC.AF_NETLINK, LibC.SOCK_RAW, 0));
        byte[] kernel = new byte[12];
        kernel[0] = LibC.AF_NETLINK;
        SystemCall.checked("bind", "route", () -> libc.bind(fd, kernel, kernel.length));
        // A NLMSG_NOOP that asks for an acknowledgement.
        byte[] noop = new byte[16];
        noop[0] = 16;
        noop[4] = 1;
        noop[6] = 5;
        assertThat(SystemCall.checkedLong(
                        "sendto", "route", () -> libc.sendto(fd, noop, noop.length, 0, kernel, kernel.length)))
                .isEqualTo(16);
        byte[] answer = new byte[8];
        assertThat(SystemCall.checkedLong(
                        "recv", "route", () -> libc.recv(fd, answer, answer.length, LibC.MSG_TRUNC | LibC.MSG_PEEK)))
                .isEqualTo(36);
        byte[] whole = new byte[64];
        byte[] sender = new byte[12];
        int[] senderLength = {sender.length};
        assertThat(SystemCall.checkedLong(
                        "recvfrom", "route", () -> libc.recvfrom(fd, whole, whole.length, 0, sender, senderLength)))
                .isEqualTo(36);
        assertThat(senderLength[0]).isEqualTo(12);
        assertThat(sender[0]).isEqualTo((byte) LibC.AF_NETLINK);
        assertThat(whole[4]).as("NLMSG_ERROR").isEqualTo((byte) 2);
        SystemCall.close(libc, fd, "route");
    }

    @Test
    void aFailedCallNamesItsFunctionErrnoAndSubject() throws Exception {
        LibC libc = LibC.load();
        assertThatThrownBy(() -> SystemCall.checked(
                        "socket", "a family that nobody has", () -> libc.socket(AF_UNUSED, LibC.SOCK_RAW, 0)))
                .isInstanceOfSatisfying(NativeException.class, e -> {
                    assertThat(e.function()).isEqualTo("socket");
                    assertThat(e.errno()).isEqualTo(EAFNOSUPPORT);
                    assertThat(e.subject()).isEqualTo("a family that nobody has");
                    assertThat(e).hasMessageContaining("socket on a family that nobody has failed: ");
                });
    }

    @Test
    void anInterruptedCallIsMadeAgainAndAnyOtherFailureIsNot() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        assertThat(SystemCall.checked("recv", "x", () -> calls.incrementAndGet() < 3 ? failWith(Errno.EINTR) : 7))
                .isEqualTo(7);
        assertThat(calls).hasValue(3);
        calls.set(0);
        assertThatThrownBy(() -> SystemCall.checked("recv", "x", () -> {
                    calls.incrementAndGet();
                    return failWith(Errno.EAGAIN);
                }))
                .isInstanceOf(NativeException.class);
        assertThat(calls).hasValue(1);
    }

    private static int failWith(int errno) {
        jnr.ffi.Runtime.getSystemRuntime().setLastError(errno);
        return -1;
    }
}
