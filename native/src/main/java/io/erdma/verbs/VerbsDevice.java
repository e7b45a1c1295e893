package io.erdma.verbs;

/**
 * One entry of libibverbs' device list, copied before the list was freed.
 *
 * @param name RDMA device name, for example {@code erdma_0}
 * @param uverbsName name of its character device, for example {@code uverbs0}
 * @param transport {@code enum ibv_transport_type}: 0 InfiniBand, 1 iWARP, …
 */
public record VerbsDevice(String name, String uverbsName, NodeGuid guid, NodeType nodeType, int transport) {}
