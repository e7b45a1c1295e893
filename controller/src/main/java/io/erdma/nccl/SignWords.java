package io.erdma.nccl;

import java.util.Optional;

/** By which words a sign of a failure is known. */
final class SignWords {
    private static final byte[] LIBIBVERBS = Bytes.of("open libibverbs.so");
    private static final byte[] UNABLE_TO_OPEN = Bytes.of("Unable to open device");
    private static final byte[] OPEN_DEVICE = Bytes.of("ibv_open_device failed");
    private static final byte[] ANY_PLUGIN = Bytes.of("Failed to initialize any NET plugin");
    private static final byte[] COMPLETION = Bytes.of("Got completion ");
    private static final byte[] STATUS = Bytes.of(" status=");
    private static final byte[] ERROR = Bytes.of(" error ");
    private static final byte[] ASYNC = Bytes.of(" async ");
    private static final byte[] EVENT = Bytes.of("event");
    private static final byte[] PORT_ERROR = Bytes.of("port error");
    private static final byte[] CALL = Bytes.of("Call to ibv_");
    private static final byte[] FAILED = Bytes.of("failed");
    private static final byte[] MODIFY_QP = Bytes.of("ibv_modify_qp");
    private static final byte[] ERROR_CODE = Bytes.of("rror");
    private static final byte[] ENOMEM = Bytes.of("12");
    private static final byte[] NO_MEMORY = Bytes.of("Cannot allocate memory");
    private static final byte[] NO_SOCKET = Bytes.of("no socket interface found");
    private static final byte[] NO_INTERFACE = Bytes.of("No interface found");
    private static final byte[] NO_IP_INTERFACE = Bytes.of("No IP interface found");
    private static final byte[] CLOSED = Bytes.of("onnection closed by remote peer");
    private static final byte[] CORE = Bytes.of("Segmentation fault");
    private static final byte[] SIGSEGV = Bytes.of("SIGSEGV");
    private static final byte[] WATCHDOG = Bytes.of("Watchdog caught collective operation timeout");
    private static final byte[] NO_PROVIDER = Bytes.of("Warning: no userspace device-specific driver found");

    /** Calls that lock memory or use up a queue pair. */
    private static final byte[][] MEMORY_CALLS = {
        Bytes.of("ibv_create_qp"), Bytes.of("ibv_create_cq"), Bytes.of("ibv_reg_mr"), Bytes.of("ibv_reg_dmabuf_mr")
    };

    /** Events that tell of no failure, as libibverbs names them. */
    private static final byte[][] HARMLESS_EVENTS = {
        Bytes.of("port active"),
        Bytes.of("GID table change"),
        Bytes.of("GID change"),
        Bytes.of("communication established"),
        Bytes.of("last WQE reached"),
        Bytes.of("client reregist"),
        Bytes.of("SM change"),
        Bytes.of("able change"),
        Bytes.of("LID change"),
        Bytes.of("path migration successful"),
        Bytes.of("SRQ limit")
    };

    private static final int RETRY_EXCEEDED = 12;

    private SignWords() {}

    /** In a message of NCCL's. */
    static Optional<Sign> find(byte[] bytes, int from, int to) {
        if (Bytes.contains(bytes, from, to, CALL)) {
            return call(bytes, from, to);
        }
        if (Bytes.contains(bytes, from, to, COMPLETION)) {
            return Optional.of(status(bytes, from, to) == RETRY_EXCEEDED ? Sign.RETRY_EXCEEDED : Sign.COMPLETION_ERROR);
        }
        if (Bytes.contains(bytes, from, to, ASYNC) && Bytes.contains(bytes, from, to, EVENT)) {
            return event(bytes, from, to);
        }
        if (Bytes.contains(bytes, from, to, LIBIBVERBS)) {
            return Optional.of(Sign.LIBRARY_MISSING);
        }
        if (Bytes.contains(bytes, from, to, UNABLE_TO_OPEN)) {
            return Optional.of(Sign.OPEN_DENIED);
        }
        if (Bytes.contains(bytes, from, to, ANY_PLUGIN)) {
            return Optional.of(Sign.NO_NETWORK);
        }
        if (Bytes.contains(bytes, from, to, NO_SOCKET)
                || Bytes.contains(bytes, from, to, NO_INTERFACE)
                || Bytes.contains(bytes, from, to, NO_IP_INTERFACE)) {
            return Optional.of(Sign.SOCKET_INTERFACE);
        }
        return Bytes.contains(bytes, from, to, CLOSED) ? Optional.of(Sign.PEER_CLOSED) : Optional.empty();
    }

    /** In a line that is not NCCL's. */
    static Optional<Sign> findPlain(byte[] bytes, int from, int to) {
        if (Bytes.contains(bytes, from, to, CORE) || Bytes.contains(bytes, from, to, SIGSEGV)) {
            return Optional.of(Sign.SEGMENTATION_FAULT);
        }
        if (Bytes.contains(bytes, from, to, WATCHDOG)) {
            return Optional.of(Sign.COLLECTIVE_TIMEOUT);
        }
        return Bytes.contains(bytes, from, to, NO_PROVIDER) ? Optional.of(Sign.PROVIDER_MISSING) : Optional.empty();
    }

    private static Optional<Sign> call(byte[] bytes, int from, int to) {
        if (!Bytes.contains(bytes, from, to, FAILED)) {
            return Optional.empty();
        }
        if (Bytes.contains(bytes, from, to, OPEN_DEVICE)) {
            return Optional.of(Sign.OPEN_DENIED);
        }
        if (Bytes.contains(bytes, from, to, MODIFY_QP)) {
            return Optional.of(Sign.QUEUE_PAIR_STATE);
        }
        int failed = Bytes.indexOf(bytes, from, to, FAILED);
        boolean reasonIsMemory = !Bytes.contains(bytes, failed, to, ERROR_CODE)
                || Bytes.contains(bytes, failed, to, NO_MEMORY)
                || Bytes.contains(bytes, failed, to, ENOMEM);
        for (byte[] call : MEMORY_CALLS) {
            if (Bytes.contains(bytes, from, failed, call)) {
                return Optional.of(reasonIsMemory ? Sign.MEMORY : Sign.VERBS_CALL);
            }
        }
        return Optional.of(Sign.VERBS_CALL);
    }

    /** {@code status=12}, {@code status=IBV_WC_RETRY_EXC_ERR(12)}, and {@code error 12} of NCCL 2.18; -1 for none. */
    private static int status(byte[] bytes, int from, int to) {
        int at = Bytes.indexOf(bytes, from, to, STATUS);
        if (at >= 0) {
            at += STATUS.length;
            int word = at;
            while (word < to && bytes[word] != ' ' && bytes[word] != '(') {
                word++;
            }
            if (word < to && bytes[word] == '(') {
                at = word + 1;
            }
        } else {
            at = Bytes.indexOf(bytes, from, to, ERROR);
            if (at < 0) {
                return -1;
            }
            at += ERROR.length;
        }
        return Bytes.number(bytes, at, Bytes.digitsEnd(bytes, at, to));
    }

    private static Optional<Sign> event(byte[] bytes, int from, int to) {
        if (Bytes.contains(bytes, from, to, PORT_ERROR)) {
            return Optional.of(Sign.PORT_DOWN);
        }
        for (byte[] harmless : HARMLESS_EVENTS) {
            if (Bytes.contains(bytes, from, to, harmless)) {
                return Optional.empty();
            }
        }
        return Optional.of(Sign.ASYNC_FATAL);
    }
}
