package io.erdma.doctor;

import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.Plan;
import io.erdma.doctor.Facts.PlanState;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the cluster is told of the node, and what the cloud lets it have. */
final class ClusterChecks {
    /** With which the agent's line about it begins. */
    static final String ABOUT = "cluster: ";

    /** In percent of the budget. */
    private static final int NEAR = 90;

    private ClusterChecks() {}

    /** Whether people who look at the Node or a pod are told there. */
    static List<Finding> reports(Facts facts) {
        if (facts.agent() instanceof AgentAnswer.NotAsked(String why)) {
            return List.of(Finding.skipped(why));
        }
        return List.of(
                switch (facts.plans()) {
                    case Fact.Unknown<List<Plan>>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<List<Plan>>(List<Plan> plans) ->
                        plans.stream()
                                .filter(ClusterChecks::isAbout)
                                .findFirst()
                                .map(ClusterChecks::judge)
                                .orElseGet(() -> Finding.skipped("this agent does not tell whether it writes Events"));
                });
    }

    static boolean isAbout(Plan plan) {
        return plan.text().startsWith(ABOUT);
    }

    private static Finding judge(Plan plan) {
        String so = plan.text().substring(ABOUT.length());
        return plan.state() == PlanState.INFO
                ? Finding.pass(so)
                : Finding.warn(
                        so,
                        "give the agent's service account the rights that the line above names, or switch off what needs"
                                + " them (--events, --node-condition, --node-label)");
    }

    static List<Finding> queuePairs(Facts facts) {
        return switch (facts.use()) {
            case Fact.Unknown<UsageSnapshot>(String why) -> List.of(Finding.notSeenAndNotNeeded(why));
            case Fact.Known<UsageSnapshot>(UsageSnapshot use) ->
                use.devices().isEmpty()
                        ? List.of(Finding.skipped("the kernel tells of no queue pairs"))
                        : use.devices().stream()
                                .map(device -> judge(device, budget(facts, device.device()))
                                        .about(device.device()))
                                .toList();
        };
    }

    private static Optional<Integer> budget(Facts facts, String device) {
        return facts.queuePairBudgets().content().orElse(Map.of()).entrySet().stream()
                .filter(entry -> entry.getKey().equals(device) && entry.getValue() > 0)
                .map(Map.Entry::getValue)
                .findFirst();
    }

    private static Finding judge(DeviceUse device, Optional<Integer> budget) {
        if (budget.isEmpty()) {
            return Finding.pass(device.queuePairs()
                    + " in use; how many it may have is not known, since only an ERdmaDevice object tells that");
        }
        String used = device.queuePairs() + " of " + budget.get() + " in use";
        return (long) device.queuePairs() * 100 < (long) budget.get() * NEAR
                ? Finding.pass(used)
                : Finding.warn(
                        used + "; beyond the budget, making a queue pair fails with ENOMEM",
                        "'erdma stat --pods' names who has them: spread the job over more nodes, or take an instance type"
                                + " with more queue pairs");
    }
}
