package io.erdma.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Who uses the devices, for people and programs. */
final class UsageFormat {
    private static final String GAP = "  ";
    private static final int ID_SHOWN = 12;

    private UsageFormat() {}

    /** @param budgets how many queue pairs each device may have, where known */
    static String text(UsageSnapshot snapshot, Map<String, Integer> budgets) {
        StringBuilder text = new StringBuilder(1024);
        devices(text, snapshot, budgets);
        if (!snapshot.processes().isEmpty()) {
            List<List<String>> processes = new ArrayList<>();
            processes.add(List.of("DEVICE", "QUEUE PAIRS", "CONTEXTS", "PID", "PROGRAM", "WHOSE"));
            for (ProcessUse use : snapshot.processes()) {
                processes.add(List.of(
                        use.device(),
                        Integer.toString(use.queuePairs()),
                        number(use.contexts()),
                        Long.toString(use.pid()),
                        use.program().isEmpty() ? TrafficText.UNKNOWN : use.program(),
                        owner(use.owner())));
            }
            table(text.append('\n'), processes);
        }
        if (!snapshot.shares().isEmpty()) {
            List<List<String>> shares = new ArrayList<>();
            shares.add(List.of("DEVICE", "SHARES", "HELD BY"));
            for (ShareHold hold : snapshot.shares()) {
                shares.add(List.of(
                        hold.device(),
                        Integer.toString(hold.shares()),
                        hold.container().toString()));
            }
            table(text.append('\n'), shares);
        }
        return text.toString();
    }

    private static void devices(StringBuilder text, UsageSnapshot snapshot, Map<String, Integer> budgets) {
        if (snapshot.devices().isEmpty()) {
            text.append("There is no device of which the kernel tells who uses it.\n");
            return;
        }
        List<List<String>> devices = new ArrayList<>();
        devices.add(List.of("DEVICE", "QUEUE PAIRS", "OF AT MOST", "OWNER UNKNOWN", "CONTEXTS"));
        for (DeviceUse use : snapshot.devices()) {
            devices.add(List.of(
                    use.device(),
                    Integer.toString(use.queuePairs()),
                    Optional.ofNullable(budgets.get(use.device()))
                            .map(budget -> Integer.toString(budget))
                            .orElse(TrafficText.UNKNOWN),
                    Integer.toString(use.orphans()),
                    number(use.contexts())));
        }
        table(text, devices);
    }

    private static String number(OptionalInt value) {
        return value.isPresent() ? Integer.toString(value.getAsInt()) : TrafficText.UNKNOWN;
    }

    private static String owner(Owner owner) {
        return switch (owner) {
            case Owner.Named(var name) -> name.toString();
            case Owner.Unnamed(var id, var pod) ->
                pod.map(name -> name + "/").orElse("pod " + id.podUid() + ", ") + "container "
                        + id.container()
                                .substring(0, Math.min(ID_SHOWN, id.container().length()));
            case Owner.Host _ -> "no pod";
        };
    }

    /** Columns as wide as what stands in them; the last one is not filled up. */
    private static void table(StringBuilder text, List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], TerminalText.escape(row.get(i)).length());
            }
        }
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                String cell = TerminalText.escape(row.get(i));
                text.append(cell);
                if (i < columns - 1) {
                    text.repeat(' ', widths[i] - cell.length()).append(GAP);
                }
            }
            text.append('\n');
        }
    }

    /**
     * Writes into an open object: {@code usage} with {@code devices[]} (device, queuePairs, queuePairBudget,
     * queuePairsOfUnknownOwner, contexts), {@code processes[]} (device, pid, program, queuePairs, contexts, namespace, pod, container, podUid,
     * containerId), {@code shares[]} (namespace, pod, container, device, shares) and {@code problems[]}.
     */
    static void json(JsonGenerator generator, UsageSnapshot snapshot, Map<String, Integer> budgets) throws IOException {
        generator.writeObjectFieldStart("usage");
        generator.writeArrayFieldStart("devices");
        for (DeviceUse use : snapshot.devices()) {
            generator.writeStartObject();
            generator.writeStringField("device", use.device());
            generator.writeNumberField("queuePairs", use.queuePairs());
            Integer budget = budgets.get(use.device());
            Json.number(generator, "queuePairBudget", budget == null ? OptionalInt.empty() : OptionalInt.of(budget));
            generator.writeNumberField("queuePairsOfUnknownOwner", use.orphans());
            Json.number(generator, "contexts", use.contexts());
            generator.writeEndObject();
        }
        generator.writeEndArray();
        generator.writeArrayFieldStart("processes");
        for (ProcessUse use : snapshot.processes()) {
            process(generator, use);
        }
        generator.writeEndArray();
        generator.writeArrayFieldStart("shares");
        for (ShareHold hold : snapshot.shares()) {
            generator.writeStartObject();
            generator.writeStringField("namespace", hold.container().namespace());
            generator.writeStringField("pod", hold.container().pod());
            generator.writeStringField("container", hold.container().container());
            generator.writeStringField("device", hold.device());
            generator.writeNumberField("shares", hold.shares());
            generator.writeEndObject();
        }
        generator.writeEndArray();
        generator.writeArrayFieldStart("problems");
        for (String problem : snapshot.problems()) {
            generator.writeString(problem);
        }
        generator.writeEndArray();
        generator.writeEndObject();
    }

    private static void process(JsonGenerator generator, ProcessUse use) throws IOException {
        generator.writeStartObject();
        generator.writeStringField("device", use.device());
        generator.writeNumberField("pid", use.pid());
        generator.writeStringField("program", use.program());
        generator.writeNumberField("queuePairs", use.queuePairs());
        Json.number(generator, "contexts", use.contexts());
        Optional<String> namespace = Optional.empty();
        Optional<String> pod = Optional.empty();
        Optional<String> container = Optional.empty();
        Optional<String> podUid = Optional.empty();
        Optional<String> containerId = Optional.empty();
        switch (use.owner()) {
            case Owner.Named(var name) -> {
                namespace = Optional.of(name.namespace());
                pod = Optional.of(name.pod());
                container = Optional.of(name.container());
            }
            case Owner.Unnamed(var id, var name) -> {
                namespace = name.map(known -> known.namespace());
                pod = name.map(known -> known.pod());
                podUid = Optional.of(id.podUid());
                containerId = Optional.of(id.container());
            }
            case Owner.Host _ -> {
                // All stay null.
            }
        }
        Json.string(generator, "namespace", namespace);
        Json.string(generator, "pod", pod);
        Json.string(generator, "container", container);
        Json.string(generator, "podUid", podUid);
        Json.string(generator, "containerId", containerId);
        generator.writeEndObject();
    }
}
