package io.erdma.nccl;

/** A failure that a line gives away, what it means and what cures it. */
public enum Sign {
    NO_DEVICE(
            "no-device",
            Severity.FAILURE,
            "NCCL found no RDMA device with an active port.",
            "Give every replica aliyun/erdma: 1 in its limits; then ibv_devinfo inside the pod has to show PORT_ACTIVE."
                    + " If it shows no device, the image needs ibverbs-providers 43 or newer; if the port is down, so is"
                    + " the interface (erdma devinfo --explain on the node). NCCL_IB_HCA, if set, has to name the device."),
    LIBRARY_MISSING(
            "libibverbs-missing",
            Severity.FAILURE,
            "NCCL could not load libibverbs.",
            "Install libibverbs1 and ibverbs-providers (43 or newer) in the image; NCCL loads the library itself."),
    PROVIDER_MISSING(
            "provider-missing",
            Severity.FAILURE,
            "libibverbs has no provider for the device, so that programs don't see it.",
            "Install ibverbs-providers 43 or newer, or Alibaba Cloud's package, in the image (Ubuntu 22.04 has 39)."),
    OPEN_DENIED(
            "open-device",
            Severity.FAILURE,
            "The device could not be opened.",
            "Its /dev/infiniband/uverbsN is missing in the pod or may not be used: the container needs aliyun/erdma: 1 in"
                    + " its own limits, and a pod that outlived a driver reload has to be started anew."),
    NO_NETWORK(
            "no-network",
            Severity.FAILURE,
            "The network that was demanded (NCCL_NET) could not be used, so NCCL gave up.",
            "Cure what the lines before it tell; without NCCL_NET=IB NCCL would use TCP instead."),
    MEMORY(
            "locked-memory",
            Severity.FAILURE,
            "Memory could not be registered or a queue pair not be made: the limit of locked memory is too low, or the"
                    + " instance's queue pairs are used up.",
            "In the pod, ulimit -l has to say unlimited: LimitMEMLOCK=infinity for containerd's unit, or the capability"
                    + " IPC_LOCK. If it does, count the queue pairs on the node (rdma resource)."),
    VERBS_CALL(
            "verbs-call",
            Severity.FAILURE,
            "A call of the verbs library failed; the line says with which error.",
            "If ibv_reg_mr says Bad address or Invalid argument, GPU memory can't be registered: load nvidia_peermem, or use"
                    + " dma-buf (NCCL_DMABUF_ENABLE unset). Else erdma devinfo --explain on the node."),
    QUEUE_PAIR_STATE(
            "modify-qp",
            Severity.FAILURE,
            "A queue pair could not be connected to its peer.",
            "In iWARP mode NCCL can't connect at all: use the driver mode compat or ofed, the same on all nodes. Else the"
                    + " GID is wrong: leave NCCL_IB_GID_INDEX unset (NCCL 2.21 or newer)."),
    RETRY_EXCEEDED(
            "retry-exceeded",
            Severity.FAILURE,
            "The peer did not answer (status 12): it is dead, or packets do not arrive.",
            "Look at the peer's log first. If it lives: security group, routes through another interface, wrong GID,"
                    + " different driver modes. For long pauses NCCL_IB_TIMEOUT=23 with NCCL_IB_RETRY_CNT=7."),
    COMPLETION_ERROR(
            "completion-error",
            Severity.FAILURE,
            "A transfer failed.",
            "Status 5 only follows another failure, so look at the first one and at the peer's log; 4 points at GPUDirect:"
                    + " nvidia_peermem or dma-buf."),
    ASYNC_FATAL(
            "async-event",
            Severity.FAILURE,
            "The device reported an error of its own.",
            "Look at the node: the agent's log and erdma devinfo --explain, then dmesg."),
    PORT_DOWN(
            "port-error",
            Severity.FAILURE,
            "The device's port went down.",
            "Its interface lost its link or was set down: the agent's log on that node tells when, ip link which."),
    SOCKET_INTERFACE(
            "socket-interface",
            Severity.FAILURE,
            "NCCL found no interface for its own connections.",
            "NCCL_SOCKET_IFNAME has to name an interface of the pod, mostly eth0."),
    PEER_CLOSED(
            "peer-closed",
            Severity.WARNING,
            "Another rank closed its connection, so it ended first.",
            "Look for the first failure in the other ranks' logs."),
    COLLECTIVE_TIMEOUT(
            "collective-timeout",
            Severity.FAILURE,
            "A collective did not end in time: a rank hangs or died, or the network doesn't work.",
            "Find the rank that stopped first. A hang at the start: NCCL_SOCKET_IFNAME, iWARP mode, different driver"
                    + " modes."),
    SEGMENTATION_FAULT(
            "segmentation-fault",
            Severity.FAILURE,
            "A process crashed.",
            "NCCL 2.28.7 and 2.28.9 crash in their network start on eRDMA; 2.28.3, 2.29.7 and 2.30 don't."
                    + " For other versions look at the stack.");

    private final String id;
    private final Severity severity;
    private final String meaning;
    private final String cure;

    Sign(String id, Severity severity, String meaning, String cure) {
        this.id = id;
        this.severity = severity;
        this.meaning = meaning;
        this.cure = cure;
    }

    /** Stable, for programs. */
    public String id() {
        return id;
    }

    public Severity severity() {
        return severity;
    }

    public String meaning() {
        return meaning;
    }

    public String cure() {
        return cure;
    }
}
