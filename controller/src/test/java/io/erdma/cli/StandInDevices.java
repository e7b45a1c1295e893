package io.erdma.cli;

import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.DeviceReading.Outcome;
import io.erdma.cli.DeviceReading.Port;
import io.erdma.cli.DeviceReading.PortFailure;
import io.erdma.cli.DeviceReading.Unanswered;
import io.erdma.cli.DeviceReading.Unopened;
import io.erdma.verbs.DeviceAttributes;
import io.erdma.verbs.Gid;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortAttributes;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsDevice;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A {@code devices.txt} as the readings that it leads to; verbs-stand-in.c describes the format. */
final class StandInDevices {
    private final String name;
    private final Map<String, String> values = new LinkedHashMap<>();

    private StandInDevices(String name) {
        this.name = name;
    }

    static List<DeviceReading> parse(String text) {
        List<StandInDevices> devices = new ArrayList<>();
        for (String line : text.lines().map(String::strip).toList()) {
            int space = line.indexOf(' ');
            if (space < 0) {
                continue;
            }
            String key = line.substring(0, space);
            String value = line.substring(space + 1);
            if (key.equals("device")) {
                devices.add(new StandInDevices(value));
            } else {
                devices.getLast().values.put(key, value);
            }
        }
        return devices.stream().map(StandInDevices::reading).toList();
    }

    private DeviceReading reading() {
        return new DeviceReading(
                new VerbsDevice(
                        name,
                        text("uverbs"),
                        new NodeGuid(number("guid")),
                        NodeType.of(integer("node_type")),
                        integer("transport")),
                outcome());
    }

    private Outcome outcome() {
        if (integer("open_errno") != 0) {
            return new Unopened("errno " + integer("open_errno"), false);
        }
        if (integer("query_errno") != 0) {
            return new Unanswered("errno " + integer("query_errno"));
        }
        List<Port> ports = new ArrayList<>();
        Optional<PortFailure> failure = Optional.empty();
        for (int port = 1; port <= integer("attr.phys_port_cnt") && failure.isEmpty(); port++) {
            if (integer("port." + port + ".errno") == 0) {
                ports.add(new Port(port, port(port), gids(port)));
            } else {
                failure = Optional.of(new PortFailure(port, "errno " + integer("port." + port + ".errno")));
            }
        }
        return new Answered(
                attributes(), Optional.ofNullable(values.get("board_id")), integer("vectors"), ports, failure);
    }

    private DeviceAttributes attributes() {
        NodeGuid image = new NodeGuid(values.containsKey("sys_image_guid") ? number("sys_image_guid") : number("guid"));
        return new DeviceAttributes(
                text("attr.fw_ver"),
                new NodeGuid(number("guid")),
                image,
                number("attr.max_mr_size"),
                number("attr.page_size_cap"),
                number("attr.vendor_id"),
                number("attr.vendor_part_id"),
                number("attr.hw_ver"),
                integer("attr.max_qp"),
                integer("attr.max_qp_wr"),
                number("attr.device_cap_flags"),
                integer("attr.max_sge"),
                integer("attr.max_sge_rd"),
                integer("attr.max_cq"),
                integer("attr.max_cqe"),
                integer("attr.max_mr"),
                integer("attr.max_pd"),
                integer("attr.max_qp_rd_atom"),
                integer("attr.max_ee_rd_atom"),
                integer("attr.max_res_rd_atom"),
                integer("attr.max_qp_init_rd_atom"),
                integer("attr.max_ee_init_rd_atom"),
                integer("attr.atomic_cap"),
                integer("attr.max_ee"),
                integer("attr.max_rdd"),
                integer("attr.max_mw"),
                integer("attr.max_raw_ipv6_qp"),
                integer("attr.max_raw_ethy_qp"),
                integer("attr.max_mcast_grp"),
                integer("attr.max_mcast_qp_attach"),
                integer("attr.max_total_mcast_qp_attach"),
                integer("attr.max_ah"),
                integer("attr.max_fmr"),
                integer("attr.max_map_per_fmr"),
                integer("attr.max_srq"),
                integer("attr.max_srq_wr"),
                integer("attr.max_srq_sge"),
                integer("attr.max_pkeys"),
                integer("attr.local_ca_ack_delay"),
                integer("attr.phys_port_cnt"));
    }

    private PortAttributes port(int port) {
        String prefix = "port." + port + ".";
        return new PortAttributes(
                PortState.of(integer(prefix + "state")),
                integer(prefix + "state"),
                integer(prefix + "max_mtu"),
                integer(prefix + "active_mtu"),
                integer(prefix + "gid_tbl_len"),
                number(prefix + "port_cap_flags"),
                number(prefix + "max_msg_sz"),
                number(prefix + "bad_pkey_cntr"),
                number(prefix + "qkey_viol_cntr"),
                integer(prefix + "pkey_tbl_len"),
                integer(prefix + "lid"),
                integer(prefix + "sm_lid"),
                integer(prefix + "lmc"),
                integer(prefix + "max_vl_num"),
                integer(prefix + "sm_sl"),
                integer(prefix + "subnet_timeout"),
                integer(prefix + "init_type_reply"),
                integer(prefix + "active_width"),
                integer(prefix + "active_speed"),
                integer(prefix + "phys_state"),
                integer(prefix + "link_layer"),
                integer(prefix + "flags"));
    }

    private List<GidEntry> gids(int port) {
        List<GidEntry> gids = new ArrayList<>();
        values.forEach((key, value) -> {
            String prefix = "gid." + port + ".";
            if (key.startsWith(prefix)) {
                Gid gid = new Gid(
                        HexFormat.fromHexDigitsToLong(value, 0, 16), HexFormat.fromHexDigitsToLong(value, 16, 32));
                if (!gid.isZero()) {
                    gids.add(new GidEntry(
                            gid, Integer.parseInt(key.substring(prefix.length())), port, type(value.substring(33)), 0));
                }
            }
        });
        return gids;
    }

    private static GidEntry.Type type(String number) {
        return switch (number) {
            case "0" -> GidEntry.Type.IB;
            case "1" -> GidEntry.Type.ROCE_V1;
            case "2" -> GidEntry.Type.ROCE_V2;
            default -> throw new IllegalArgumentException("no GID type " + number);
        };
    }

    private String text(String key) {
        return values.getOrDefault(key, "");
    }

    private int integer(String key) {
        return (int) number(key);
    }

    private long number(String key) {
        String value = values.getOrDefault(key, "0");
        return value.startsWith("0x") ? Long.parseUnsignedLong(value.substring(2), 16) : Long.parseLong(value);
    }
}
