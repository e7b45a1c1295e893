package io.erdma.nccl;

import io.erdma.nccl.ProcessNotes.Fact;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/** What the messages of NCCL's lines say, noted for their process. */
final class Messages {
    private static final int MOST_VERSIONS = 16;
    private static final int LONGEST_VERSION = 40;
    private static final int LONGEST_NETWORK = 64;
    private static final int MOST_DEVICES = 32;
    private static final int SHARED_LISTS = 1_024;

    /** As the kernel bounds them (IB_DEVICE_NAME_MAX). */
    private static final int LONGEST_NAME = 64;

    private static final int LONGEST_LAYER = 16;

    /** NCCL's own buffer for such a line is shorter. */
    private static final int LONGEST_SHARED = 2_048;

    /** In all lists together. Whose devices don't fit has none that are known. */
    private static final int ALL_DEVICES = 65_536;

    /** A job has a communicator of all its ranks; none has this many. */
    private static final int MOST_RANKS = 1 << 20;

    private static final byte[] CHANNEL = Bytes.of("Channel ");
    private static final byte[] VIA = Bytes.of(" via ");
    private static final byte[] NET = Bytes.of("NET/");
    private static final byte[] GDRDMA = Bytes.of("/GDRDMA");
    private static final byte[] P2P = Bytes.of("P2P");
    private static final byte[] SHM = Bytes.of("SHM");
    private static final byte[] USING_NETWORK = Bytes.of("Using network ");
    private static final byte[] ASSIGNED = Bytes.of("Assigned NET plugin ");
    private static final byte[] TO_COMM = Bytes.of(" to comm");
    private static final byte[] NET_IB = Bytes.of("NET/IB");
    private static final byte[] USING = Bytes.of("Using ");
    private static final byte[] NO_DEVICE = Bytes.of("No device found");
    private static final byte[] GPU_DIRECT = Bytes.of("GPU Direct RDMA ");
    private static final byte[] ENABLED_FOR_HCA = Bytes.of("Enabled for HCA");
    private static final byte[] DISABLED_FOR_HCA = Bytes.of("Disabled for HCA");
    private static final byte[] VARIABLE = Bytes.of("NCCL_");
    private static final byte[] VERSION = Bytes.of("NCCL version ");
    private static final byte[] RANK = Bytes.of(" rank ");
    private static final byte[] N_RANKS = Bytes.of(" nranks ");
    private static final byte[] N_RANKS_TOO = Bytes.of(" nRanks ");
    private static final byte[] IB = Bytes.of("IB");
    private static final byte[] IB_EXT = Bytes.of("IBext");
    private static final byte[] SOCKET = Bytes.of("Socket");
    private static final byte[] ROCE = Bytes.of("RoCE");
    private static final byte[] OOB = Bytes.of("; OOB");

    private final EvidenceKeeper keeper;
    private final VariableNotes variables = new VariableNotes();
    private final Map<Sign, Evidence> signs = new EnumMap<>(Sign.class);
    private final SortedSet<String> versions = new TreeSet<>();
    private final Map<String, List<IbDevice>> sharedLists = new HashMap<>();
    private int devicesLeft = ALL_DEVICES;

    Messages(EvidenceKeeper keeper) {
        this.keeper = keeper;
    }

    VariableNotes variables() {
        return variables;
    }

    Map<Sign, Evidence> signs() {
        return signs;
    }

    SortedSet<String> versions() {
        return versions;
    }

