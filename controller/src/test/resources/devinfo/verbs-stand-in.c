/*
 * A libibverbs.so.1 whose devices come from a text file, so that the installed ibv_devinfo and our own can be run on
 * the same device, with values that no card at hand would give.
 *
 * VERBS_STAND_IN names the file. A line is "device NAME", or a key and a value that belong to the device above it:
 *   uverbs, transport, node_type, guid, open_errno, query_errno, vectors, board_id
 *   attr.FIELD                 of struct ibv_device_attr, named as there
 *   port.N.FIELD               of struct ibv_port_attr; port.N.errno makes the query fail
 *   gid.N.INDEX                32 hex digits and the type number of enum ibv_gid_type
 *
 * Contexts carry no extended operations, so that header inlines fall back to the functions exported here.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <infiniband/verbs.h>

#undef ibv_get_device_list
#undef ibv_query_port

#define MAX_DEVICES 64
#define MAX_PORTS 4
#define MAX_GIDS 64

struct slot {
    int used, type;
    union ibv_gid gid;
};

struct stand_in {
    struct ibv_device device;
    uint64_t guid;
    int open_errno, query_errno, vectors;
    char board_id[64];
    struct ibv_device_attr attr;
    struct ibv_port_attr port[MAX_PORTS + 1];
    int port_errno[MAX_PORTS + 1];
    struct slot gids[MAX_PORTS + 1][MAX_GIDS];
};

static struct stand_in devices[MAX_DEVICES];
static int count = -1;

struct field {
    const char *name;
    size_t offset, size;
};
#define DEVICE(f) {#f, offsetof(struct ibv_device_attr, f), sizeof(((struct ibv_device_attr *)0)->f)}
#define PORT(f) {#f, offsetof(struct ibv_port_attr, f), sizeof(((struct ibv_port_attr *)0)->f)}

static const struct field device_fields[] = {
    DEVICE(max_mr_size), DEVICE(page_size_cap), DEVICE(vendor_id), DEVICE(vendor_part_id), DEVICE(hw_ver),
    DEVICE(max_qp), DEVICE(max_qp_wr), DEVICE(device_cap_flags), DEVICE(max_sge), DEVICE(max_sge_rd), DEVICE(max_cq),
    DEVICE(max_cqe), DEVICE(max_mr), DEVICE(max_pd), DEVICE(max_qp_rd_atom), DEVICE(max_ee_rd_atom),
    DEVICE(max_res_rd_atom), DEVICE(max_qp_init_rd_atom), DEVICE(max_ee_init_rd_atom), DEVICE(atomic_cap),
    DEVICE(max_ee), DEVICE(max_rdd), DEVICE(max_mw), DEVICE(max_raw_ipv6_qp), DEVICE(max_raw_ethy_qp),
    DEVICE(max_mcast_grp), DEVICE(max_mcast_qp_attach), DEVICE(max_total_mcast_qp_attach), DEVICE(max_ah),
    DEVICE(max_fmr), DEVICE(max_map_per_fmr), DEVICE(max_srq), DEVICE(max_srq_wr), DEVICE(max_srq_sge),
    DEVICE(max_pkeys), DEVICE(local_ca_ack_delay), DEVICE(phys_port_cnt), {0}};

static const struct field port_fields[] = {
    PORT(state), PORT(max_mtu), PORT(active_mtu), PORT(gid_tbl_len), PORT(port_cap_flags), PORT(max_msg_sz),
    PORT(bad_pkey_cntr), PORT(qkey_viol_cntr), PORT(pkey_tbl_len), PORT(lid), PORT(sm_lid), PORT(lmc),
    PORT(max_vl_num), PORT(sm_sl), PORT(subnet_timeout), PORT(init_type_reply), PORT(active_width),
    PORT(active_speed), PORT(phys_state), PORT(link_layer), PORT(flags), {0}};

static void give_up(const char *what, const char *line) {
    fprintf(stderr, "verbs stand-in: %s: %s\n", what, line);
    exit(99);
}

static void set(void *base, const struct field *fields, const char *name, uint64_t value) {
    for (; fields->name; fields++) {
        if (strcmp(fields->name, name) == 0) {
            memcpy((char *)base + fields->offset, &value, fields->size);
            return;
        }
    }
    give_up("unknown field", name);
}

static void parse(struct stand_in *d, const char *key, const char *value) {
    uint64_t number = strtoull(value, NULL, 0);
    int port, index, used = 0;
    if (strcmp(key, "uverbs") == 0) snprintf(d->device.dev_name, sizeof d->device.dev_name, "%s", value);
    else if (strcmp(key, "transport") == 0) d->device.transport_type = (int)number;
    else if (strcmp(key, "node_type") == 0) d->device.node_type = (int)number;
    else if (strcmp(key, "guid") == 0) d->guid = number, d->attr.node_guid = d->attr.sys_image_guid = htobe64(number);
    else if (strcmp(key, "sys_image_guid") == 0) d->attr.sys_image_guid = htobe64(number);
    else if (strcmp(key, "open_errno") == 0) d->open_errno = (int)number;
    else if (strcmp(key, "query_errno") == 0) d->query_errno = (int)number;
    else if (strcmp(key, "vectors") == 0) d->vectors = (int)number;
    else if (strcmp(key, "board_id") == 0) snprintf(d->board_id, sizeof d->board_id, "%s", value);
    else if (strcmp(key, "attr.fw_ver") == 0) snprintf(d->attr.fw_ver, sizeof d->attr.fw_ver, "%s", value);
    else if (strncmp(key, "attr.", 5) == 0) set(&d->attr, device_fields, key + 5, number);
    else if (sscanf(key, "gid.%d.%d", &port, &index) == 2 && port <= MAX_PORTS && index < MAX_GIDS) {
        struct slot *slot = &d->gids[port][index];
        slot->used = 1;
        for (int i = 0; i < 16; i++) {
            unsigned byte;
            if (sscanf(value + 2 * i, "%2x", &byte) != 1) give_up("short gid", value);
            slot->gid.raw[i] = (uint8_t)byte;
        }
        slot->type = atoi(value + 32);
    } else if (sscanf(key, "port.%d.%n", &port, &used) == 1 && used && port <= MAX_PORTS) {
        if (strcmp(key + used, "errno") == 0) d->port_errno[port] = (int)number;
        else set(&d->port[port], port_fields, key + used, number);
    } else give_up("unknown key", key);
}

static void load(void) {
    char line[512], key[256], value[256];
    const char *path = getenv("VERBS_STAND_IN");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) give_up("cannot read VERBS_STAND_IN", path ? path : "(unset)");
    count = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%255s %255[^\n]", key, value) != 2) continue;
        if (strcmp(key, "device") == 0) {
            struct stand_in *d = &devices[count++];
            snprintf(d->device.name, sizeof d->device.name, "%s", value);
            snprintf(d->device.ibdev_path, sizeof d->device.ibdev_path, "%s", value);
        } else if (count > 0) parse(&devices[count - 1], key, value);
    }
    fclose(file);
}

static struct stand_in *of(struct ibv_context *context) { return (struct stand_in *)context->device; }

struct ibv_device **ibv_get_device_list(int *num) {
    if (count < 0) load();
    struct ibv_device **list = calloc(count + 1, sizeof *list);
    for (int i = 0; i < count; i++) list[i] = &devices[i].device;
    if (num) *num = count;
    return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
__be64 ibv_get_device_guid(struct ibv_device *device) { return htobe64(((struct stand_in *)device)->guid); }
int ibv_get_device_index(struct ibv_device *device) { return (int)((struct stand_in *)device - devices); }

struct ibv_context *ibv_open_device(struct ibv_device *device) {
    struct stand_in *d = (struct stand_in *)device;
    if (d->open_errno) {
        errno = d->open_errno;
        return NULL;
    }
    struct ibv_context *context = calloc(1, sizeof *context);
    context->device = device;
    context->cmd_fd = -1;
    context->async_fd = eventfd(0, EFD_CLOEXEC);
    context->num_comp_vectors = d->vectors;
    return context;
}

int ibv_close_device(struct ibv_context *context) {
    free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
    if (of(context)->query_errno) return of(context)->query_errno;
    *attr = of(context)->attr;
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr) {
    if (port < 1 || port > MAX_PORTS) return EINVAL;
    if (of(context)->port_errno[port]) return of(context)->port_errno[port];
    memcpy(attr, &of(context)->port[port], 48);
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
    *gid = of(context)->gids[port][index].gid;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey) {
    (void)context, (void)port, (void)index;
    *pkey = 0xffff;
    return 0;
}

/* Of the private part of the library's interface; sysfs knows "IB/RoCE v1" (0) and "RoCE v2" (1) only. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, int *type) {
    *type = of(context)->gids[port][index].type == 2;
    return 0;
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size) {
    for (int i = 0; i < count; i++)
        if (strcmp(devices[i].device.ibdev_path, dir) == 0 && strcmp(file, "board_id") == 0 && devices[i].board_id[0])
            return snprintf(buf, size, "%s", devices[i].board_id);
    return -1;
}

ssize_t _ibv_query_gid_table(
        struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags, size_t entry_size) {
    size_t n = 0;
    (void)flags;
    for (int port = 1; port <= of(context)->attr.phys_port_cnt && port <= MAX_PORTS; port++)
        for (int i = 0; i < MAX_GIDS && i < of(context)->port[port].gid_tbl_len; i++) {
            struct slot *slot = &of(context)->gids[port][i];
            if (!slot->used) continue;
            if (n == max) return -EINVAL;
            struct ibv_gid_entry *entry = (struct ibv_gid_entry *)((char *)entries + n++ * entry_size);
            memset(entry, 0, entry_size);
            entry->gid = slot->gid;
            entry->gid_index = (uint32_t)i;
            entry->port_num = (uint32_t)port;
            entry->gid_type = (uint32_t)slot->type;
        }
    return (ssize_t)n;
}

int _ibv_query_gid_ex(
        struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry, uint32_t flags,
        size_t entry_size) {
    struct slot *slot = &of(context)->gids[port][index];
    (void)flags;
    if (!slot->used) return ENODATA;
    memset(entry, 0, entry_size);
    entry->gid = slot->gid;
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = (uint32_t)slot->type;
    return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
    (void)context, (void)event;
    errno = EAGAIN;
    return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
