package io.erdma.nccl;

/** What the erdma driver makes of its devices. */
public enum Mode {
    /** Connections need RDMA_CM; NCCL's IB transport cannot make them. */
    IWARP,
    /** Like RoCE v2, the modes compat and ofed: NCCL works. */
    ROCE
}
