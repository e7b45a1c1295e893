package io.erdma.nccl;

/** Why a rank counts as it does, and what to do about it. */
public enum Reason {
    SELECTED(Outcome.ERDMA, "selected", "NCCL selected eRDMA", ""),
    TCP(
            Outcome.NOT_ERDMA,
            "tcp",
            "TCP: NCCL uses the network Socket",
            "Look below for what kept NCCL from the device. NCCL_NET=IB makes a job fail instead of using TCP silently."),
    SOCKET_CHANNEL(
            Outcome.NOT_ERDMA,
            "socket-channel",
            "TCP: its channels go via NET/Socket",
            "Look below for what kept NCCL from the device. NCCL_NET=IB makes a job fail instead of using TCP silently."),
    OTHER_PLUGIN(
            Outcome.NOT_ERDMA,
            "other-plugin",
            "a network plugin instead of NCCL's verbs transport",
            "Remove libnccl-net.so from the image or set NCCL_NET_PLUGIN=none, so that NCCL uses its own."),
    NO_NETWORK(
            Outcome.NOT_ERDMA,
            "no-network",
            "no network: the one that was demanded could not be used",
            "Look below for what kept NCCL from the device."),
    NO_DEVICE(
            Outcome.NOT_ERDMA,
            "no-device",
            "NCCL found no RDMA device",
            "Look below for what kept NCCL from the device."),
    OTHER_DEVICE(
            Outcome.NOT_ERDMA,
            "other-device",
            "the verbs transport over a device that is not eRDMA",
            "If it is, name it with --device. Else set NCCL_IB_HCA=erdma, or leave it unset."),
    OTHER_DEVICE_CHANNEL(
            Outcome.NOT_ERDMA,
            "other-device-channel",
            "channels go over a device that is not eRDMA",
            "Set NCCL_IB_HCA=erdma, so that NCCL uses no other device."),
    IWARP(
            Outcome.NOT_ERDMA,
            "iwarp",
            "the device is in iWARP mode: NCCL prints /RoCE for it all the same, and its transport can't connect there",
            "Set the driver mode compat or, on GPU nodes, ofed (preferDriver) on all nodes of the job."),
    NETWORK_UNNAMED(
            Outcome.UNKNOWN,
            "network-unnamed",
            "it found the device, but no line says which network it uses",
            "The log ends early or misses lines: take all of it, with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV."),
    DEVICE_UNNAMED(
            Outcome.UNKNOWN,
            "device-unnamed",
            "it uses the verbs transport, but no line names its device",
            "The log begins late or misses lines: take all of it, with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV."),
    UNDECIDED(
            Outcome.UNKNOWN,
            "undecided",
            "no line says which network it uses",
            "Run again with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV; if it hangs before: NCCL_SOCKET_IFNAME.");

    private final Outcome outcome;
    private final String id;
    private final String text;
    private final String cure;

    Reason(Outcome outcome, String id, String text, String cure) {
        this.outcome = outcome;
        this.id = id;
        this.text = text;
        this.cure = cure;
    }

    public Outcome outcome() {
        return outcome;
    }

    /** Stable, for programs. */
    public String id() {
        return id;
    }

    public String text() {
        return text;
    }

    /** Empty where nothing is wrong. */
    public String cure() {
        return cure;
    }
}
