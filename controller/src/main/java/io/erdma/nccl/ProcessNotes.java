package io.erdma.nccl;

import io.erdma.nccl.NcclProcess.Proofs;
import io.erdma.nccl.NcclProcess.Routes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What has been read of one process so far. A log may hold tens of thousands, so it is small. */
final class ProcessNotes {
    /** What a process can have said. */
    enum Fact {
        NETWORK_IB,
        NETWORK_SOCKET,
        NETWORK_OTHER,
        DEVICES,
        NO_DEVICE,
        NO_NETWORK,
        IB_CHANNEL,
        SOCKET_CHANNEL,
        LOCAL_CHANNEL,
        GDR_CHANNEL,
        STAGED_CHANNEL,
        GDR_ENABLED,
        GDR_DISABLED
    }

    private static final int MOST_DEVICES = 64;
    private static final int MOST_RANKS = 64;

    final byte[] host;
    final int pid;
    final int hash;
    final int number;
    long lines;
    long firstLine;

    private final Set<Fact> facts = EnumSet.noneOf(Fact.class);
    private final Map<Fact, Evidence> proofs = new EnumMap<>(Fact.class);
    private List<IbDevice> devices = List.of();
    private String otherNetwork;
    private long ibIndexes;
    private final Set<Sign> signs = EnumSet.noneOf(Sign.class);
    private int ranksInJob;
    private Set<Integer> ranks = Set.of();

    /** @param number in the order of first lines, from 0 */
    ProcessNotes(byte[] host, int pid, int hash, int number) {
        this.host = host;
        this.pid = pid;
        this.hash = hash;
        this.number = number;
    }

    boolean has(Fact fact) {
        return facts.contains(fact);
    }

    void note(Fact fact) {
        facts.add(fact);
    }

    void note(Fact fact, Evidence proof) {
        note(fact);
        proofs.merge(fact, proof, (one, other) -> one.line() <= other.line() ? one : other);
    }

    void sign(Sign sign) {
        signs.add(sign);
    }

    /** NCCL names them once a process, or, newer ones, once a communicator; then mostly the same. */
    void add(List<IbDevice> more) {
        if (devices.isEmpty()) {
            devices = more;
        } else if (!devices.equals(more)) {
            Set<IbDevice> all = new LinkedHashSet<>(devices);
            all.addAll(more);
            devices = all.stream().limit(MOST_DEVICES).toList();
        }
    }

    void otherNetwork(String name) {
        if (otherNetwork == null || otherNetwork.compareTo(name) > 0) {
            otherNetwork = name;
        }
    }

    void ibIndex(int index) {
        if (index >= 0 && index < Long.SIZE) {
            ibIndexes |= 1L << index;
        }
    }

    /** In a communicator; the largest one is the job's. */
    void rank(int rank, int of) {
        if (of < ranksInJob || (of == ranksInJob && ranks.contains(rank))) {
            return;
        }
        if (of > ranksInJob) {
            ranksInJob = of;
            ranks = Set.of(rank);
        } else if (ranks.size() < MOST_RANKS) {
            Set<Integer> more = new TreeSet<>(ranks);
            more.add(rank);
            ranks = more;
        }
    }

    /** Takes over what belongs to the same process. */
    void merge(ProcessNotes other) {
        facts.addAll(other.facts);
        other.proofs.forEach(this::note);
        add(other.devices);
        if (other.otherNetwork != null) {
            otherNetwork(other.otherNetwork);
        }
        ibIndexes |= other.ibIndexes;
        signs.addAll(other.signs);
        other.ranks.forEach(rank -> rank(rank, other.ranksInJob));
    }

    String hostName() {
        return new String(host, StandardCharsets.US_ASCII);
    }

    NcclProcess toProcess() {
        Set<String> networks = new LinkedHashSet<>();
        if (has(Fact.NETWORK_IB)) {
            networks.add("IB");
        }
        if (has(Fact.NETWORK_SOCKET)) {
            networks.add("Socket");
        }
        if (has(Fact.NETWORK_OTHER)) {
            networks.add(otherNetwork);
        }
        return new NcclProcess(
                hostName(),
                pid,
                new ArrayList<>(new TreeSet<>(ranks)),
                ranksInJob,
                networks,
                devices,
                has(Fact.NO_DEVICE),
                has(Fact.NO_NETWORK),
                new Routes(
                        has(Fact.IB_CHANNEL),
                        ibIndexes,
                        has(Fact.GDR_CHANNEL),
                        has(Fact.STAGED_CHANNEL),
                        has(Fact.SOCKET_CHANNEL),
                        has(Fact.LOCAL_CHANNEL)),
                has(Fact.GDR_ENABLED)
                        ? Optional.of(true)
                        : has(Fact.GDR_DISABLED) ? Optional.of(false) : Optional.empty(),
                signs,
                new Proofs(
                        proof(Fact.DEVICES),
                        proof(Fact.NETWORK_SOCKET)
                                .or(() -> proof(Fact.NETWORK_OTHER))
                                .or(() -> proof(Fact.NETWORK_IB)),
                        proof(Fact.NO_DEVICE),
                        proof(Fact.NO_NETWORK),
                        proof(Fact.IB_CHANNEL),
                        proof(Fact.SOCKET_CHANNEL)));
    }

    private Optional<Evidence> proof(Fact fact) {
        return Optional.ofNullable(proofs.get(fact));
    }
}
