package io.erdma.verbs;

/** What we read of {@code struct ibv_device}. */
enum DeviceStruct implements StructField {
    NODE_TYPE(16, 4),
    TRANSPORT_TYPE(20, 4),
    DEV_NAME(88, 64);

    private final int offset;
    private final int size;

    DeviceStruct(int offset, int size) {
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

    /** Up to and including {@code dev_name}. */
    static final int READ = 152;
}
