package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.MacAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the metadata service told of some interfaces at one moment.
 *
 * @param primary the address of the instance's own interface
 * @param interfaces those of the ones asked for that it could tell of
 * @param problems what it could not, one line each
 */
record MetadataReading(
        Optional<MacAddress> primary, Map<MacAddress, InterfaceFacts> interfaces, List<String> problems) {
    static final MetadataReading NONE = new MetadataReading(Optional.empty(), Map.of(), List.of());

    MetadataReading {
        requireNonNull(primary, "primary is null");
        interfaces = Map.copyOf(interfaces);
        problems = List.copyOf(problems);
    }
}
