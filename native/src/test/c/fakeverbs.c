/*
 * A stand-in for libibverbs: the symbols that we bind, with the layouts of the real library, on devices that are
 * directories. Whoever can write the tree changes the devices of every process that uses it, at once: each call reads
 * the files anew.
 *
 *   <root>                        from the environment variable ERDMA_FAKEVERBS or by fakeverbs_root(); when there is no
 *                                 such directory the kernel has no verbs (ENOSYS)
 *   <root>/get_device_list_errno  see "faults"
 *   <root>/<device>/              a device; names that begin with a dot are none
 *       node_type                 4                     (enum ibv_node_type)
 *       transport                 derived from node_type
 *       guid                      0216:3eff:fe00:0001
 *       uverbs                    uverbs0
 *       index                     0; place in the list, equal ones by name
 *       hidden                    if it exists, the list leaves the device out
 *       port_state 4, phys_state 5, max_mtu 5, active_mtu 3, link_layer 2, gid_tbl_len, and each other field of
 *                                 struct ibv_port_attr by its C name
 *       fw_ver, vendor_id, phys_port_cnt, ... each field of struct ibv_device_attr by its C name
 *       gids                      lines "<slot> <address> <type> <ifindex>"
 *       ports/<n>/<file>          the same for port n alone
 *       events.<pid>.<n>          a FIFO for each open context: 16 bytes of struct ibv_async_event per event
 *   <root>/.counters.<pid>        the counters below, as u64 in the order of enum counter
 *
 * Faults: the file <call>_errno makes that call fail with the number in it, and while <call>_hang exists the call does
 * not return; <call> is the function's name without ibv_ (get_device_list beside the devices, the others inside one).
 * The file "hang" inside a device holds every call on it. When the directory of an open device goes, its calls
 * answer EIO, as after a hot unplug.
 *
 * It is as strict as the real one, and says so: a device struct is made inaccessible once its list is freed and it is
 * not open, a context once it is closed; a call with a stale pointer, a second close, a close under another call and
 * an acknowledgement without an event end the process with one line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port

#define PAGE 4096
#define MAX_DEVICES (PAGE / sizeof(void *) - 1)

enum counter {
    GET_DEVICE_LIST,
    FREE_DEVICE_LIST,
    OPEN_DEVICE,
    CLOSE_DEVICE,
    GET_ASYNC_EVENT,
    ACK_ASYNC_EVENT,
    QUERY_DEVICE,
    QUERY_PORT,
    QUERY_GID,
    COUNTERS
};

static const char *const counter_names[COUNTERS] = {
    "get_device_list", "free_device_list", "open_device",  "close_device", "get_async_event",
    "ack_async_event", "query_device",     "query_port",   "query_gid",
};

struct device {
    struct device *next;
    struct ibv_device *page;
    int references;
    char directory[PATH_MAX];
};

struct list {
    struct list *next;
    struct ibv_device **page;
    int count;
};

struct context {
    struct context *next;
    struct ibv_context *page;
    struct device *device;
    int calls;
    char fifo[PATH_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static int root_known;
static struct device *devices;
static struct list *lists;
static struct context *contexts;
static int contexts_made;
static _Atomic uint64_t unmapped_counters[COUNTERS];
static _Atomic(_Atomic uint64_t *) counters = unmapped_counters;

static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fakeverbs: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

static void count(enum counter which) {
    atomic_fetch_add(&atomic_load(&counters)[which], 1);
}

/* ---- files ---- */

static void join(char *path, const char *directory, const char *name) {
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
        die("path too long below %s", directory);
}

static int exists(const char *directory, const char *name) {
    char path[PATH_MAX];
    join(path, directory, name);
    return access(path, F_OK) == 0;
}

