package io.erdma.node.kube;

/** What the cluster's API did not do; the message says why, and what to do where that is known. */
public final class ClusterException extends Exception {
    private static final long serialVersionUID = 1L;

    ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
