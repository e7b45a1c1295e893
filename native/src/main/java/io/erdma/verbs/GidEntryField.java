package io.erdma.verbs;

/** {@code struct ibv_gid_entry}; the library checks the size that is passed with it. */
enum GidEntryField implements StructField {
    GID(0, 16),
    GID_INDEX(16, 4),
    PORT_NUM(20, 4),
    GID_TYPE(24, 4),
    NDEV_IFINDEX(28, 4);

    static final int BUFFER = 32;

    private final int offset;
    private final int size;

    GidEntryField(int offset, int size) {
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
