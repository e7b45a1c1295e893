import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/** Makes Java's trust store from a file of PEM certificates: {@code java TrustStore.java <pem> <store>}. */
final class TrustStore {
    private TrustStore() {}

    public static void main(String[] args) throws Exception {
        // Without a password there is no salt: the same certificates make the same file.
        System.setProperty("keystore.pkcs12.certProtectionAlgorithm", "NONE");
        System.setProperty("keystore.pkcs12.macAlgorithm", "NONE");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        int number = 0;
        try (InputStream pem = Files.newInputStream(Path.of(args[0]))) {
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry("%03d".formatted(number++), certificate);
            }
        }
        try (OutputStream out = Files.newOutputStream(Path.of(args[1]))) {
            store.store(out, null);
        }
    }
}
