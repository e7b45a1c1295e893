package io.erdma.verbs;

/** What we read of {@code struct ibv_context}. */
enum ContextStruct implements StructField {
    ASYNC_FD(268, 4),
    NUM_COMP_VECTORS(272, 4);

    private final int offset;
    private final int size;

    ContextStruct(int offset, int size) {
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
}
