package io.erdma.verbs;

/**
 * What the exported {@code ibv_query_port} says of one port: the fields of the 48-byte layout.
 *
 * @param stateNumber the raw number behind {@link #state}
 * @param maxMtu {@code enum ibv_mtu}: 1 = 256 … 5 = 4096 bytes
 * @param activeMtu as {@code maxMtu}
 * @param linkLayer 0 unspecified, 1 InfiniBand, 2 Ethernet
 */
public record PortAttributes(
        PortState state,
        int stateNumber,
        int maxMtu,
        int activeMtu,
        int gidTableLength,
        long portCapFlags,
        long maxMessageSize,
        long badPkeyCounter,
        long qkeyViolationCounter,
        int pkeyTableLength,
        int lid,
        int smLid,
        int lmc,
        int maxVlNum,
        int smSl,
        int subnetTimeout,
        int initTypeReply,
        int activeWidth,
        int activeSpeed,
        int physState,
        int linkLayer,
        int flags) {}
