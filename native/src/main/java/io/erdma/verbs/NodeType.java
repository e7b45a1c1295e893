package io.erdma.verbs;

/** Type of an RDMA node; the numbers are those of {@code enum ibv_node_type}. */
public enum NodeType {
    UNKNOWN(-1),
    CA(1),
    SWITCH(2),
    ROUTER(3),
    /** An iWARP card. */
    RNIC(4),
    USNIC(5),
    USNIC_UDP(6),
    UNSPECIFIED(7);

    private final int number;

    NodeType(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    public static NodeType of(int number) {
        for (NodeType type : values()) {
            if (type.number == number) {
                return type;
            }
        }
        return UNKNOWN;
    }
}
