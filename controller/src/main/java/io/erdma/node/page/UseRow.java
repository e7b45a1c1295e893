package io.erdma.node.page;

import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A line of the list of who uses the devices: a container and a device, or a process outside pods.
 *
 * @param shares absent where shares are not what it is about
 * @param queuePairs absent where the kernel does not tell
 * @param note why there is no verdict; may be empty
 */
record UseRow(String whose, String device, OptionalInt shares, OptionalInt queuePairs, Kind use, String note) {
    /** What pages of a busy node stay readable with. */
    static final int MOST = 500;

    /** In the order of the list. */
    enum Kind {
        ASKS_ONLY,
        OPEN,
        USES,
        NO_VERDICT
    }

    private record Key(ContainerName container, String device) {}

    /** Those that need somebody first, then by name. */
    static List<UseRow> of(UsageSnapshot snapshot) {
        Set<String> told =
                snapshot.devices().stream().map(UsageSnapshot.DeviceUse::device).collect(Collectors.toSet());
        Map<Key, Integer> pairs = new HashMap<>();
        List<UseRow> rows = new ArrayList<>();
        for (ProcessUse process : snapshot.processes()) {
            switch (process.owner()) {
                case Owner.Named(var container) ->
                    pairs.merge(new Key(container, process.device()), process.queuePairs(), Integer::sum);
                case Owner.Unnamed(var id, var pod) ->
                    rows.add(ofProcess(process, pod.map(Object::toString).orElse("pod " + id.podUid())));
                case Owner.Host _ -> rows.add(ofProcess(process, "no pod"));
            }
        }
        Map<ContainerName, FallbackVerdict> verdicts = new HashMap<>();
        snapshot.findings().forEach(finding -> verdicts.put(finding.container(), finding.verdict()));
        Set<Key> listed = new HashSet<>();
        for (ShareHold hold : snapshot.shares()) {
            Key key = new Key(hold.container(), hold.device());
            listed.add(key);
            rows.add(ofContainer(
                    key,
                    OptionalInt.of(hold.shares()),
                    told.contains(hold.device()) ? OptionalInt.of(pairs.getOrDefault(key, 0)) : OptionalInt.empty(),
                    verdicts.getOrDefault(hold.container(), new FallbackVerdict.NoVerdict(""))));
        }
        pairs.forEach((key, count) -> {
            if (listed.add(key)) {
                rows.add(ofContainer(
                        key,
                        OptionalInt.of(0),
                        OptionalInt.of(count),
                        verdicts.getOrDefault(key.container(), new FallbackVerdict.Uses(count))));
            }
        });
        rows.sort(Comparator.comparing(UseRow::use).thenComparing(UseRow::whose).thenComparing(UseRow::device));
        return rows;
    }

    private static UseRow ofProcess(ProcessUse process, String whose) {
        return new UseRow(
                whose + ": " + (process.program().isEmpty() ? "a process" : process.program()) + ", pid "
                        + process.pid(),
                process.device(),
                OptionalInt.empty(),
                OptionalInt.of(process.queuePairs()),
                process.queuePairs() > 0 ? Kind.USES : Kind.OPEN,
                "");
    }

    private static UseRow ofContainer(Key key, OptionalInt shares, OptionalInt queuePairs, FallbackVerdict verdict) {
        Kind kind = switch (verdict) {
            case FallbackVerdict.Uses _ -> Kind.USES;
            case FallbackVerdict.OnlyContext _ -> Kind.OPEN;
            case FallbackVerdict.AsksOnly _ -> Kind.ASKS_ONLY;
            case FallbackVerdict.NoVerdict _ -> Kind.NO_VERDICT;
        };
        String note = verdict instanceof FallbackVerdict.NoVerdict(String reason) ? reason : "";
        return new UseRow(key.container().toString(), key.device(), shares, queuePairs, kind, note);
    }
}
