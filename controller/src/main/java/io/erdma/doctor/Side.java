package io.erdma.doctor;

/** From where the doctor looks. */
public enum Side {
    /** The host, or the agent's container, which sees the same. */
    NODE,
    /** A pod, which has the devices that it was granted and its own image's libraries. */
    POD,
    /** A pod that is looked at from its node: its processes and files, not through its eyes. */
    OTHER_POD;

    boolean isPod() {
        return this != NODE;
    }
}
