package io.erdma.doctor;

import io.erdma.doctor.Facts.AgentAnswer;
import io.erdma.doctor.Facts.KubeletSocket;
import java.util.List;

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
}
