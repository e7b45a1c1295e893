package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterAccessTest {
    @TempDir
    private Path account;

    @Test
    void thereIsNoneOutsideOfAClusterAndWithoutCredentials() throws Exception {
        assertThat(ClusterAccess.find(Map.of(), account)).isEmpty();
        assertThat(ClusterAccess.find(Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1"), account))
                .isEmpty();
        Files.writeString(account.resolve("token"), "t");
        assertThat(ClusterAccess.find(Map.of("KUBECONFIG", ""), account)).isEmpty();
    }

    @Test
    void isThePodsOwnUnlessAFileIsNamed() throws Exception {
        Path token = Files.writeString(account.resolve("token"), "t");

        assertThat(ClusterAccess.find(
                        Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "6443"), account))
                .contains(new ClusterAccess.InCluster("https://[fd00::1]:6443", token, account.resolve("ca.crt")));
        assertThat(ClusterAccess.find(
                        Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1", "KUBECONFIG", "/root/.kube/config"), account))
                .contains(new ClusterAccess.Kubeconfig(Path.of("/root/.kube/config")));
    }

    /** With TLS, the service account's token and authority, and past the proxy that is set for the rest of the world. */
    @Test
    void reachesTheApiByThePodsOwnCredentials() throws Exception {
        HttpsServer https = TlsServer.create(account);
        try (FakeApiServer server = FakeApiServer.start(https)) {
            server.demand("the token");
            server.node("cn-hangzhou.i-bp1abc");
            Files.writeString(account.resolve("token"), "the token\n");
            Map<String, String> pod = Map.of(
                    "KUBERNETES_SERVICE_HOST",
                    "127.0.0.1",
                    "KUBERNETES_SERVICE_PORT",
                    Integer.toString(https.getAddress().getPort()));
            System.setProperty("https.proxyHost", "127.0.0.1");
            System.setProperty("https.proxyPort", "1");
            System.setProperty("http.nonProxyHosts", "");
            try (ClusterClient client =
                    ClusterClient.open(ClusterAccess.find(pod, account).orElseThrow())) {
                assertThat(client.providerId("node-a")).isEqualTo(Optional.of("cn-hangzhou.i-bp1abc"));
            } finally {
                System.clearProperty("https.proxyHost");
                System.clearProperty("https.proxyPort");
                System.clearProperty("http.nonProxyHosts");
            }
        }
    }
}
