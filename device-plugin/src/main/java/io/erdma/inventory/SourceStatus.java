package io.erdma.inventory;

import java.util.Optional;

/**
 * Whether one source of knowledge could be used.
 *
 * @param problem why it could not, in one line; absent when it worked
 */
public record SourceStatus(Source source, Optional<String> problem) {
    /** In order of preference. */
    public enum Source {
        VERBS,
        RDMA_NETLINK,
        SYSFS,
        LINKS
    }

    public boolean usable() {
        return problem.isEmpty();
    }
}