/* The content without its last newline; 0 when there is no such file. */
static int read_text(const char *directory, const char *name, char *text, size_t size) {
    char path[PATH_MAX];
    join(path, directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    if (length < 0)
        return 0;
    text[length] = 0;
    text[strcspn(text, "\n")] = 0;
    return 1;
}

static uint64_t read_number(const char *directory, const char *name, uint64_t otherwise) {
    char text[64];
    return read_text(directory, name, text, sizeof text) ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t read_port_number(const char *directory, int port, const char *name, uint64_t otherwise) {
    char of_port[64];
    snprintf(of_port, sizeof of_port, "ports/%d/%s", port, name);
    return read_number(directory, of_port, read_number(directory, name, otherwise));
}

static uint64_t read_guid(const char *directory, const char *name, uint64_t otherwise) {
    char text[64];
    if (!read_text(directory, name, text, sizeof text))
        return otherwise;
    char digits[64];
    size_t n = 0;
    for (const char *c = text; *c; c++)
        if (*c != ':')
            digits[n++] = *c;
    digits[n] = 0;
    return strtoull(digits, NULL, 16);
}

/* Waits while the call is to hang, then answers the errno it is to fail with, or 0. */
static int fault(const char *directory, const char *call) {
    char name[64];
    snprintf(name, sizeof name, "%s_hang", call);
    const struct timespec pause = {0, 2000000};
    while (exists(directory, name) || exists(directory, "hang"))
        nanosleep(&pause, NULL);
    snprintf(name, sizeof name, "%s_errno", call);
    return (int)read_number(directory, name, 0);
}

/* ---- the root and the counters ---- */

static void map_counters(void) {
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, ".counters.%d", (int)getpid());
    join(path, root, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof(uint64_t) * COUNTERS) == 0) {
        void *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED)
            atomic_store(&counters, (_Atomic uint64_t *)mapped);
    }
    close(fd);
}

/* Held: lock. */
static void use_root(const char *path) {
    snprintf(root, sizeof root, "%s", path);
    root_known = 1;
    for (int i = 0; i < COUNTERS; i++)
        atomic_store(&unmapped_counters[i], 0);
    /* The former mapping stays: another thread may be counting in it. */
    atomic_store(&counters, unmapped_counters);
    if (root[0])
        map_counters();
}

/* Held: lock. */
static void know_root(void) {
    if (!root_known) {
        const char *path = getenv("ERDMA_FAKEVERBS");
        use_root(path ? path : "");
    }
}

void fakeverbs_root(const char *path) {
    pthread_mutex_lock(&lock);
    use_root(path);
    pthread_mutex_unlock(&lock);
}

uint64_t fakeverbs_count(const char *name) {
    for (int i = 0; i < COUNTERS; i++)
        if (strcmp(name, counter_names[i]) == 0)
            return atomic_load(&atomic_load(&counters)[i]);
    die("no counter %s", name);
    return 0;
}

