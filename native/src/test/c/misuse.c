/* Uses the library that it is linked with wrongly, in the way that its argument names. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#undef ibv_get_device_list

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    int devices;
    struct ibv_device **list = ibv_get_device_list(&devices);
    if (!list || devices != 1)
        return 2;
    struct ibv_device *device = list[0];
    struct ibv_async_event event;
    memset(&event, 0, sizeof event);
    if (strcmp(way, "read after free") == 0) {
        ibv_free_device_list(list);
        printf("%s\n", device->name);
    } else if (strcmp(way, "open after free") == 0) {
        ibv_free_device_list(list);
        ibv_open_device(device);
    } else if (strcmp(way, "free twice") == 0) {
        ibv_free_device_list(list);
        ibv_free_device_list(list);
    } else if (strcmp(way, "close twice") == 0) {
        struct ibv_context *context = ibv_open_device(device);
        ibv_close_device(context);
        ibv_close_device(context);
    } else if (strcmp(way, "acknowledge nothing") == 0) {
        ibv_ack_async_event(&event);
    } else if (strcmp(way, "nothing wrong") == 0) {
        struct ibv_context *context = ibv_open_device(device);
        ibv_free_device_list(list);
        printf("%s\n", device->name);
        ibv_close_device(context);
    }
    return 0;
}
