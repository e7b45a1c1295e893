package io.erdma.doctor;

import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.pods.ContainerName;
import io.erdma.pods.FallbackCause;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.ShareHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** What the cluster makes of the devices: what can be allocated, who holds it and who really uses it. */
final class PodChecks {
    private PodChecks() {}

    static List<Finding> allocatable(Facts facts) {
        if (facts.kubelet() instanceof Fact.Unknown<?>) {
            return List.of(Finding.skipped("there is no kubelet to ask"));
        }
        return List.of(
                switch (facts.allocatable()) {
                    case Fact.Unknown<Map<String, Integer>>(String why) -> Finding.notSeenAndNotNeeded(why);
                    case Fact.Known<Map<String, Integer>>(Map<String, Integer> perDevice) -> judge(facts, perDevice);
                });
    }

    private static Finding judge(Facts facts, Map<String, Integer> perDevice) {
        String resource = facts.wanted().resource();
        int sum = perDevice.values().stream().mapToInt(Integer::intValue).sum();
        String has = "the kubelet has " + resource + ": " + sum;
        List<String> evidence = perDevice.entrySet().stream()
                .map(device -> device.getKey() + ": " + device.getValue())
                .sorted()
                .toList();
        OptionalInt offered = facts.offer()
                .content()
                .map(offer -> OptionalInt.of(offer.healthyShares()))
                .orElse(OptionalInt.empty());
        if (offered.isPresent() && offered.getAsInt() != sum) {
            return Finding.fail(
                            has + ", and the agent offers " + offered.getAsInt(),
                            "wait a moment and repeat; if it stays so, start the agent's pod on this node again, and look"
                                    + " into the kubelet's log for " + resource)
                    .because(evidence);
        }
        if (sum == 0) {
            boolean agentThere = facts.agent() instanceof AgentAnswer.Answered;
            return Finding.fail(
                    has + ", so pods that ask for it stay Pending",
                    agentThere
                            ? "make the devices healthy: the checks above name what is wrong with them"
                            : "start the agent on this node: nobody offers the devices to the kubelet");
        }
        return Finding.pass(has
                        + offered.stream()
                                .mapToObj(_ -> ", as the agent offers")
                                .collect(Collectors.joining()))
                .because(evidence);
    }

    static List<Finding> nodeObject(Facts facts) {
        if (facts.wanted().node().isEmpty()) {
            return List.of(Finding.skipped("no --node was named to compare with"));
        }
        String node = facts.wanted().node().get();
        return List.of(
                switch (facts.nodeObject()) {
                    case Fact.Unknown<OptionalLong>(String why) ->
                        Finding.notSeen(
                                why,
                                "run this in the agent's pod, or with KUBECONFIG set; 'kubectl describe node " + node
                                        + "' shows the same");
                    case Fact.Known<OptionalLong>(OptionalLong allocatable) -> judge(facts, node, allocatable);
                });
    }

    private static Finding judge(Facts facts, String node, OptionalLong allocatable) {
        String resource = facts.wanted().resource();
        if (allocatable.isEmpty()) {
            return Finding.fail(
                    node + " does not know " + resource,
                    "the kubelet takes a moment to tell the cluster what the agent registered; make the checks of the"
                            + " kubelet and the agent pass first, and see that " + node + " is this machine");
        }
        String has = node + " has " + resource + ": " + allocatable.getAsLong();
        OptionalInt here = known(facts);
        if (here.isPresent() && here.getAsInt() != allocatable.getAsLong()) {
            return Finding.fail(
                    has + ", and this machine " + here.getAsInt(),
                    "the kubelet tells the cluster within a minute; if it stays so, see that " + node
                            + " is this machine, and look into the kubelet's log");
        }
        return allocatable.getAsLong() == 0
                ? Finding.fail(
                        has + ", so pods that ask for it stay Pending",
                        "make the devices healthy: the checks above name what is wrong with them")
                : Finding.pass(has + (here.isPresent() ? ", as this machine" : ""));
    }

    /** What this machine has: by its kubelet, else by what the agent offers. */
    private static OptionalInt known(Facts facts) {
        return facts.allocatable()
                .content()
                .map(perDevice -> OptionalInt.of(
                        perDevice.values().stream().mapToInt(Integer::intValue).sum()))
                .or(() -> facts.offer().content().map(offer -> OptionalInt.of(offer.healthyShares())))
                .orElse(OptionalInt.empty());
    }

    static List<Finding> use(Facts facts) {
        if (facts.kubelet() instanceof Fact.Unknown<?>) {
            return List.of(Finding.skipped("there is no kubelet to ask who holds shares"));
        }
        return switch (facts.use()) {
            case Fact.Unknown<UsageSnapshot>(String why) -> List.of(Finding.notSeenAndNotNeeded(why));
            case Fact.Known<UsageSnapshot>(UsageSnapshot use) -> judge(use);
        };
    }

    private static List<Finding> judge(UsageSnapshot use) {
        if (use.findings().isEmpty()) {
            return List.of(
                    use.problems().isEmpty()
                            ? Finding.pass("no pod holds a share")
                            : Finding.notSeenAndNotNeeded(use.problems().getFirst()));
        }
        List<Finding> findings = new ArrayList<>();
        List<String> fine = new ArrayList<>();
        for (UsageSnapshot.Finding one : use.findings()) {
            String holds = one.container() + " (" + devices(use, one.container()) + ")";
            switch (one.verdict()) {
                case FallbackVerdict.AsksOnly(var running) ->
                    findings.add(Finding.warn(
                                    holds + " has run for " + running.toMinutes()
                                            + " min without a queue pair or an open device: what it sends goes over TCP",
                                    next(one))
                            .because(one.causes().stream()
                                    .map(FallbackCause::found)
                                    .toList()));
                case FallbackVerdict.Uses(int pairs) ->
                    fine.add(holds + ": " + pairs + (pairs == 1 ? " queue pair" : " queue pairs"));
                case FallbackVerdict.OnlyContext _ -> fine.add(holds + ": a device is open, no queue pair yet");
                case FallbackVerdict.NoVerdict(String reason) -> fine.add(holds + ": not judged, " + reason);
            }
        }
        if (!fine.isEmpty()) {
            findings.addFirst(Finding.pass(fine.size() == 1 ? fine.getFirst() : fine.size() + " containers hold shares")
                    .because(fine));
        }
        return findings;
    }

    /** The likely cause first; what no cause was found for, a look from the pod's side may tell. */
    private static String next(UsageSnapshot.Finding finding) {
        return finding.causes().isEmpty()
                ? "erdma doctor --pod " + finding.container().podName()
                        + ", here, looks further; NCCL_DEBUG=INFO in the" + " pod tells whether it asks for RDMA at all"
                : finding.causes().getFirst().remedy();
    }

    private static String devices(UsageSnapshot use, ContainerName container) {
        return use.shares().stream()
                .filter(hold -> hold.container().equals(container))
                .map(ShareHold::device)
                .distinct()
                .collect(Collectors.joining(", "));
    }
}
