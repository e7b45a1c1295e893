package io.erdma.node.interfaces;

import io.erdma.netlink.MacAddress;
import io.erdma.plugin.BackOff;
import java.io.Closeable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the metadata service has told so far. It is asked when there are interfaces that it has not told of, and again
 * after a while when it could not, or found one without an IPv4 address; what it told once stays. For one thread.
 */
final class MetadataFacts implements Closeable {
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private final MetadataClient client;
    private final BackOff pauses = new BackOff(FIRST_PAUSE, LONGEST_PAUSE);
    private final Map<MacAddress, InterfaceFacts> known = new HashMap<>();
    private Optional<MacAddress> primary = Optional.empty();
    private List<String> problems = List.of();
    private Set<MacAddress> asked = Set.of();
    private long nextTry;

    MetadataFacts(MetadataClient client) {
        this.client = client;
        this.nextTry = System.nanoTime();
    }

    /** Never goes through this object's memory: who asks for it remembers it. */
    String instanceId() throws MetadataException {
        return client.instanceId();
    }

    /** What is known of these, without asking. */
    MetadataReading known(Set<MacAddress> macs) {
        Map<MacAddress, InterfaceFacts> facts = new HashMap<>(known);
        facts.keySet().retainAll(macs);
        return new MetadataReading(primary, facts, macs.isEmpty() ? List.of() : problems);
    }

    /** The same after asking, if that is due. */
    MetadataReading read(Set<MacAddress> macs) {
        if (due(macs).isZero()) {
            if (!macs.equals(asked)) {
                pauses.reset();
            }
            asked = macs;
            MetadataReading reading = client.read(macs);
            primary = reading.primary().or(() -> primary);
            known.putAll(reading.interfaces());
            known.keySet().retainAll(macs);
            problems = new ArrayList<>(reading.problems());
            nextTry = System.nanoTime() + pauses.next().toNanos();
        }
        return known(macs);
    }

    /** After which there is something to ask; long when there is not. */
    Duration due(Set<MacAddress> macs) {
        if (macs.isEmpty() || (macs.equals(asked) && settled(macs))) {
            return LONGEST_PAUSE;
        }
        return macs.equals(asked) ? Duration.ofNanos(Math.max(0, nextTry - System.nanoTime())) : Duration.ZERO;
    }

    private boolean settled(Set<MacAddress> macs) {
        return problems.isEmpty()
                && known.keySet().containsAll(macs)
                && known.values().stream().allMatch(facts -> facts.address().isPresent());
    }

    /** Ends a request under way, from any thread. */
    @Override
    public void close() {
        client.close();
    }
}