/* Calls on contexts that have begun and not returned. */
int fakeverbs_calls_under_way(void) {
    int calls = 0;
    pthread_mutex_lock(&lock);
    for (struct context *context = contexts; context; context = context->next)
        calls += context->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

/* ---- pages ---- */

/* Neighbouring pages; each is released by itself. */
static void *new_pages(size_t n) {
    void *page = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        die("no memory");
    return page;
}

/*
 * Makes neighbouring pages inaccessible for ever and gives their memory back, by one call, which is what costs. Their
 * addresses never come again.
 */
static void poison(void *first, size_t n) {
    if (n && mmap(first, n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != first)
        die("mmap: %s", strerror(errno));
}

/* Held: lock. */
static struct device *find_device(struct ibv_device *page, const char *function) {
    for (struct device *device = devices; device; device = device->next)
        if (device->page == page)
            return device;
    die("%s on a device whose list was freed", function);
    return NULL;
}

/* Answers whether that was the last reference; the page is then the caller's to poison. Held: lock. */
static int release_device(struct device *device) {
    if (--device->references > 0)
        return 0;
    struct device **link = &devices;
    while (*link != device)
        link = &(*link)->next;
    *link = device->next;
    free(device);
    return 1;
}

/* ---- the device list ---- */

struct found {
    uint64_t index;
    char name[IBV_SYSFS_NAME_MAX];
};

static int by_place(const void *left, const void *right) {
    const struct found *a = left, *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return strcmp(a->name, b->name);
}

static enum ibv_transport_type transport_of(int node_type) {
    switch (node_type) {
    case IBV_NODE_CA:
    case IBV_NODE_SWITCH:
    case IBV_NODE_ROUTER:
        return IBV_TRANSPORT_IB;
    case IBV_NODE_RNIC:
        return IBV_TRANSPORT_IWARP;
    case IBV_NODE_USNIC:
        return IBV_TRANSPORT_USNIC;
    case IBV_NODE_USNIC_UDP:
        return IBV_TRANSPORT_USNIC_UDP;
    case IBV_NODE_UNSPECIFIED:
        return IBV_TRANSPORT_UNSPECIFIED;
    default:
        return IBV_TRANSPORT_UNKNOWN;
    }
}

static struct device *new_device(const char *directory, const char *name, void *page) {
    struct device *device = calloc(1, sizeof *device);
    snprintf(device->directory, sizeof device->directory, "%s", directory);
    device->references = 1;
    device->page = page;
    int node_type = (int)read_number(directory, "node_type", IBV_NODE_RNIC);
    device->page->node_type = node_type;
    device->page->transport_type = (int)read_number(directory, "transport", (uint64_t)transport_of(node_type));
    snprintf(device->page->name, sizeof device->page->name, "%s", name);
    if (!read_text(directory, "uverbs", device->page->dev_name, sizeof device->page->dev_name))
        strcpy(device->page->dev_name, "uverbs0");
    snprintf(device->page->dev_path, sizeof device->page->dev_path, "/sys/class/infiniband_verbs/%s",
             device->page->dev_name);
    snprintf(device->page->ibdev_path, sizeof device->page->ibdev_path, "/sys/class/infiniband/%s", name);
    return device;
}

struct ibv_device **ibv_get_device_list(int *num) {
    char path[PATH_MAX];
    pthread_mutex_lock(&lock);
    know_root();
    strcpy(path, root);
    pthread_mutex_unlock(&lock);
    int error = path[0] ? fault(path, "get_device_list") : ENOSYS;
    DIR *directory = error ? NULL : opendir(path);
    if (!error && !directory)
        error = ENOSYS;
    if (error) {
        errno = error;
        return NULL;
    }
    struct found *found = calloc(MAX_DEVICES, sizeof *found);
    size_t n = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) && n < MAX_DEVICES) {
        char of_device[PATH_MAX];
        struct stat status;
        join(of_device, path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(of_device, &status) != 0 || !S_ISDIR(status.st_mode) ||
            exists(of_device, "hidden"))
            continue;
        snprintf(found[n].name, sizeof found[n].name, "%.63s", entry->d_name);
        found[n].index = read_number(of_device, "index", 0);
        n++;
    }
    closedir(directory);
    qsort(found, n, sizeof *found, by_place);

    struct list *list = calloc(1, sizeof *list);
    list->page = new_pages(n + 1);
    list->count = (int)n;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++) {
        char of_device[PATH_MAX];
        join(of_device, path, found[i].name);
        struct device *device = new_device(of_device, found[i].name, (char *)list->page + (i + 1) * PAGE);
        device->next = devices;
        devices = device;
        list->page[i] = device->page;
    }
    list->next = lists;
    lists = list;
    pthread_mutex_unlock(&lock);
    free(found);
    count(GET_DEVICE_LIST);
    if (num)
        *num = (int)n;
    /* As the real one: after a success errno means nothing. */
    errno = ENOTDIR;
    return list->page;
}

void ibv_free_device_list(struct ibv_device **page) {
    pthread_mutex_lock(&lock);
    struct list **link = &lists;
    while (*link && (*link)->page != page)
        link = &(*link)->next;
    struct list *list = *link;
    if (!list)
        die("ibv_free_device_list on a list that is none");
    *link = list->next;
    char *unused = (char *)page;
    size_t n = 1;
    for (int i = 0; i < list->count; i++) {
        struct ibv_device *device = (struct ibv_device *)(unused + n * PAGE);
        if (release_device(find_device(device, "ibv_free_device_list"))) {
            n++;
        } else {
            poison(unused, n);
            unused = (char *)device + PAGE;
            n = 0;
        }
    }
    poison(unused, n);
    free(list);
    pthread_mutex_unlock(&lock);
    count(FREE_DEVICE_LIST);
}

const char *ibv_get_device_name(struct ibv_device *page) {
    pthread_mutex_lock(&lock);
    find_device(page, "ibv_get_device_name");
    pthread_mutex_unlock(&lock);
    return page->name;
}

