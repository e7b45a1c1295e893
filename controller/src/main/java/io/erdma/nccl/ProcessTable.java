package io.erdma.nccl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/** The processes of a log by host and process id, found without making an object for each line. */
final class ProcessTable {
    /** More than the ranks of the largest jobs; a log with more is none. */
    static final int MOST = 65_536;

    private ProcessNotes[] slots = new ProcessNotes[256];
    private final List<ProcessNotes> all = new ArrayList<>();

    /** The notes of a line's process, new ones where there are none yet, null once there are too many. */
    ProcessNotes find(byte[] bytes, Header header) {
        int hash = header.pid * 31;
        for (int i = header.hostFrom; i < header.hostTo; i++) {
            hash = (hash ^ bytes[i]) * 0x01000193;
        }
        hash ^= hash >>> 15;
        int slot = hash & (slots.length - 1);
        while (slots[slot] != null) {
            if (isOf(slots[slot], hash, bytes, header)) {
                return slots[slot];
            }
            slot = (slot + 1) & (slots.length - 1);
        }
        if (all.size() == MOST) {
            return null;
        }
        ProcessNotes added = new ProcessNotes(
                Arrays.copyOfRange(bytes, header.hostFrom, header.hostTo), header.pid, hash, all.size());
        slots[slot] = added;
        all.add(added);
        if (all.size() * 2 > slots.length) {
            grow();
        }
        return added;
    }

    private static boolean isOf(ProcessNotes notes, int hash, byte[] bytes, Header header) {
        return notes.hash == hash
                && notes.pid == header.pid
                && notes.host.length == header.hostTo - header.hostFrom
                && Bytes.startsWith(bytes, header.hostFrom, header.hostTo, notes.host);
    }

    private void grow() {
        ProcessNotes[] larger = new ProcessNotes[slots.length * 2];
        for (ProcessNotes notes : all) {
            int slot = notes.hash & (larger.length - 1);
            while (larger[slot] != null) {
                slot = (slot + 1) & (larger.length - 1);
            }
            larger[slot] = notes;
        }
        slots = larger;
    }

    /**
     * All notes, in the order of first lines. A single line whose host only ends with that of another process of the same
     * id had something without a newline before it ({@code loss=2.3vm:739:740 [0] NCCL …}), and belongs to that process;
     * so does a first line of the log that begins within the host's name.
     */
    Merged merged() {
        record Name(String host, int pid) {}
        Map<Name, ProcessNotes> known = new HashMap<>();
        for (ProcessNotes notes : all) {
            if (notes.lines > 1) {
                known.put(new Name(notes.hostName(), notes.pid), notes);
            }
        }
        List<ProcessNotes> kept = new ArrayList<>();
        ProcessNotes[] owners = new ProcessNotes[all.size()];
        for (ProcessNotes notes : all) {
            if (notes.lines == 1) {
                String host = notes.hostName();
                ProcessNotes owner = null;
                for (int i = 1; i < host.length() && owner == null; i++) {
                    owner = known.get(new Name(host.substring(i), notes.pid));
                }
                if (owner == null && notes.firstLine == 1) {
                    owner = all.stream()
                            .filter(other -> other.lines > 1
                                    && other.pid == notes.pid
                                    && other.hostName().endsWith(host))
                            .findFirst()
                            .orElse(null);
                }
                owners[notes.number] = owner;
            }
            if (owners[notes.number] == null) {
                owners[notes.number] = notes;
                kept.add(notes);
            } else {
                owners[notes.number].merge(notes);
            }
        }
        int[] places = new int[all.size()];
        for (int i = 0; i < kept.size(); i++) {
            places[kept.get(i).number] = i;
        }
        int[] ownPlaces = new int[all.size()];
        Arrays.setAll(ownPlaces, number -> places[owners[number].number]);
        all.clear();
        slots = new ProcessNotes[0];
        return new Merged(kept, number -> ownPlaces[number]);
    }

    /**
     * The processes that there are.
     *
     * @param place for the number of any notes, where in the list its process stands
     */
    record Merged(List<ProcessNotes> processes, IntUnaryOperator place) {
        /** The processes' records; as each is made its notes go, since the two of all would not fit a small heap. */
        List<NcclProcess> take() {
            List<NcclProcess> records = new ArrayList<>(processes.size());
            for (int i = 0; i < processes.size(); i++) {
                records.add(processes.set(i, null).toProcess());
            }
            return records;
        }
    }
}
