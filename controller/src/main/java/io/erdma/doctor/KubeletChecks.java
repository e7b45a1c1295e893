package io.erdma.doctor;

import static java.util.Comparator.naturalOrder;

import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.KubeletSocket;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import java.util.List;
import java.util.Locale;

/** The kubelet, and the agent that is to be registered with it. */
final class KubeletChecks {
    private static final int OK = 200;

    private KubeletChecks() {}

    static List<Finding> socket(Facts facts) {
        return List.of(
                switch (facts.kubelet()) {
                    case Fact.Unknown<KubeletSocket>(String why) ->
                        Finding.notSeen(
                                why,
                                "on a node of a cluster: mount the kubelet's directory, or name it with --kubelet-root-dir");
                    case Fact.Known<KubeletSocket>(KubeletSocket socket) ->
                        switch (socket) {
                            case KubeletSocket.Answers(var path) -> Finding.pass(path + " takes connections");
                            case KubeletSocket.Missing(var path) ->
                                Finding.fail(
                                        path + " is missing",
                                        "is the kubelet running? systemctl status kubelet; journalctl -u kubelet");
                            case KubeletSocket.Refuses(var path, var why) ->
                                Finding.fail(
                                                path + " takes no connection",
                                                "is the kubelet running? systemctl status kubelet; journalctl -u kubelet")
                                        .because(why);
                        };
                });
    }

    static List<Finding> agent(Facts facts) {
        return List.of(
                switch (facts.agent()) {
                    case AgentAnswer.NotAsked(String why) -> Finding.skipped(why);
                    case AgentAnswer.Silent(String url, String why) ->
                        Finding.fail(
                                        "no agent answers at " + url,
                                        "is its pod running on this node? kubectl get pods -A -o wide. If it listens"
                                                + " elsewhere, tell with --probe-address.")
                                .because(why);
                    case AgentAnswer.Answered(String url, int status, List<String> lines) ->
                        status == OK
                                ? Finding.pass("registered and ready, says " + url)
                                : Finding.fail(
                                                "the agent is not ready, says " + url + " (" + status + ")",
                                                "each line above names what does not hold; the agent's log says more")
                                        .because(lines);
                });
    }

    static List<Finding> plans(Facts facts) {
        if (facts.agent() instanceof AgentAnswer.NotAsked(String why)) {
            return List.of(Finding.skipped(why));
        }
        if (facts.agent() instanceof AgentAnswer.Silent) {
            return List.of(Finding.skipped("no agent answers here that could tell them"));
        }
        return List.of(
                switch (facts.plans()) {
                    case Fact.Unknown<List<Plan>>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<List<Plan>>(List<Plan> plans) -> plans(plans);
                });
    }

    private static Finding plans(List<Plan> all) {
        // What is said of the cluster has a check of its own.
        List<Plan> open = all.stream()
                .filter(plan -> plan.state() != PlanState.INFO && !ClusterChecks.isAbout(plan))
                .toList();
        PlanState worst = open.stream().map(Plan::state).max(naturalOrder()).orElse(PlanState.INFO);
        Finding finding = switch (worst) {
            case INFO -> Finding.pass("nothing is planned, pending or wrong");
            case PLANNED ->
                Finding.warn(
                        "the agent has changes to make",
                        "look again in a minute; what stays is what the agent may not do: see its settings");
            case PENDING ->
                Finding.warn(
                        "the agent waits to make a change",
                        "let the pods that use the devices end, or move them to another node; the agent then goes"
                                + " on by itself");
            case WARNING -> Finding.warn("the agent warns", "do what the lines above say; the agent's log says more");
            case PROBLEM ->
                Finding.fail(
                        "the agent can't do what it is to do",
                        "do what the lines above say; the agent's log says more");
        };
        return finding.because(open.stream()
                .map(plan -> plan.state().name().toLowerCase(Locale.ROOT) + " " + plan.text())
                .toList());
    }
}
