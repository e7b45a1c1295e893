package io.erdma.libc;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import jnr.ffi.Runtime;

/**
 * The one way to call {@link LibC}: {@code checked("recv", "netlink socket", () -> libc.recv(fd, …))}. A call that was
 * interrupted is made again; any other failure becomes a {@link NativeException} with its errno.
 */
public final class SystemCall {
    private SystemCall() {}

    /** @return what the call answered, 0 or more */
    public static int checked(String function, String subject, IntSupplier call) throws NativeException {
        return (int) checkedLong(function, subject, call::getAsInt);
    }

    /** @return what the call answered, 0 or more */
    public static long checkedLong(String function, String subject, LongSupplier call) throws NativeException {
        while (true) {
            long result = call.getAsLong();
            if (result >= 0) {
                return result;
            }
            int errno = errno();
            if (errno != Errno.EINTR) {
                throw new NativeException(function, errno, subject);
            }
        }
    }

    /** Closes a descriptor of ours. Linux frees the number even when it answers EINTR, so there is never a second try. */
    public static void close(LibC libc, int fd, String subject) throws NativeException {
        if (libc.close(fd) < 0) {
            int errno = errno();
            if (errno != Errno.EINTR) {
                throw new NativeException("close", errno, subject);
            }
        }
    }

    /** errno as this thread's last failed call left it; after a success it says nothing. */
    public static int errno() {
        return Runtime.getSystemRuntime().getLastError();
    }
}
