package io.erdma.cli;

import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.DeviceReading.Port;
import io.erdma.verbs.DeviceAttributes;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.PortAttributes;
import io.erdma.verbs.VerbsDevice;
import java.util.List;

/**
 * The text of {@code ibv_devinfo}, byte for byte. Scripts and people parse it, so its spelling mistakes and its odd
 * signs of numbers are kept too. Its rows that come from {@code ibv_query_device_ex} are left out: that function exists
 * only inside a C header. Rows of the extended port attributes are known only where they must be zero.
 */
final class DevinfoFormat {
    private static final int LINK_LAYER_INFINIBAND = 1;
    private static final int LINK_LAYER_ETHERNET = 2;
    private static final int TRANSPORT_INFINIBAND = 0;

    private static final int TAB = 8;

    /** Values stand under each other at these columns, which the rows reach by tabs. */
    private static final int DEVICE_VALUES = 40;

    private static final int PORT_VALUES = 48;

    /** One bit of device_cap_flags, named as there. */
    private record Flag(int bit, String name) {}

    private static final List<Flag> DEVICE_FLAGS = List.of(
            new Flag(0, "RESIZE_MAX_WR"),
            new Flag(1, "BAD_PKEY_CNTR"),
            new Flag(2, "BAD_QKEY_CNTR"),
            new Flag(3, "RAW_MULTI"),
            new Flag(4, "AUTO_PATH_MIG"),
            new Flag(5, "CHANGE_PHY_PORT"),
            new Flag(6, "UD_AV_PORT_ENFORCE"),
            new Flag(7, "CURR_QP_STATE_MOD"),
            new Flag(8, "SHUTDOWN_PORT"),
            new Flag(9, "INIT_TYPE"),
            new Flag(10, "PORT_ACTIVE_EVENT"),
            new Flag(11, "SYS_IMAGE_GUID"),
            new Flag(12, "RC_RNR_NAK_GEN"),
            new Flag(13, "SRQ_RESIZE"),
            new Flag(14, "N_NOTIFY_CQ"),
            new Flag(17, "MEM_WINDOW"),
            new Flag(18, "UD_IP_CSUM"),
            new Flag(20, "XRC"),
            new Flag(21, "MEM_MGT_EXTENSIONS"),
            new Flag(23, "MEM_WINDOW_TYPE_2A"),
            new Flag(24, "MEM_WINDOW_TYPE_2B"),
            new Flag(25, "RC_IP_CSUM"),
            new Flag(26, "RAW_IP_CSUM"),
            new Flag(29, "MANAGED_FLOW_STEERING"));

    private final StringBuilder text = new StringBuilder(1024);

    private DevinfoFormat() {}

    /** {@code ibv_devinfo}, with {@code -v} if verbose. Devices without an answer print nothing here. */
    static String devices(List<DeviceReading> readings, boolean verbose) {
        DevinfoFormat format = new DevinfoFormat();
        for (DeviceReading reading : readings) {
            if (reading.outcome() instanceof Answered answered) {
                format.device(reading.device(), answered, verbose);
            }
        }
        return format.text.toString();
    }

    /** {@code ibv_devinfo -l}. */
    static String list(List<VerbsDevice> devices) {
        StringBuilder text = new StringBuilder();
        text.append(devices.size())
                .append(devices.size() == 1 ? " HCA" : " HCAs")
                .append(" found:\n");
        for (VerbsDevice device : devices) {
            text.append('\t').append(TerminalText.escape(device.name())).append('\n');
        }
        return text.append('\n').toString();
    }

    private void device(VerbsDevice device, Answered answered, boolean verbose) {
        DeviceAttributes attributes = answered.attributes();
        text.append("hca_id:\t").append(TerminalText.escape(device.name())).append('\n');
        row("transport", named(transport(device.transport()), device.transport()));
        if (!attributes.firmwareVersion().isEmpty()) {
            row("fw_ver", TerminalText.escape(attributes.firmwareVersion()));
        }
        row("node_guid", attributes.nodeGuid().toString());
        row("sys_image_guid", attributes.systemImageGuid().toString());
        row("vendor_id", "0x" + hex(attributes.vendorId(), 4));
        // Printed as a signed number although the kernel's field is unsigned, as are the limits below.
        row("vendor_part_id", (int) attributes.vendorPartId());
        row("hw_ver", "0x" + upperHex(attributes.hwVersion()));
        answered.boardId().ifPresent(board -> row("board_id", TerminalText.escape(board)));
        row("phys_port_cnt", attributes.physPortCount());
        if (verbose) {
            limits(attributes);
            row("num_comp_vectors", answered.completionVectors());
        }
        for (Port port : answered.ports()) {
            port(device, port, verbose);
            // A GID table that can't be read ends the device's text in mid-port.
            boolean cutShort = answered.failure()
                    .filter(failure -> failure.port() == port.number())
                    .isPresent();
            if (!verbose || !cutShort) {
                text.append('\n');
            }
        }
    }

