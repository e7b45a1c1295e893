package io.erdma.verbs;

/**
 * {@code struct ibv_port_attr} as the exported {@code ibv_query_port} fills it: 48 bytes, up to and including
 * {@code flags}. What newer headers add behind them is written only by the header's inline.
 */
enum PortAttr implements StructField {
    STATE(0, 4),
    MAX_MTU(4, 4),
    ACTIVE_MTU(8, 4),
    GID_TBL_LEN(12, 4),
    PORT_CAP_FLAGS(16, 4),
    MAX_MSG_SZ(20, 4),
    BAD_PKEY_CNTR(24, 4),
    QKEY_VIOL_CNTR(28, 4),
    PKEY_TBL_LEN(32, 2),
    LID(34, 2),
    SM_LID(36, 2),
    LMC(38, 1),
    MAX_VL_NUM(39, 1),
    SM_SL(40, 1),
    SUBNET_TIMEOUT(41, 1),
    INIT_TYPE_REPLY(42, 1),
    ACTIVE_WIDTH(43, 1),
    ACTIVE_SPEED(44, 1),
    PHYS_STATE(45, 1),
    LINK_LAYER(46, 1),
    FLAGS(47, 1);

    /** More than any header declares, so that a library that writes the whole struct stays inside. */
    static final int BUFFER = 64;

    private final int offset;
    private final int size;

    PortAttr(int offset, int size) {
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

    static PortAttributes read(byte[] struct) {
        return new PortAttributes(
                PortState.of(STATE.signed(struct)),
                STATE.signed(struct),
                MAX_MTU.signed(struct),
                ACTIVE_MTU.signed(struct),
                GID_TBL_LEN.signed(struct),
                PORT_CAP_FLAGS.unsigned(struct),
                MAX_MSG_SZ.unsigned(struct),
                BAD_PKEY_CNTR.unsigned(struct),
                QKEY_VIOL_CNTR.unsigned(struct),
                PKEY_TBL_LEN.signed(struct),
                LID.signed(struct),
                SM_LID.signed(struct),
                LMC.signed(struct),
                MAX_VL_NUM.signed(struct),
                SM_SL.signed(struct),
                SUBNET_TIMEOUT.signed(struct),
                INIT_TYPE_REPLY.signed(struct),
                ACTIVE_WIDTH.signed(struct),
                ACTIVE_SPEED.signed(struct),
                PHYS_STATE.signed(struct),
                LINK_LAYER.signed(struct),
                FLAGS.signed(struct));
    }
}