    /**
     * Notes one message.
     *
     * @param whole whether it ends where its line does; if not, its last word may be cut
     */
    void read(ProcessNotes process, boolean warning, byte[] bytes, int from, int end, boolean whole, long line) {
        int to = Bytes.trimEnd(bytes, from, end);
        if (from >= to) {
            return;
        }
        switch (bytes[from]) {
            case 'C' -> {
                if (Bytes.startsWith(bytes, from, to, CHANNEL)) {
                    channel(process, bytes, from, to, whole, line);
                    return;
                }
            }
            case 'N' -> {
                if (Bytes.startsWith(bytes, from, to, NET_IB)) {
                    ib(process, bytes, from, to, whole, line);
                    return;
                }
                if (Bytes.startsWith(bytes, from, to, VARIABLE)) {
                    if (whole) {
                        variables.read(process, bytes, from, to, line, keeper);
                    }
                    return;
                }
                if (Bytes.startsWith(bytes, from, to, VERSION)) {
                    version(bytes, from, to, whole);
                    return;
                }
            }
            case 'U' -> {
                if (Bytes.startsWith(bytes, from, to, USING_NETWORK)) {
                    network(process, bytes, from, to, from + USING_NETWORK.length, to, whole, line);
                    return;
                }
            }
            case 'A' -> {
                if (Bytes.startsWith(bytes, from, to, ASSIGNED)) {
                    int name = from + ASSIGNED.length;
                    int nameTo = Bytes.indexOf(bytes, name, to, TO_COMM);
                    if (nameTo > 0) {
                        network(process, bytes, from, to, name, nameTo, true, line);
                    }
                    return;
                }
            }
            case 'c', 'n' -> {
                rank(process, bytes, from, to, whole);
                if (!warning) {
                    return;
                }
            }
            default -> {
                if (!warning && bytes[from] != 'F') {
                    return;
                }
            }
        }
        if (warning || bytes[from] == 'F' || bytes[from] == 'C') {
            sign(process, bytes, from, to, line);
        }
    }

    /** {@code Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(3)/GDRDMA(PCI)/Shared}. */
    private void channel(ProcessNotes process, byte[] bytes, int from, int to, boolean whole, long line) {
        int via = Bytes.indexOf(bytes, from + CHANNEL.length, to, VIA);
        if (via < 0) {
            return;
        }
        int at = via + VIA.length;
        if (!Bytes.startsWith(bytes, at, to, NET)) {
            if (Bytes.startsWith(bytes, at, to, P2P) || Bytes.startsWith(bytes, at, to, SHM)) {
                process.note(Fact.LOCAL_CHANNEL);
            }
            return;
        }
        int name = at + NET.length;
        int slash = name;
        while (slash < to && bytes[slash] != '/') {
            slash++;
        }
        int index = slash + 1;
        int indexTo = Bytes.digitsEnd(bytes, Math.min(index, to), to);
        if (indexTo == index || index > to || (indexTo == to && !whole)) {
            return;
        }
        if (Bytes.startsWith(bytes, name, slash, IB) && isIb(bytes, name, slash)) {
            once(process, Fact.IB_CHANNEL, bytes, from, to, line);
            process.ibIndex(Bytes.number(bytes, index, indexTo));
            if (Bytes.contains(bytes, indexTo, to, GDRDMA)) {
                process.note(Fact.GDR_CHANNEL);
            } else if (whole) {
                process.note(Fact.STAGED_CHANNEL);
            }
        } else if (is(bytes, name, slash, SOCKET)) {
            once(process, Fact.SOCKET_CHANNEL, bytes, from, to, line);
        }
    }

    private static boolean is(byte[] bytes, int from, int to, byte[] word) {
        return to - from == word.length && Bytes.startsWith(bytes, from, to, word);
    }

    /** NCCL's own verbs transport, or the same in the plugin of HPC-X. */
    private static boolean isIb(byte[] bytes, int from, int to) {
        return is(bytes, from, to, IB) || Bytes.startsWith(bytes, from, to, IB_EXT);
    }

    /** @param from where the network's name begins in the message */
    private void network(
            ProcessNotes process,
            byte[] bytes,
            int message,
            int messageTo,
            int from,
            int to,
            boolean whole,
            long line) {
        if (is(bytes, from, to, SOCKET)) {
            once(process, Fact.NETWORK_SOCKET, bytes, message, messageTo, line);
        } else if (isIb(bytes, from, to)) {
            once(process, Fact.NETWORK_IB, bytes, message, messageTo, line);
        } else if (whole
                && from < to
                && !isBeginningOf(bytes, from, to, SOCKET)
                && !isBeginningOf(bytes, from, to, IB)) {
            process.otherNetwork(Bytes.text(bytes, from, Math.min(to, from + LONGEST_NETWORK)));
            once(process, Fact.NETWORK_OTHER, bytes, message, messageTo, line);
        }
    }

