package io.erdma.verbs;

/** State of an RDMA port; the numbers are those of {@code enum ibv_port_state}. */
public enum PortState {
    NOP(0),
    DOWN(1),
    INIT(2),
    ARMED(3),
    ACTIVE(4),
    ACTIVE_DEFER(5),
    /** A number that this release doesn't know. */
    UNKNOWN(-1);

    private final int number;

    PortState(int number) {
        this.number = number;
    }

    public static PortState of(int number) {
        for (PortState state : values()) {
            if (state.number == number) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
