package io.erdma.image;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsServer;
import io.erdma.node.kube.FakeApiServer;
import io.erdma.node.kube.TlsServer;
import io.erdma.plugin.FakeKubelet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The cluster's client as it is packaged: with the jars and the Java modules that were left in, where the tests of the
 * controller have them all.
 */
class ClusterApiIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

    @TempDir
    private Path account;

    private static String device(String mac) {
        return "\"spec\":{\"devices\":[{\"id\":\"eni-1\",\"mac\":\"" + mac + "\"}]}";
    }

    @Test
    void followsTheNodesObjectOverTlsByTheCredentialsOfItsPod() throws Exception {
        HttpsServer https = TlsServer.create(account);
        Files.writeString(account.resolve("token"), "the token\n");
        try (FakeApiServer api = FakeApiServer.start(https);
                Node node = new Node()) {
            api.demand("the token");
            api.node("cn-hangzhou.i-b");
            api.allocatable(FakeKubelet.RESOURCE, "7");
            api.put(device("00:16:3e:00:00:99"));
            ContainerShape shape = node.mountedIn(ContainerShape.ALONE)
                    .onTheHostsNetwork()
                    .mounting(account, ACCOUNT)
                    .with("KUBERNETES_SERVICE_HOST", "127.0.0.1")
                    .with(
                            "KUBERNETES_SERVICE_PORT",
                            Integer.toString(https.getAddress().getPort()))
                    .with("NODE_NAME", "node-a")
                    .with("ERDMA_LOCAL_ERI_DISCOVERY", "false")
                    .with("ERDMA_MANAGE_DRIVER", "false")
                    // The network is this machine's.
                    .with("ERDMA_MANAGE_INTERFACES", "false")
                    .with("ERDMA_PROBE_ADDRESS", "127.0.0.1:0");
            try (RunningContainer agent = RunningContainer.start(shape, "agent")) {
                node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, 0, SOON);
                api.put(device("00:16:3E:0A:00:01"));
                node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, Node.SHARES / 2, SOON);
                assertThat(agent.exec("erdma", "doctor", "--node", "node-a").getStdout())
                        .contains("7");
                api.delete();
                node.kubelet().awaitAllocatable(FakeKubelet.RESOURCE, 0, SOON);

                assertThat(agent.stop().code()).as(agent.log()).isZero();
                assertThat(agent.log()).doesNotContain("\tat ", "NoClassDefFoundError", "ClassNotFoundException");
            }
        }
    }
}
