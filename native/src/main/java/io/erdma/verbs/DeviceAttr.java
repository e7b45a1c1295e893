package io.erdma.verbs;

/** {@code struct ibv_device_attr}, which {@code ibv_query_device} fills. */
enum DeviceAttr implements StructField {
    FW_VER(0, 64),
    NODE_GUID(64, 8),
    SYS_IMAGE_GUID(72, 8),
    MAX_MR_SIZE(80, 8),
    PAGE_SIZE_CAP(88, 8),
    VENDOR_ID(96, 4),
    VENDOR_PART_ID(100, 4),
    HW_VER(104, 4),
    MAX_QP(108, 4),
    MAX_QP_WR(112, 4),
    DEVICE_CAP_FLAGS(116, 4),
    MAX_SGE(120, 4),
    MAX_SGE_RD(124, 4),
    MAX_CQ(128, 4),
    MAX_CQE(132, 4),
    MAX_MR(136, 4),
    MAX_PD(140, 4),
    MAX_QP_RD_ATOM(144, 4),
    MAX_EE_RD_ATOM(148, 4),
    MAX_RES_RD_ATOM(152, 4),
    MAX_QP_INIT_RD_ATOM(156, 4),
    MAX_EE_INIT_RD_ATOM(160, 4),
    ATOMIC_CAP(164, 4),
    MAX_EE(168, 4),
    MAX_RDD(172, 4),
    MAX_MW(176, 4),
    MAX_RAW_IPV6_QP(180, 4),
    MAX_RAW_ETHY_QP(184, 4),
    MAX_MCAST_GRP(188, 4),
    MAX_MCAST_QP_ATTACH(192, 4),
    MAX_TOTAL_MCAST_QP_ATTACH(196, 4),
    MAX_AH(200, 4),
    MAX_FMR(204, 4),
    MAX_MAP_PER_FMR(208, 4),
    MAX_SRQ(212, 4),
    MAX_SRQ_WR(216, 4),
    MAX_SRQ_SGE(220, 4),
    MAX_PKEYS(224, 2),
    LOCAL_CA_ACK_DELAY(226, 1),
    PHYS_PORT_CNT(227, 1);

    static final int BUFFER = 232;

    private final int offset;
    private final int size;

    DeviceAttr(int offset, int size) {
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

    static DeviceAttributes read(byte[] struct) {
        return new DeviceAttributes(
                FW_VER.text(struct),
                new NodeGuid(NODE_GUID.bigEndian(struct)),
                new NodeGuid(SYS_IMAGE_GUID.bigEndian(struct)),
                MAX_MR_SIZE.unsigned(struct),
                PAGE_SIZE_CAP.unsigned(struct),
                VENDOR_ID.unsigned(struct),
                VENDOR_PART_ID.unsigned(struct),
                HW_VER.unsigned(struct),
                MAX_QP.signed(struct),
                MAX_QP_WR.signed(struct),
                DEVICE_CAP_FLAGS.unsigned(struct),
                MAX_SGE.signed(struct),
                MAX_SGE_RD.signed(struct),
                MAX_CQ.signed(struct),
                MAX_CQE.signed(struct),
                MAX_MR.signed(struct),
                MAX_PD.signed(struct),
                MAX_QP_RD_ATOM.signed(struct),
                MAX_EE_RD_ATOM.signed(struct),
                MAX_RES_RD_ATOM.signed(struct),
                MAX_QP_INIT_RD_ATOM.signed(struct),
                MAX_EE_INIT_RD_ATOM.signed(struct),
                ATOMIC_CAP.signed(struct),
                MAX_EE.signed(struct),
                MAX_RDD.signed(struct),
                MAX_MW.signed(struct),
                MAX_RAW_IPV6_QP.signed(struct),
                MAX_RAW_ETHY_QP.signed(struct),
                MAX_MCAST_GRP.signed(struct),
                MAX_MCAST_QP_ATTACH.signed(struct),
                MAX_TOTAL_MCAST_QP_ATTACH.signed(struct),
                MAX_AH.signed(struct),
                MAX_FMR.signed(struct),
                MAX_MAP_PER_FMR.signed(struct),
                MAX_SRQ.signed(struct),
                MAX_SRQ_WR.signed(struct),
                MAX_SRQ_SGE.signed(struct),
                MAX_PKEYS.signed(struct),
                LOCAL_CA_ACK_DELAY.signed(struct),
                PHYS_PORT_CNT.signed(struct));
    }
}