__be64 ibv_get_device_guid(struct ibv_device *page) {
    pthread_mutex_lock(&lock);
    struct device *device = find_device(page, "ibv_get_device_guid");
    uint64_t guid = read_guid(device->directory, "guid", 0);
    pthread_mutex_unlock(&lock);
    return htobe64(guid);
}

/* ---- contexts ---- */

struct ibv_context *ibv_open_device(struct ibv_device *page) {
    pthread_mutex_lock(&lock);
    struct device *device = find_device(page, "ibv_open_device");
    device->references++;
    int number = contexts_made++;
    pthread_mutex_unlock(&lock);

    int error = fault(device->directory, "open_device");
    struct context *context = calloc(1, sizeof *context);
    int async_fd = -1;
    if (!error) {
        char name[64];
        snprintf(name, sizeof name, "events.%d.%d", (int)getpid(), number);
        join(context->fifo, device->directory, name);
        unlink(context->fifo);
        /* For reading and writing, so that it never ends while an injector comes and goes. */
        if (mkfifo(context->fifo, 0666) != 0 || (async_fd = open(context->fifo, O_RDWR | O_CLOEXEC)) < 0)
            error = errno;
    }
    pthread_mutex_lock(&lock);
    if (error) {
        if (release_device(device))
            poison(page, 1);
        pthread_mutex_unlock(&lock);
        free(context);
        errno = error;
        return NULL;
    }
    context->device = device;
    context->page = new_pages(1);
    context->page->device = page;
    context->page->cmd_fd = -1;
    context->page->async_fd = async_fd;
    context->page->num_comp_vectors = 1;
    context->next = contexts;
    contexts = context;
    pthread_mutex_unlock(&lock);
    count(OPEN_DEVICE);
    return context->page;
}

/* Held: lock. */
static struct context *find_context(struct ibv_context *page, const char *function) {
    for (struct context *context = contexts; context; context = context->next)
        if (context->page == page)
            return context;
    die("%s on a context that is not open", function);
    return NULL;
}

/* Begins a call: waits while it is to hang, answers the errno that it is to fail with, or 0. */
static int enter(struct ibv_context *page, const char *call, struct context **context) {
    pthread_mutex_lock(&lock);
    *context = find_context(page, call);
    (*context)->calls++;
    pthread_mutex_unlock(&lock);
    int error = fault((*context)->device->directory, call);
    if (!error && access((*context)->device->directory, F_OK) != 0)
        error = EIO;
    return error;
}

static void leave(struct context *context) {
    pthread_mutex_lock(&lock);
    context->calls--;
    pthread_mutex_unlock(&lock);
}

int ibv_close_device(struct ibv_context *page) {
    pthread_mutex_lock(&lock);
    struct context *context = find_context(page, "ibv_close_device");
    if (context->calls != 0)
        die("ibv_close_device under %d other calls", context->calls);
    struct context **link = &contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    unlink(context->fifo);
    close(page->async_fd);
    poison(page, 1);
    struct ibv_device *of_device = context->device->page;
    if (release_device(context->device))
        poison(of_device, 1);
    free(context);
    pthread_mutex_unlock(&lock);
    count(CLOSE_DEVICE);
    return 0;
}

