/* Prints "<struct> <field> <offset> <size>" for what we read, as this machine's headers lay it out. */
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdio.h>

#define FIELD(type, field) printf(#type " " #field " %zu %zu\n", offsetof(struct type, field), sizeof(((struct type *)0)->field))
#define NAMED(type, name, field) \
    printf(#type " " #name " %zu %zu\n", offsetof(struct type, field), sizeof(((struct type *)0)->field))
#define SIZE(type) printf(#type " sizeof 0 %zu\n", sizeof(struct type))

int main(void) {
    FIELD(ibv_device, node_type);
    FIELD(ibv_device, transport_type);
    FIELD(ibv_device, dev_name);

    FIELD(ibv_context, async_fd);
    FIELD(ibv_context, num_comp_vectors);

    SIZE(ibv_device_attr);
    FIELD(ibv_device_attr, fw_ver);
    FIELD(ibv_device_attr, node_guid);
    FIELD(ibv_device_attr, sys_image_guid);
    FIELD(ibv_device_attr, max_mr_size);
    FIELD(ibv_device_attr, page_size_cap);
    FIELD(ibv_device_attr, vendor_id);
    FIELD(ibv_device_attr, vendor_part_id);
    FIELD(ibv_device_attr, hw_ver);
    FIELD(ibv_device_attr, max_qp);
    FIELD(ibv_device_attr, max_qp_wr);
    FIELD(ibv_device_attr, device_cap_flags);
    FIELD(ibv_device_attr, max_sge);
    FIELD(ibv_device_attr, max_sge_rd);
    FIELD(ibv_device_attr, max_cq);
    FIELD(ibv_device_attr, max_cqe);
    FIELD(ibv_device_attr, max_mr);
    FIELD(ibv_device_attr, max_pd);
    FIELD(ibv_device_attr, max_qp_rd_atom);
    FIELD(ibv_device_attr, max_ee_rd_atom);
    FIELD(ibv_device_attr, max_res_rd_atom);
    FIELD(ibv_device_attr, max_qp_init_rd_atom);
    FIELD(ibv_device_attr, max_ee_init_rd_atom);
    FIELD(ibv_device_attr, atomic_cap);
    FIELD(ibv_device_attr, max_ee);
    FIELD(ibv_device_attr, max_rdd);
    FIELD(ibv_device_attr, max_mw);
    FIELD(ibv_device_attr, max_raw_ipv6_qp);
    FIELD(ibv_device_attr, max_raw_ethy_qp);
    FIELD(ibv_device_attr, max_mcast_grp);
    FIELD(ibv_device_attr, max_mcast_qp_attach);
    FIELD(ibv_device_attr, max_total_mcast_qp_attach);
    FIELD(ibv_device_attr, max_ah);
    FIELD(ibv_device_attr, max_fmr);
    FIELD(ibv_device_attr, max_map_per_fmr);
    FIELD(ibv_device_attr, max_srq);
    FIELD(ibv_device_attr, max_srq_wr);
    FIELD(ibv_device_attr, max_srq_sge);
    FIELD(ibv_device_attr, max_pkeys);
    FIELD(ibv_device_attr, local_ca_ack_delay);
    FIELD(ibv_device_attr, phys_port_cnt);

    FIELD(ibv_port_attr, state);
    FIELD(ibv_port_attr, max_mtu);
    FIELD(ibv_port_attr, active_mtu);
    FIELD(ibv_port_attr, gid_tbl_len);
    FIELD(ibv_port_attr, port_cap_flags);
    FIELD(ibv_port_attr, max_msg_sz);
    FIELD(ibv_port_attr, bad_pkey_cntr);
    FIELD(ibv_port_attr, qkey_viol_cntr);
    FIELD(ibv_port_attr, pkey_tbl_len);
    FIELD(ibv_port_attr, lid);
    FIELD(ibv_port_attr, sm_lid);
    FIELD(ibv_port_attr, lmc);
    FIELD(ibv_port_attr, max_vl_num);
    FIELD(ibv_port_attr, sm_sl);
    FIELD(ibv_port_attr, subnet_timeout);
    FIELD(ibv_port_attr, init_type_reply);
    FIELD(ibv_port_attr, active_width);
    FIELD(ibv_port_attr, active_speed);
    FIELD(ibv_port_attr, phys_state);
    FIELD(ibv_port_attr, link_layer);
    FIELD(ibv_port_attr, flags);

    SIZE(ibv_gid_entry);
    FIELD(ibv_gid_entry, gid);
    FIELD(ibv_gid_entry, gid_index);
    FIELD(ibv_gid_entry, port_num);
    FIELD(ibv_gid_entry, gid_type);
    FIELD(ibv_gid_entry, ndev_ifindex);

    SIZE(ibv_async_event);
    NAMED(ibv_async_event, element_port_num, element.port_num);
    FIELD(ibv_async_event, event_type);
    return 0;
}
