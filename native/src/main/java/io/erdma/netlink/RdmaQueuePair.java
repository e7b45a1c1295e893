package io.erdma.netlink;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * One queue pair.
 *
 * @param type {@code enum ib_qp_type}: 1 GSI, 2 RC, 4 UD
 * @param state {@code enum ib_qp_state}: 0 reset, 1 init, 2 ready to receive, 3 ready to send, 6 error
 * @param thread that made it, as this process's pid namespace knows it; that of a process with one thread is its pid.
 *     Absent for the kernel's own, where the namespace does not contain it, and when that thread has ended, though the
 *     process lives on
 * @param kernelName of the kernel module that owns it
 */
public record RdmaQueuePair(
        int deviceIndex,
        int port,
        long localNumber,
        int type,
        int state,
        OptionalLong thread,
        Optional<String> kernelName) {}
