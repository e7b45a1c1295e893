package io.erdma.verbs;

/**
 * {@code struct ibv_async_event}. The element is a union of pointers and, for port events, the port number in its first
 * four bytes.
 */
enum AsyncEvent implements StructField {
    ELEMENT_PORT_NUM(0, 4),
    EVENT_TYPE(8, 4);

    static final int BUFFER = 16;

    private final int offset;
    private final int size;

    AsyncEvent(int offset, int size) {
        this.offset = offset;
        this.size = size;
    }

    @Override
    public int offset() {
        return offset;
    }

    @Override
    public int size() {
        return size;
    }

    static VerbsEvent read(byte[] struct) {
        int port = ELEMENT_PORT_NUM.signed(struct);
        int type = EVENT_TYPE.signed(struct);
        return switch (type) {
            case 8 -> new VerbsEvent.DeviceFatal();
            case 9 -> new VerbsEvent.PortActive(port);
            case 10 -> new VerbsEvent.PortError(port);
            case 18 -> new VerbsEvent.GidChange(port);
            default -> new VerbsEvent.Other(type);
        };
    }
}
