package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Against the running kernel; dumps need no right. */
class RtNetlinkTest {
    private static long descriptors() throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.count();
        }
    }

    @Test
    void findsTheLoopbackInterface() throws NativeException {
        try (RtNetlink netlink = RtNetlink.open()) {
            assertThat(netlink.links()).filteredOn(link -> link.index() == 1).satisfiesExactly(link -> {
                assertThat(link.name()).isEqualTo("lo");
                assertThat(link.flags() & Link.IFF_LOOPBACK).isNotZero();
            });
        }
    }

    @Test
    void answersSeveralThreadsAtOnce() throws Exception {
        try (RtNetlink netlink = RtNetlink.open();
                var threads = Executors.newFixedThreadPool(4)) {
            Callable<Boolean> dumps = () -> {
                for (int i = 0; i < 50; i++) {
                    if (netlink.links().stream().noneMatch(link -> link.name().equals("lo"))) {
                        return false;
                    }
                }
                return true;
            };
            for (var result :
                    threads.invokeAll(IntStream.range(0, 4).mapToObj(i -> dumps).toList())) {
                assertThat(result.get()).isTrue();
            }
        }
    }

    @Test
    void leavesNoDescriptorBehind() throws IOException {
        RtNetlink.openWithNotifications().close();
        long before = descriptors();
        for (int i = 0; i < 200; i++) {
            try (RtNetlink netlink = RtNetlink.openWithNotifications()) {
                assertThat(netlink.nextChanges()).isNotNull();
            }
        }
        // Other tests' threads may open a few of their own meanwhile.
        assertThat(descriptors()).isLessThan(before + 100);
    }

    @Test
    void saysThatItIsClosedInsteadOfUsingANumberThatMayBeSomebodyElses() throws NativeException {
        RtNetlink netlink = RtNetlink.openWithNotifications();
        netlink.close();
        netlink.close();
        assertThatThrownBy(netlink::links).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(netlink::nextChanges).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void opensForRequestsAloneAndSaysThatItHearsNothing() throws NativeException {
        try (RtNetlink netlink = RtNetlink.open()) {
            assertThat(netlink.links()).isNotEmpty();
            assertThatThrownBy(netlink::nextChanges)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("opened without notifications");
        }
    }

    @Test
    void passesOnTheKernelsErrorAndItsText() throws NativeException {
        try (var socket = NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink for links")) {
            byte[] ofNoSuchLink = new byte[16];
            assertThatThrownBy(() -> socket.ask("RTM_GETLINK", RtMessages.GET_LINK, ofNoSuchLink))
                    .isInstanceOfSatisfying(NativeException.class, e -> {
                        assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                        assertThat(e).hasMessageStartingWith("RTM_GETLINK on netlink for links");
                    });
        }
    }

    @Test
    void describesThisKernelsRdmaOrSaysThatItHasNone() throws NativeException {
        var bytes = new ByteArrayOutputStream();
        RdmaNetlinkProbe.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .contains("link 1 lo ")
                .containsPattern("(?m)^(netns-mode (SHARED|EXCLUSIVE)|no-rdma .*EPROTONOSUPPORT.*)$");
    }
}
