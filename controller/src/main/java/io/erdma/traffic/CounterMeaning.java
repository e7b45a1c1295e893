package io.erdma.traffic;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What a counter counts, as far as its name tells. Drivers spell the same thing differently: {@code tx_bytes_cnt} and
 * {@code hw_tx_bytes_cnt} are both erdma's, in the kernel's tree and out of it, {@code sent_pkts} is soft-RoCE's, {@code
 * port_xmit_data} InfiniBand's. A name with any word beyond direction and unit counts a part, and is left alone.
 *
 * @param received counted where traffic comes in; otherwise where it goes out
 * @param factor by how much to multiply to get bytes or packets
 */
record CounterMeaning(Kind kind, boolean received, long factor) {
    enum Kind {
        BYTES,
        PACKETS,
        /** Lost because the instance had used up its bandwidth. */
        BANDWIDTH_DROPS,
        /** Lost because the instance had used up its packets per second. */
        PACKET_RATE_DROPS,
        OTHER_DROPS
    }

    private static final Set<String> RECEIVED = Set.of("rx", "rcv", "recv", "rcvd", "receive", "received");
    private static final Set<String> SENT = Set.of("tx", "xmit", "xmitted", "transmit", "transmitted", "send", "sent");
    private static final Set<String> BYTES = Set.of("bytes", "octets");
    private static final Set<String> PACKETS = Set.of("packets", "pkts");
    private static final Set<String> DROPS = Set.of("drop", "drops", "dropped", "discards");
    private static final Set<String> WITHOUT_MEANING = Set.of("hw", "port", "cnt", "count", "counter", "total");

    /** InfiniBand counts payload in words of 32 bits. */
    private static final long BYTES_PER_WORD = 4;

    static Optional<CounterMeaning> of(String name) {
        List<String> words =
                new ArrayList<>(List.of(name.toLowerCase(Locale.ROOT).split("_", -1)));
        boolean infiniband = words.getFirst().equals("port");
        words.removeAll(WITHOUT_MEANING);
        boolean received = words.stream().anyMatch(RECEIVED::contains);
        boolean sent = words.stream().anyMatch(SENT::contains);
        if (words.stream().anyMatch(DROPS::contains)) {
            return Optional.of(new CounterMeaning(drops(words), received, 1));
        }
        if (words.size() != 2 || received == sent) {
            return Optional.empty();
        }
        words.removeAll(received ? RECEIVED : SENT);
        String unit = words.isEmpty() ? "" : words.getFirst();
        if (BYTES.contains(unit)) {
            return Optional.of(new CounterMeaning(Kind.BYTES, received, 1));
        }
        if (PACKETS.contains(unit)) {
            return Optional.of(new CounterMeaning(Kind.PACKETS, received, 1));
        }
        if (infiniband && unit.equals("data")) {
            return Optional.of(new CounterMeaning(Kind.BYTES, received, BYTES_PER_WORD));
        }
        return Optional.empty();
    }

    private static Kind drops(List<String> words) {
        if (words.contains("limit") && words.contains("bps")) {
            return Kind.BANDWIDTH_DROPS;
        }
        if (words.contains("limit") && words.contains("pps")) {
            return Kind.PACKET_RATE_DROPS;
        }
        return Kind.OTHER_DROPS;
    }
}
