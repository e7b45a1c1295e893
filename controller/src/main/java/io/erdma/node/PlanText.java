package io.erdma.node;

import io.erdma.log.Printable;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.interfaces.InterfacesStatus;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.kube.EventCounts;
import io.erdma.node.net.KeeperStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the agent is about to do, waits for and can't do, one line each: a word that tells how it stands ({@code info},
 * {@code planned}, {@code pending}, {@code warning} or {@code problem}), then what it is about. {@code erdma doctor}
 * reads it, so the words stay.
 */
final class PlanText {
    private static final String CLUSTER = "cluster: ";

    private final List<String> lines = new ArrayList<>();

    private PlanText() {}

    /** @param driver absent before the first look at it */
    static String of(Optional<DriverStatus> driver, KeeperStatus interfaces, InterfacesStatus source) {
        var text = new PlanText();
        driver.ifPresentOrElse(text::driver, () -> text.add("info", "driver: not looked at yet"));
        text.source(source);
        text.interfaces(interfaces);
        return String.join("\n", text.lines) + "\n";
    }

    /** How the cluster is told of the node, in one line of the same form. */
    static String of(ClusterReporter.Status reports) {
        var text = new PlanText();
        EventCounts counts = reports.counts();
        String so = reports.off()
                .map(why -> "the cluster is told nothing: " + why)
                .orElseGet(() -> counts.written() + " Events written, " + counts.dropped() + " dropped");
        text.add(
                reports.problem().isPresent() ? "warning" : "info",
                CLUSTER + so + reports.problem().map(why -> "; " + why).orElse(""));
        return text.lines.getFirst() + "\n";
    }

    private void driver(DriverStatus status) {
        add(
                status.due() ? "planned" : "info",
                "driver: preferred " + status.preferred() + (status.chosenByNode() ? " (chosen by the node)" : "")
                        + ", in force " + status.inForce() + ": " + status.plan());
        status.pending().ifPresent(why -> add("pending", "driver: " + why));
        status.problem().ifPresent(what -> add("problem", "driver: " + what));
        status.usedBy().forEach(user -> add("info", "driver: used by " + user));
    }

    private void source(InterfacesStatus status) {
        add("info", "interfaces: from " + status.source());
        add("info", "devices to offer: " + status.offered().describe());
        status.problems().forEach(problem -> add("warning", "interfaces: " + problem));
    }

    private void interfaces(KeeperStatus status) {
        status.plan()
                .changes()
                .forEach(change -> add(
                        "planned",
                        "interfaces: " + change.describe()
                                + (status.managing() ? "" : " (not done: the agent only plans)")));
        status.notes()
                .forEach(note -> add(
                        switch (note.severity()) {
                            case INFO -> "info";
                            case WARNING -> "warning";
                        },
                        "interfaces: " + note));
        status.lastError().ifPresent(error -> add("problem", "interfaces: " + error));
    }

    private void add(String word, String text) {
        lines.add(word + " " + Printable.of(text));
    }
}
