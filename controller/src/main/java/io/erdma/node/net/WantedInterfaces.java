package io.erdma.node.net;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.MacAddress;
import java.util.List;
import java.util.Optional;

/**
 * Which interfaces of this node the agent looks after, in whatever order they were told of.
 *
 * @param primary the node's own interface, which is never touched; absent where nobody told: the one with the default route
 */
public record WantedInterfaces(Optional<MacAddress> primary, List<WantedInterface> secondary) {
    public static final WantedInterfaces NONE = new WantedInterfaces(Optional.empty(), List.of());

    public WantedInterfaces {
        requireNonNull(primary, "primary is null");
        secondary = List.copyOf(secondary);
    }
}