    private void limits(DeviceAttributes a) {
        row("max_mr_size", "0x" + hex(a.maxMrSize(), 1));
        row("page_size_cap", "0x" + hex(a.pageSizeCap(), 1));
        row("max_qp", a.maxQp());
        row("max_qp_wr", a.maxQpWr());
        row("device_cap_flags", "0x" + hex(a.deviceCapFlags(), 8));
        deviceFlags(a.deviceCapFlags());
        row("max_sge", a.maxSge());
        row("max_sge_rd", a.maxSgeRd());
        row("max_cq", a.maxCq());
        row("max_cqe", a.maxCqe());
        row("max_mr", a.maxMr());
        row("max_pd", a.maxPd());
        row("max_qp_rd_atom", a.maxQpRdAtom());
        row("max_ee_rd_atom", a.maxEeRdAtom());
        row("max_res_rd_atom", a.maxResRdAtom());
        row("max_qp_init_rd_atom", a.maxQpInitRdAtom());
        row("max_ee_init_rd_atom", a.maxEeInitRdAtom());
        row("atomic_cap", named(atomicCapability(a.atomicCap()), a.atomicCap()));
        row("max_ee", a.maxEe());
        row("max_rdd", a.maxRdd());
        row("max_mw", a.maxMw());
        row("max_raw_ipv6_qp", a.maxRawIpv6Qp());
        row("max_raw_ethy_qp", a.maxRawEthyQp());
        row("max_mcast_grp", a.maxMcastGrp());
        row("max_mcast_qp_attach", a.maxMcastQpAttach());
        row("max_total_mcast_qp_attach", a.maxTotalMcastQpAttach());
        row("max_ah", a.maxAh());
        row("max_fmr", a.maxFmr());
        if (a.maxFmr() != 0) {
            row("max_map_per_fmr", a.maxMapPerFmr());
        }
        row("max_srq", a.maxSrq());
        if (a.maxSrq() != 0) {
            row("max_srq_wr", a.maxSrqWr());
            row("max_srq_sge", a.maxSrqSge());
        }
        row("max_pkeys", a.maxPkeys());
        row("local_ca_ack_delay", a.localCaAckDelay());
    }

    private void deviceFlags(long flags) {
        long unknown = flags;
        for (Flag flag : DEVICE_FLAGS) {
            long mask = 1L << flag.bit();
            if ((flags & mask) != 0) {
                text.repeat('\t', DEVICE_VALUES / TAB).append(flag.name()).append('\n');
                unknown &= ~mask;
            }
        }
        if (unknown != 0) {
            text.repeat('\t', DEVICE_VALUES / TAB)
                    .append("Unknown flags: 0x")
                    .append(upperHex(unknown))
                    .append('\n');
        }
    }

    private void port(VerbsDevice device, Port port, boolean verbose) {
        PortAttributes a = port.attributes();
        text.append("\t\tport:\t").append(port.number()).append('\n');
        portRow("state", named(portState(a.stateNumber()), a.stateNumber()));
        portRow("max_mtu", named(mtu(a.maxMtu()), a.maxMtu()));
        portRow("active_mtu", named(mtu(a.activeMtu()), a.activeMtu()));
        portRow("sm_lid", a.smLid());
        portRow("port_lid", a.lid());
        portRow("port_lmc", "0x" + hex(a.lmc(), 2));
        portRow("link_layer", linkLayer(a.linkLayer()));
        if (!verbose) {
            return;
        }
        portRow("max_msg_sz", "0x" + hex(a.maxMessageSize(), 1));
        portRow("port_cap_flags", "0x" + hex(a.portCapFlags(), 8));
        // Beyond the 48 bytes that the exported ibv_query_port fills. Only InfiniBand gives these bits a meaning, and
        // the kernel leaves them zero elsewhere.
        if (a.linkLayer() != LINK_LAYER_INFINIBAND) {
            portRow("port_cap_flags2", "0x0000");
        }
        portRow("max_vl_num", named(virtualLanes(a.maxVlNum()), a.maxVlNum()));
        portRow("bad_pkey_cntr", "0x" + hex(a.badPkeyCounter(), 1));
        portRow("qkey_viol_cntr", "0x" + hex(a.qkeyViolationCounter(), 1));
        portRow("sm_sl", a.smSl());
        portRow("pkey_tbl_len", a.pkeyTableLength());
        portRow("gid_tbl_len", a.gidTableLength());
        portRow("subnet_timeout", a.subnetTimeout());
        portRow("init_type_reply", a.initTypeReply());
        portRow("active_width", named(width(a.activeWidth()) + "X", a.activeWidth()));
        portRow("active_speed", named(speed(a.activeSpeed()), a.activeSpeed()));
        if (device.transport() == TRANSPORT_INFINIBAND) {
            portRow("phys_state", named(physicalState(a.physState()), a.physState()));
        }
        for (GidEntry entry : port.gids()) {
            gid(entry, a.linkLayer());
        }
    }

