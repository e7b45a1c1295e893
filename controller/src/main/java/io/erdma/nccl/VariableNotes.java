package io.erdma.nccl;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

/** The NCCL variables that a log shows, each with its values. */
final class VariableNotes {
    private static final int MOST = 256;
    private static final int LONGEST_VALUE = 128;
    private static final byte[] BY_ENVIRONMENT = Bytes.of(" set by environment to ");
    private static final byte[] SET_TO = Bytes.of(" set to ");
    private static final byte[] EXPORT = Bytes.of("export ");
    private static final byte[] DECLARE = Bytes.of("declare -x ");
    private static final byte[] TRACE = Bytes.of("+ ");

    private record Setting(String name, String value) implements Comparable<Setting> {
        @Override
        public int compareTo(Setting other) {
            int byName = name.compareTo(other.name);
            return byName != 0 ? byName : value.compareTo(other.value);
        }
    }

    /** The first line and the processes that said it. */
    private static final class Seen {
        private final Evidence first;
        private final BitSet processes = new BitSet();

        private Seen(Evidence first) {
            this.first = first;
        }
    }

    private final Map<Setting, Seen> seen = new TreeMap<>();

    /** @param from where the message {@code NCCL_… set by environment to …} begins */
    void read(ProcessNotes process, byte[] bytes, int from, int to, long line, EvidenceKeeper keeper) {
        int name = nameEnd(bytes, from, to);
        int value;
        if (Bytes.startsWith(bytes, name, to, BY_ENVIRONMENT)) {
            value = name + BY_ENVIRONMENT.length;
        } else if (Bytes.startsWith(bytes, name, to, SET_TO)) {
            value = name + SET_TO.length;
        } else {
            return;
        }
        // Numbers are printed with a full stop after them, texts mostly without.
        int end = Bytes.trimEnd(bytes, value, to);
        if (end > value && bytes[end - 1] == '.') {
            end--;
        }
        add(process, Bytes.text(bytes, from, name), bytes, value, end, keeper, line, from, to);
    }

    /** A line of a shell or of {@code env}: {@code export NCCL_…=…}. */
    void readShell(byte[] bytes, int from, int to, int at, long line, EvidenceKeeper keeper) {
        if (!(at == from
                || isAt(bytes, from, at, EXPORT)
                || isAt(bytes, from, at, DECLARE)
                || isAt(bytes, from, at, TRACE))) {
            return;
        }
        int name = nameEnd(bytes, at, to);
        if (name >= to || bytes[name] != '=') {
            return;
        }
        int value = name + 1;
        boolean quoted = value < to && (bytes[value] == '"' || bytes[value] == '\'');
        int end = quoted ? value + 1 : value;
        while (end < to && (quoted ? bytes[end] != bytes[value] : bytes[end] != ' ')) {
            end++;
        }
        add(null, Bytes.text(bytes, at, name), bytes, quoted ? value + 1 : value, end, keeper, line, from, to);
    }

    private static boolean isAt(byte[] bytes, int from, int at, byte[] word) {
        return at - word.length >= from && Bytes.startsWith(bytes, at - word.length, at, word);
    }

    private void add(
            ProcessNotes process,
            String name,
            byte[] bytes,
            int valueFrom,
            int valueTo,
            EvidenceKeeper keeper,
            long line,
            int from,
            int to) {
        Setting setting = new Setting(name, Bytes.text(bytes, valueFrom, Math.min(valueTo, valueFrom + LONGEST_VALUE)));
        Seen known = seen.get(setting);
        if (known == null) {
            if (seen.size() == MOST) {
                return;
            }
            known = new Seen(keeper.keep(line, bytes, from, to));
            seen.put(setting, known);
        }
        if (process != null) {
            known.processes.set(process.number);
        }
    }

    private static int nameEnd(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to
                && end - from < LONGEST_VALUE
                && ((bytes[end] >= 'A' && bytes[end] <= 'Z') || bytes[end] == '_' || Bytes.isDigit(bytes[end]))) {
            end++;
        }
        return end;
    }

    /** @param place for the number of a process's notes, where it stands among the log's processes */
    List<NcclVariable> toVariables(IntUnaryOperator place) {
        List<NcclVariable> variables = new ArrayList<>();
        seen.forEach((setting, known) -> {
            BitSet processes = new BitSet();
            known.processes.stream().forEach(number -> processes.set(place.applyAsInt(number)));
            variables.add(new NcclVariable(setting.name(), setting.value(), known.first, processes));
        });
        return variables;
    }
}