int ibv_query_device(struct ibv_context *page, struct ibv_device_attr *attr) {
    struct context *context;
    int error = enter(page, "query_device", &context);
    const char *directory = context->device->directory;
    if (!error) {
        memset(attr, 0, sizeof *attr);
        if (!read_text(directory, "fw_ver", attr->fw_ver, sizeof attr->fw_ver))
            strcpy(attr->fw_ver, "0.2.0");
        uint64_t guid = read_guid(directory, "guid", 0);
        attr->node_guid = htobe64(guid);
        attr->sys_image_guid = htobe64(read_guid(directory, "sys_image_guid", guid));
#define NUMBER(field, otherwise) attr->field = read_number(directory, #field, otherwise)
        NUMBER(max_mr_size, UINT64_C(0x1000000000));
        NUMBER(page_size_cap, 0xfffff000);
        NUMBER(vendor_id, 0x1ded);
        NUMBER(vendor_part_id, 0x107f);
        NUMBER(hw_ver, 0);
        NUMBER(max_qp, 131071);
        NUMBER(max_qp_wr, 8192);
        NUMBER(device_cap_flags, 0x201000);
        NUMBER(max_sge, 6);
        NUMBER(max_sge_rd, 1);
        NUMBER(max_cq, 262144);
        NUMBER(max_cqe, 1048576);
        NUMBER(max_mr, 2097152);
        NUMBER(max_pd, 131071);
        NUMBER(max_qp_rd_atom, 128);
        NUMBER(max_ee_rd_atom, 0);
        NUMBER(max_res_rd_atom, 0);
        NUMBER(max_qp_init_rd_atom, 128);
        NUMBER(max_ee_init_rd_atom, 0);
        NUMBER(atomic_cap, 0);
        NUMBER(max_ee, 0);
        NUMBER(max_rdd, 0);
        NUMBER(max_mw, 0);
        NUMBER(max_raw_ipv6_qp, 0);
        NUMBER(max_raw_ethy_qp, 0);
        NUMBER(max_mcast_grp, 0);
        NUMBER(max_mcast_qp_attach, 0);
        NUMBER(max_total_mcast_qp_attach, 0);
        NUMBER(max_ah, 0);
        NUMBER(max_fmr, 0);
        NUMBER(max_map_per_fmr, 0);
        NUMBER(max_srq, 0);
        NUMBER(max_srq_wr, 0);
        NUMBER(max_srq_sge, 0);
        NUMBER(max_pkeys, 1);
        NUMBER(local_ca_ack_delay, 15);
        NUMBER(phys_port_cnt, 1);
#undef NUMBER
    }
    leave(context);
    count(QUERY_DEVICE);
    return error;
}

/* One line of the file gids. */
struct slot {
    union ibv_gid gid;
    uint32_t index, type, ifindex;
};

static FILE *open_gids(const char *directory, int port) {
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "ports/%d/gids", port);
    join(path, directory, name);
    FILE *file = fopen(path, "re");
    if (!file) {
        join(path, directory, "gids");
        file = fopen(path, "re");
    }
    return file;
}

static int next_gid(FILE *file, struct slot *slot) {
    char address[64];
    if (fscanf(file, "%u %63s %u %u", &slot->index, address, &slot->type, &slot->ifindex) != 4)
        return 0;
    if (inet_pton(AF_INET6, address, slot->gid.raw) != 1)
        die("%s is no GID", address);
    return 1;
}

static int find_gid(const char *directory, int port, uint32_t index, struct slot *slot) {
    FILE *file = open_gids(directory, port);
    int found = 0;
    while (file && !found && next_gid(file, slot))
        found = slot->index == index;
    if (file)
        fclose(file);
    return found;
}

static uint32_t gid_table_length(const char *directory, int port) {
    FILE *file = open_gids(directory, port);
    uint32_t length = 1;
    struct slot slot;
    while (file && next_gid(file, &slot))
        if (slot.index >= length)
            length = slot.index + 1;
    if (file)
        fclose(file);
    return (uint32_t)read_port_number(directory, port, "gid_tbl_len", length);
}

static int has_port(const char *directory, unsigned port) {
    return port >= 1 && port <= read_number(directory, "phys_port_cnt", 1);
}

int ibv_query_port(struct ibv_context *page, uint8_t port, struct _compat_ibv_port_attr *compat) {
    struct context *context;
    int error = enter(page, "query_port", &context);
    const char *directory = context->device->directory;
    if (!error && !has_port(directory, port))
        error = EINVAL;
    if (!error) {
        /* The exported function fills the old layout of 48 bytes; the fields have kept their places. */
        struct ibv_port_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.gid_tbl_len = (int)gid_table_length(directory, port);
        attr.state = (int)read_port_number(directory, port, "port_state", IBV_PORT_ACTIVE);
#define NUMBER(field, otherwise) attr.field = read_port_number(directory, port, #field, otherwise)
        NUMBER(max_mtu, IBV_MTU_4096);
        NUMBER(active_mtu, IBV_MTU_1024);
        NUMBER(port_cap_flags, 0x10000);
        NUMBER(max_msg_sz, 0xffffffff);
        NUMBER(bad_pkey_cntr, 0);
        NUMBER(qkey_viol_cntr, 0);
        NUMBER(pkey_tbl_len, 1);
        NUMBER(lid, 0);
        NUMBER(sm_lid, 0);
        NUMBER(lmc, 0);
        NUMBER(max_vl_num, 0);
        NUMBER(sm_sl, 0);
        NUMBER(subnet_timeout, 0);
        NUMBER(init_type_reply, 0);
        NUMBER(active_width, 2);
        NUMBER(active_speed, 64);
        NUMBER(phys_state, attr.state == IBV_PORT_ACTIVE ? 5 : 3);
        NUMBER(link_layer, IBV_LINK_LAYER_ETHERNET);
        NUMBER(flags, 0);
#undef NUMBER
        memcpy(compat, &attr, 48);
    }
    leave(context);
    count(QUERY_PORT);
    return error;
}

