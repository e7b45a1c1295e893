package io.erdma.nccl;

import io.erdma.nccl.NcclProcess.Proofs;
import io.erdma.nccl.NcclProcess.Routes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What has been read of one process so far. A log may hold tens of thousands, so it is small. */
final class ProcessNotes {
    /** What a process can have said; the first ones are proven by a line. */
    enum Fact {
        NETWORK_IB(0),
        NETWORK_SOCKET(1),
        NETWORK_OTHER(2),
        DEVICES(3),
        NO_DEVICE(4),
        NO_NETWORK(5),
        IB_CHANNEL(6),
        SOCKET_CHANNEL(7),
        LOCAL_CHANNEL(8),
        GDR_CHANNEL(9),
        STAGED_CHANNEL(10),
        GDR_ENABLED(11),
        GDR_DISABLED(12);

        private final int place;

        Fact(int place) {
            this.place = place;
        }
    }

    private static final int PROOFS = 8;
    private static final int MOST_DEVICES = 32;
    private static final int MOST_RANKS = 32;

    private static final Set<String> VERBS = Set.of("IB");
    private static final Set<String> TCP = Set.of("Socket");
    private static final Set<String> BOTH = Set.of("IB", "Socket");

    final byte[] host;
    final int pid;
    final int hash;
    final int number;
    long lines;
    long firstLine;

    private int facts;
    private Evidence[] proofs;
    private List<IbDevice> devices = List.of();
    private String otherNetwork;
    private long ibIndexes;
    private Set<Sign> signs = Set.of();
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
        return (facts & (1 << fact.place)) != 0;
    }

    void note(Fact fact) {
        facts |= 1 << fact.place;
    }

    void note(Fact fact, Evidence proof) {
        note(fact);
        if (proofs == null) {
            proofs = new Evidence[PROOFS];
        }
        Evidence known = proofs[fact.place];
        if (known == null || known.line() > proof.line()) {
            proofs[fact.place] = proof;
        }
    }

    void sign(Sign sign) {
        if (signs.isEmpty()) {
            signs = EnumSet.of(sign);
        } else {
            signs.add(sign);
        }
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
        facts |= other.facts;
        if (other.proofs != null) {
            for (Fact fact : Fact.values()) {
                if (fact.place < PROOFS && other.proofs[fact.place] != null) {
                    note(fact, other.proofs[fact.place]);
                }
            }
        }
        add(other.devices);
        if (other.otherNetwork != null) {
            otherNetwork(other.otherNetwork);
        }
        ibIndexes |= other.ibIndexes;
        other.signs.forEach(this::sign);
        other.ranks.forEach(rank -> rank(rank, other.ranksInJob));
    }

    String hostName() {
        return new String(host, StandardCharsets.US_ASCII);
    }

    NcclProcess toProcess() {
        return new NcclProcess(
                hostName(),
                pid,
                new ArrayList<>(new TreeSet<>(ranks)),
                ranksInJob,
                networks(),
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

    private Set<String> networks() {
        if (!has(Fact.NETWORK_OTHER)) {
            return has(Fact.NETWORK_IB)
                    ? has(Fact.NETWORK_SOCKET) ? BOTH : VERBS
                    : has(Fact.NETWORK_SOCKET) ? TCP : Set.of();
        }
        Set<String> networks = new HashSet<>(BOTH);
        networks.removeIf(name -> !has(name.equals("IB") ? Fact.NETWORK_IB : Fact.NETWORK_SOCKET));
        networks.add(otherNetwork);
        return networks;
    }

    private Optional<Evidence> proof(Fact fact) {
        return proofs == null ? Optional.empty() : Optional.ofNullable(proofs[fact.place]);
    }
}
