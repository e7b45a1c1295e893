package io.erdma.nccl;

/** Whether NCCL chose eRDMA. */
public enum Outcome {
    ERDMA,
    NOT_ERDMA,
    UNKNOWN
}