int ibv_query_gid(struct ibv_context *page, uint8_t port, int index, union ibv_gid *gid) {
    struct context *context;
    int error = enter(page, "query_gid", &context);
    const char *directory = context->device->directory;
    if (!error && (!has_port(directory, port) || index < 0 || (uint32_t)index >= gid_table_length(directory, port)))
        error = EINVAL;
    if (!error) {
        struct slot slot;
        memset(gid, 0, sizeof *gid);
        if (find_gid(directory, port, (uint32_t)index, &slot))
            *gid = slot.gid;
    }
    leave(context);
    count(QUERY_GID);
    if (error) {
        errno = error;
        return -1;
    }
    return 0;
}

#ifndef WITHOUT_GID_TABLE
static void fill_entry(struct ibv_gid_entry *entry, const struct slot *slot, uint32_t port) {
    entry->gid = slot->gid;
    entry->gid_index = slot->index;
    entry->port_num = port;
    entry->gid_type = slot->type;
    entry->ndev_ifindex = slot->ifindex;
}

int _ibv_query_gid_ex(struct ibv_context *page, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t entry_size) {
    struct context *context;
    int error = enter(page, "query_gid_ex", &context);
    const char *directory = context->device->directory;
    if (!error && (flags != 0 || entry_size != sizeof *entry || !has_port(directory, port) ||
                   index >= gid_table_length(directory, (int)port)))
        error = EINVAL;
    if (!error) {
        struct slot slot;
        if (find_gid(directory, (int)port, index, &slot))
            fill_entry(entry, &slot, port);
        else
            error = ENODATA;
    }
    leave(context);
    count(QUERY_GID);
    return error;
}

ssize_t _ibv_query_gid_table(struct ibv_context *page, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
                             size_t entry_size) {
    struct context *context;
    int error = enter(page, "query_gid_table", &context);
    const char *directory = context->device->directory;
    if (!error && (flags != 0 || entry_size != sizeof *entries || max * entry_size > UINT16_MAX))
        error = EINVAL;
    size_t n = 0;
    for (uint32_t port = 1; !error && has_port(directory, port); port++) {
        FILE *file = open_gids(directory, (int)port);
        struct slot slot;
        while (file && !error && next_gid(file, &slot)) {
            if (n == max)
                error = EINVAL;
            else
                fill_entry(&entries[n++], &slot, port);
        }
        if (file)
            fclose(file);
    }
    leave(context);
    count(QUERY_GID);
    return error ? -error : (ssize_t)n;
}
#endif

/* ---- events ---- */

int ibv_get_async_event(struct ibv_context *page, struct ibv_async_event *event) {
    struct context *context;
    int error = enter(page, "get_async_event", &context);
    /* What was sent before the device went is still delivered. */
    if (!error || error == EIO) {
        struct ibv_async_event read_event;
        memset(&read_event, 0, sizeof read_event);
        ssize_t length = read(page->async_fd, &read_event, sizeof read_event);
        if (length == (ssize_t)sizeof read_event) {
            *event = read_event;
            error = 0;
        } else if (!error) {
            error = length < 0 ? errno : EIO;
        }
    }
    leave(context);
    if (error) {
        errno = error;
        return -1;
    }
    count(GET_ASYNC_EVENT);
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event) {
    (void)event;
    count(ACK_ASYNC_EVENT);
    _Atomic uint64_t *current = atomic_load(&counters);
    if (atomic_load(&current[ACK_ASYNC_EVENT]) > atomic_load(&current[GET_ASYNC_EVENT]))
        die("ibv_ack_async_event without an event");
}
