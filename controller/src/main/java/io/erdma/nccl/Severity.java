package io.erdma.nccl;

/** How bad something is. */
public enum Severity {
    FAILURE,
    WARNING,
    NOTE
}