    /** Lines get cut. */
    private static boolean isBeginningOf(byte[] bytes, int from, int to, byte[] word) {
        for (int i = 0; i < to - from; i++) {
            if (i >= word.length || bytes[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    /** {@code NET/IB : …}, and {@code NET/IB: …}. */
    private void ib(ProcessNotes process, byte[] bytes, int from, int to, boolean whole, long line) {
        int at = from + NET_IB.length;
        while (at < to && (bytes[at] == ' ' || bytes[at] == ':')) {
            at++;
        }
        if (Bytes.startsWith(bytes, at, to, USING)) {
            List<IbDevice> devices = devices(bytes, at + USING.length, to, whole);
            if (!devices.isEmpty()) {
                process.add(devices);
                once(process, Fact.DEVICES, bytes, from, to, line);
            }
        } else if (Bytes.startsWith(bytes, at, to, NO_DEVICE)) {
            once(process, Fact.NO_DEVICE, bytes, from, to, line);
            sign(process, Sign.NO_DEVICE, bytes, from, to, line);
        } else if (Bytes.startsWith(bytes, at, to, GPU_DIRECT)) {
            int what = at + GPU_DIRECT.length;
            if (Bytes.startsWith(bytes, what, to, ENABLED_FOR_HCA)) {
                process.note(Fact.GDR_ENABLED);
            } else if (Bytes.startsWith(bytes, what, to, DISABLED_FOR_HCA)) {
                process.note(Fact.GDR_DISABLED);
            }
        } else {
            sign(process, bytes, from, to, line);
        }
    }

    /**
     * {@code [0]erdma_0:1/RoCE [1]erdma_1:1/RoCE [RO]; OOB eth0:…}; NCCL 2.21 to 2.23 write ports that they merged as
     * {@code [0]={[0] a:1/RoCE, [1] b:1/RoCE}}, and 2.30 may put more numbers after the port. {@code [RO]} alone is none.
     */
    private List<IbDevice> devices(byte[] bytes, int from, int end, boolean whole) {
        int oob = Bytes.indexOf(bytes, from, end, OOB);
        int to = oob < 0 ? end : oob;
        // Ranks name the same devices, so one list serves all of them.
        boolean shared = (whole || oob >= 0) && to - from <= LONGEST_SHARED;
        String key = shared ? Bytes.text(bytes, from, to) : "";
        List<IbDevice> known = shared ? sharedLists.get(key) : null;
        if (known != null) {
            return known;
        }
        List<IbDevice> devices = new ArrayList<>();
        int merged = -1;
        int at = from;
        while (at < to && devices.size() < Math.min(MOST_DEVICES, devicesLeft)) {
            if (bytes[at] == '}') {
                merged = -1;
            }
            if (bytes[at] != '[') {
                at++;
                continue;
            }
            int indexTo = Bytes.digitsEnd(bytes, at + 1, to);
            int index = Bytes.number(bytes, at + 1, indexTo);
            at++;
            if (index < 0 || indexTo >= to || bytes[indexTo] != ']') {
                continue;
            }
            at = indexTo + 1;
            if (at + 1 < to && bytes[at] == '=' && bytes[at + 1] == '{') {
                merged = index;
                at += 2;
                continue;
            }
            if (at < to && bytes[at] == ' ') {
                at++;
            }
            int nameTo = at;
            while (nameTo < to && isNameByte(bytes[nameTo])) {
                nameTo++;
            }
            int portTo = Bytes.digitsEnd(bytes, Math.min(nameTo + 1, to), to);
            int port = Bytes.number(bytes, nameTo + 1, portTo);
            if (nameTo == at || nameTo >= to || bytes[nameTo] != ':' || port < 0) {
                continue;
            }
            int layer = portTo;
            while (layer < to && (bytes[layer] == ':' || Bytes.isDigit(bytes[layer]))) {
                layer++;
            }
            int layerTo = layer + 1;
            while (layerTo < to && (bytes[layerTo] | 0x20) >= 'a' && (bytes[layerTo] | 0x20) <= 'z') {
                layerTo++;
            }
            boolean cut = layerTo >= to && !whole && oob < 0;
            boolean plausible = nameTo - at <= LONGEST_NAME && layerTo > layer + 1 && layerTo - layer <= LONGEST_LAYER;
            if (layer < to && bytes[layer] == '/' && plausible && !cut) {
                devices.add(new IbDevice(
                        merged >= 0 ? merged : index,
                        Bytes.text(bytes, at, nameTo),
                        port,
                        linkLayer(bytes, layer + 1, layerTo)));
            }
            at = nameTo;
        }
        devicesLeft -= devices.size();
        List<IbDevice> list = List.copyOf(devices);
        if (shared && sharedLists.size() < SHARED_LISTS) {
            sharedLists.put(key, list);
        }
        return list;
    }

    private static String linkLayer(byte[] bytes, int from, int to) {
        return is(bytes, from, to, ROCE) ? "RoCE" : is(bytes, from, to, IB) ? "IB" : Bytes.text(bytes, from, to);
    }

    private static boolean isNameByte(int b) {
        return b > ' ' && b < 0x7f && b != ':' && b != '/' && b != '[' && b != ']' && b != ',' && b != ';' && b != '{'
                && b != '}';
    }

    /** {@code comm 0x… rank 3 nranks 16 …}, and the same with nRanks. */
    private static void rank(ProcessNotes process, byte[] bytes, int from, int to, boolean whole) {
        int at = Bytes.indexOf(bytes, from, to, RANK);
        if (at < 0) {
            return;
        }
        int rank = at + RANK.length;
        int rankTo = Bytes.digitsEnd(bytes, rank, to);
        if (!Bytes.startsWith(bytes, rankTo, to, N_RANKS) && !Bytes.startsWith(bytes, rankTo, to, N_RANKS_TOO)) {
            return;
        }
        int of = rankTo + N_RANKS.length;
        int ofTo = Bytes.digitsEnd(bytes, of, to);
        int number = Bytes.number(bytes, rank, rankTo);
        int size = Bytes.number(bytes, of, ofTo);
        if (number >= 0 && number < size && size <= MOST_RANKS && (whole || ofTo < to)) {
            process.rank(number, size);
        }
    }

    /** {@code NCCL version 2.28.9+cuda13.0}, with a head or without; PyTorch's errors leave out CUDA's version. */
    void version(byte[] bytes, int from, int to, boolean whole) {
        int at = from + VERSION.length;
        int end = at;
        boolean full = false;
        while (end < to && bytes[end] > ' ' && bytes[end] < 0x7f) {
            full |= bytes[end] == '+';
            end++;
        }
        boolean cut = end == to && !whole;
        boolean plausible = full && Bytes.isDigit(bytes[at]) && end - at <= LONGEST_VERSION;
        if (plausible && !cut && versions.size() < MOST_VERSIONS) {
            versions.add(Bytes.text(bytes, at, end));
        }
    }

    private void once(ProcessNotes process, Fact fact, byte[] bytes, int from, int to, long line) {
        if (!process.has(fact)) {
            process.note(fact, keeper.keep(line, bytes, from, to));
        }
    }

    private void sign(ProcessNotes process, byte[] bytes, int from, int to, long line) {
        SignWords.find(bytes, from, to).ifPresent(sign -> {
            sign(process, sign, bytes, from, to, line);
            if (sign == Sign.NO_NETWORK) {
                once(process, Fact.NO_NETWORK, bytes, from, to, line);
            }
        });
    }

    /** @param process null for a line that is not NCCL's */
    void sign(ProcessNotes process, Sign sign, byte[] bytes, int from, int to, long line) {
        if (process != null) {
            process.sign(sign);
        }
        if (!signs.containsKey(sign)) {
            signs.put(sign, keeper.keep(line, bytes, from, to));
        }
    }
}
