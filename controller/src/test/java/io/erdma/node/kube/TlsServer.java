package io.erdma.node.kube;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An HTTPS server as a pod finds the API: only by the authority that its service account names. */
public final class TlsServer {
    private static final String PASSWORD = "changeit";

    private TlsServer() {}

    /**
     * @param account a directory for a service account, which gets the server's own certificate as {@code ca.crt}
     * @return on a free port of 127.0.0.1, not started yet
     */
    public static HttpsServer create(Path account) throws IOException, GeneralSecurityException, InterruptedException {
        Path store = account.resolve("server.p12");
        keytool(store, "-genkeypair", "-keyalg", "EC", "-dname", "CN=kube-apiserver", "-ext", "san=ip:127.0.0.1");
        keytool(store, "-exportcert", "-rfc", "-file", account.resolve("ca.crt").toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return server;
    }

    private static void keytool(Path store, String... words) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(words));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD, "-alias", "server"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(String.join(" ", command) + " failed: " + said);
        }
    }
}
