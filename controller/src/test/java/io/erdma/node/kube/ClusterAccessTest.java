package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
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
        HttpsServer https = tls();
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

    /** A server whose certificate is its own authority; that goes into the account. */
    private HttpsServer tls() throws Exception {
        Path store = account.resolve("server.p12");
        keytool(
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-keyalg",
                "EC",
                "-dname",
                "CN=kube-apiserver",
                "-ext",
                "san=ip:127.0.0.1");
        keytool(
                "-exportcert",
                "-rfc",
                "-keystore",
                store.toString(),
                "-file",
                account.resolve("ca.crt").toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, "changeit".toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, "changeit".toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return server;
    }

    private static void keytool(String... words) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(words));
        command.addAll(List.of("-storepass", "changeit", "-alias", "server"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
