package io.erdma.verbs;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.annotations.SaveError;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;

/**
 * The exported functions of libibverbs that we call, under their C names; for {@link Verbs} and {@link VerbsContext}
 * alone. What the header gives only as an inline ({@code ibv_query_device_ex}, {@code ibv_query_gid_table}, …) is no
 * symbol and can't be here.
 *
 * <p>Structs are passed as zeroed byte arrays, copied in and out by each call: libibverbs keeps no pointer to any of
 * them.
 */
public interface LibIbverbs {
    /** NULL with errno on failure; a list without devices is not NULL, and errno then means nothing. */
    @SaveError
    Pointer ibv_get_device_list(@Out int[] count);

    void ibv_free_device_list(Pointer list);

    String ibv_get_device_name(Pointer device);

    /** Big-endian; 0 when it could not be read. */
    long ibv_get_device_guid(Pointer device);

    /** NULL with errno on failure. */
    @SaveError
    Pointer ibv_open_device(Pointer device);

    @SaveError
    int ibv_close_device(Pointer context);

    /** Answers a positive errno value. */
    @SaveError
    int ibv_query_device(Pointer context, @In @Out byte[] deviceAttr);

    /**
     * The exported function, not the header's macro: it fills the 48 bytes of {@link PortAttr} and answers a positive
     * errno value.
     */
    @SaveError
    int ibv_query_port(Pointer context, byte port, @In @Out byte[] portAttr);

    /** -1 with errno; an empty slot succeeds with a GID of zeroes. */
    @SaveError
    int ibv_query_gid(Pointer context, byte port, int index, @In @Out byte[] gid);

    /** -1 with errno. */
    @SaveError
    int ibv_get_async_event(Pointer context, @In @Out byte[] asyncEvent);

    void ibv_ack_async_event(@In byte[] asyncEvent);

    /** The two that came with IBVERBS_1.11; an older library lacks them. */
    interface GidTable {
        /** The count, or a negative errno value. */
        @SaveError
        @ssize_t
        long _ibv_query_gid_table(
                Pointer context, @In @Out byte[] entries, @size_t long maxEntries, int flags, @size_t long entrySize);

        /** Answers a positive errno value; ENODATA for an empty slot. */
        @SaveError
        int _ibv_query_gid_ex(
                Pointer context, int port, int index, @In @Out byte[] entry, int flags, @size_t long entrySize);
    }
}
