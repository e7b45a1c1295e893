package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.netlink.MacAddress;
import io.erdma.node.net.WantedInterface;
import io.erdma.node.net.WantedInterfaces;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Candidates and what the metadata service told of them, put together.
 *
 * @param problems candidates that are left as they are, one line each
 */
record ManagedInterfaces(WantedInterfaces wanted, List<String> problems) {
    ManagedInterfaces {
        requireNonNull(wanted, "wanted is null");
        problems = List.copyOf(problems);
    }

    /**
     * Looks after each candidate but the primary interface, of which both sources may tell. One that the metadata service
     * told nothing of is left as it is: whether it has an address, and which, cannot be guessed.
     *
     * @param assigned the primary interface as the source of the candidates has it
     * @param mtu in bytes, for all of them; absent: as they are
     */
    static ManagedInterfaces of(
            List<Candidate> candidates, Optional<MacAddress> assigned, MetadataReading reading, OptionalInt mtu) {
        List<WantedInterface> secondary = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        Optional<MacAddress> primary = reading.primary().or(() -> assigned);
        for (Candidate candidate : candidates) {
            boolean own = Optional.of(candidate.mac()).equals(reading.primary());
            boolean called = Optional.of(candidate.mac()).equals(assigned);
            InterfaceFacts facts = reading.interfaces().get(candidate.mac());
            if (called && !own && reading.primary().isPresent()) {
                problems.add(candidate.name() + ": called the primary interface, which is "
                        + reading.primary().get() + " and not " + candidate.mac() + "; it is left as it is");
            } else if (!own && !called && facts != null) {
                secondary.add(new WantedInterface(
                        candidate.mac(), candidate.cardIndex(), facts.address(), facts.gateway(), mtu));
            }
        }
        return new ManagedInterfaces(new WantedInterfaces(primary, secondary), problems);
    }
}
