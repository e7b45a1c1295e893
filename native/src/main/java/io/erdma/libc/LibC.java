package io.erdma.libc;

import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.annotations.SaveError;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;

/**
 * The functions of libc that we call, under their C names. Each but {@code isatty} answers -1 on failure; callers
 * go through {@link SystemCall#checked}, which retries EINTR and reads errno at once.
 *
 * <p>Arrays are copied to native memory and back by each call, so no pointer of theirs outlives it. {@code fcntl} is
 * variadic in C; on amd64 and arm64 Linux an int third argument travels as here. So is {@code open}, whose third argument
 * only a file that is created needs.
 */
public interface LibC {
    int AF_NETLINK = 16;
    int SOCK_RAW = 3;
    int SOCK_CLOEXEC = 0x80000;
    int SOCK_NONBLOCK = 0x800;

    int MSG_PEEK = 0x2;
    /** For recv: answer the true length of a longer datagram. */
    int MSG_TRUNC = 0x20;

    int MSG_DONTWAIT = 0x40;

    int SOL_SOCKET = 1;
    int SO_SNDBUF = 7;
    int SO_RCVBUF = 8;
    int SO_RCVTIMEO = 20;
    int SO_RCVBUFFORCE = 33;
    int SOL_NETLINK = 270;

    int POLLIN = 0x1;
    int POLLERR = 0x8;
    int POLLHUP = 0x10;
    int POLLNVAL = 0x20;

    int F_GETFL = 3;
    int F_SETFL = 4;
    int O_RDWR = 0x2;
    int O_NONBLOCK = 0x800;
    int O_CLOEXEC = 0x80000;

    int EFD_NONBLOCK = O_NONBLOCK;
    int EFD_CLOEXEC = 0x80000;

    int IN_NONBLOCK = O_NONBLOCK;
    int IN_CLOEXEC = 0x80000;

    /** The C library of this process, loaded once. */
    static LibC load() throws NativeException {
        return LoadedLibC.get();
    }

    @SaveError
    int socket(int domain, int type, int protocol);

    @SaveError
    int bind(int fd, @In byte[] address, int addressLength);

    @SaveError
    int getsockname(int fd, @Out byte[] address, @In @Out int[] addressLength);

    @SaveError
    int setsockopt(int fd, int level, int option, @In byte[] value, int valueLength);

    @SaveError
    @ssize_t
    long sendto(int fd, @In byte[] buffer, @size_t long length, int flags, @In byte[] address, int addressLength);

    @SaveError
    @ssize_t
    long recv(int fd, @Out byte[] buffer, @size_t long length, int flags);

    /** @param addressLength in: size of {@code address}; out: bytes written there */
    @SaveError
    @ssize_t
    long recvfrom(
            int fd,
            @Out byte[] buffer,
            @size_t long length,
            int flags,
            @Out byte[] address,
            @In @Out int[] addressLength);

    /**
     * @param pollfds {@code struct pollfd[count]}: fd (i32), events (i16), revents (i16), in native order
     * @param timeoutMillis negative: without end
     */
    @SaveError
    int poll(@In @Out byte[] pollfds, long count, int timeoutMillis);

    @SaveError
    int fcntl(int fd, int command, int argument);

    @SaveError
    int open(String path, int flags);

    @SaveError
    int close(int fd);

    /** Answers 1 for a terminal, else 0 with the reason in errno. */
    @SaveError
    int isatty(int fd);

    @SaveError
    int eventfd(int initialValue, int flags);

    @SaveError
    @ssize_t
    long read(int fd, @Out byte[] buffer, @size_t long length);

    @SaveError
    @ssize_t
    long write(int fd, @In byte[] buffer, @size_t long length);

    /** @param ends the reading one, then the writing one */
    @SaveError
    int pipe2(@Out int[] ends, int flags);

    @SaveError
    int inotify_init1(int flags);

    @SaveError
    int inotify_add_watch(int fd, String path, int mask);

    @SaveError
    int inotify_rm_watch(int fd, int watch);
}
