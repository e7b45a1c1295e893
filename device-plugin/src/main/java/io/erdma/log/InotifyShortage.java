package io.erdma.log;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One warning a process with what the operator can do when the kernel gives no inotify. Several parts watch directories
 * and meet the same shortage; each has its own fall-back to tell, but the first one's advice holds for all. Safe for use
 * from several threads.
 */
public final class InotifyShortage {
    private final Set<String> advised = ConcurrentHashMap.newKeySet();

    /** @param fallBack what the part does instead, as a sentence without its end */
    public void tell(Log log, String fallBack, IOException failure) {
        String what = fallBack + ": " + failure.getMessage();
        Optional<String> advice = advice(failure);
        if (advice.isEmpty()) {
            log.warn(what);
        } else if (advised.add(advice.get())) {
            log.warn(what + ". " + advice.get());
        } else {
            log.info(what);
        }
    }

    private static Optional<String> advice(IOException failure) {
        if (!(failure instanceof NativeException known)) {
            return Optional.empty();
        }
        return switch (known.errno()) {
            case Errno.EMFILE ->
                Optional.of("Raise the sysctl fs.inotify.max_user_instances on the node (or the process's limit of open"
                        + " files)");
            case Errno.ENOSPC -> Optional.of("Raise the sysctl fs.inotify.max_user_watches on the node");
            default -> Optional.empty();
        };
    }
}