    private void gid(GidEntry entry, int linkLayer) {
        // A slot counts as empty by its last eight bytes alone, so the one GID of an iWARP device, six bytes of MAC
        // address and then zeros, is never printed.
        if (entry.gid().low() == 0) {
            return;
        }
        boolean version2 = entry.type() == GidEntry.Type.ROCE_V2;
        String type = linkLayer == LINK_LAYER_ETHERNET ? version2 ? ", RoCE v2" : ", RoCE v1" : "";
        String index = Integer.toString(entry.index());
        portRow(
                "GID[" + " ".repeat(Math.max(0, 3 - index.length())) + index + "]",
                (version2 ? GidText.address(entry.gid()) : GidText.groups(entry.gid())) + type);
    }

    private void row(String label, int value) {
        row(label, Integer.toString(value));
    }

    private void row(String label, String value) {
        row(TAB, label, DEVICE_VALUES, value);
    }

    private void portRow(String label, int value) {
        portRow(label, Integer.toString(value));
    }

    private void portRow(String label, String value) {
        row(3 * TAB, label, PORT_VALUES, value);
    }

    private void row(int indent, String label, int values, String value) {
        int end = indent + label.length() + 1;
        text.repeat('\t', indent / TAB)
                .append(label)
                .append(':')
                .repeat('\t', values / TAB - end / TAB)
                .append(value)
                .append('\n');
    }

    private static String named(String name, int number) {
        return name + " (" + number + ")";
    }

    private static String hex(long value, int digits) {
        String hex = Long.toHexString(value);
        return "0".repeat(Math.max(0, digits - hex.length())) + hex;
    }

    private static String upperHex(long value) {
        return Long.toHexString(value).toUpperCase(java.util.Locale.ROOT);
    }

    private static String transport(int number) {
        return switch (number) {
            case 0 -> "InfiniBand";
            case 1 -> "iWARP";
            case 2 -> "usNIC";
            case 3 -> "usNIC UDP";
            case 4 -> "unspecified";
            default -> "invalid transport";
        };
    }

    private static String atomicCapability(int number) {
        return switch (number) {
            case 0 -> "ATOMIC_NONE";
            case 1 -> "ATOMIC_HCA";
            case 2 -> "ATOMIC_GLOB";
            default -> "invalid atomic capability";
        };
    }

    private static String portState(int number) {
        return switch (number) {
            case 1 -> "PORT_DOWN";
            case 2 -> "PORT_INIT";
            case 3 -> "PORT_ARMED";
            case 4 -> "PORT_ACTIVE";
            default -> "invalid state";
        };
    }

    private static String mtu(int number) {
        return switch (number) {
            case 1 -> "256";
            case 2 -> "512";
            case 3 -> "1024";
            case 4 -> "2048";
            case 5 -> "4096";
            default -> "invalid MTU";
        };
    }

    private static String linkLayer(int number) {
        return switch (number) {
            case 0 -> "Unspecified";
            case LINK_LAYER_INFINIBAND -> "InfiniBand";
            case LINK_LAYER_ETHERNET -> "Ethernet";
            default -> "Unknown";
        };
    }

    private static String virtualLanes(int number) {
        return switch (number) {
            case 1 -> "1";
            case 2 -> "2";
            case 3 -> "4";
            case 4 -> "8";
            case 5 -> "15";
            default -> "invalid value";
        };
    }

    private static String width(int number) {
        return switch (number) {
            case 1 -> "1";
            case 2 -> "4";
            case 4 -> "8";
            case 8 -> "12";
            case 16 -> "2";
            default -> "invalid width";
        };
    }

    private static String speed(int number) {
        return switch (number) {
            case 1 -> "2.5 Gbps";
            case 2 -> "5.0 Gbps";
            case 4, 8 -> "10.0 Gbps";
            case 16 -> "14.0 Gbps";
            case 32 -> "25.0 Gbps";
            case 64 -> "50.0 Gbps";
            case 128 -> "100.0 Gbps";
            default -> "invalid speed";
        };
    }

    private static String physicalState(int number) {
        return switch (number) {
            case 1 -> "SLEEP";
            case 2 -> "POLLING";
            case 3 -> "DISABLED";
            case 4 -> "PORT_CONFIGURATION TRAINNING";
            case 5 -> "LINK_UP";
            case 6 -> "LINK_ERROR_RECOVERY";
            case 7 -> "PHY TEST";
            default -> "invalid physical state";
        };
    }
}
