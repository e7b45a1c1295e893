package io.erdma.netlink;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * One queue pair.
 *
 * @param type {@code enum ib_qp_type}: 1 GSI, 2 RC, 4 UD
 * @param state {@code enum ib_qp_state}: 0 reset, 1 init, 2 ready to receive, 3 ready to send, 6 error
 * @param pid of the process that owns it; absent for the kernel's own
 * @param kernelName of the kernel module that owns it
 */
public record RdmaQueuePair(
        int deviceIndex,
        int port,
        long localNumber,
        int type,
        int state,
        OptionalLong pid,
        Optional<String> kernelName) {}
