package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** How the cluster's API is reached. To know it costs nothing; the client comes with {@link ClusterClient}. */
public sealed interface ClusterAccess {
    /** Where the kubelet puts a pod's credentials. */
    Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    /**
     * As a pod of the cluster.
     *
     * @param server an https URL
     * @param token file with the service account's token, which the kubelet replaces from time to time
     * @param authority file with the certificates that the API server's is checked against
     */
    record InCluster(String server, Path token, Path authority) implements ClusterAccess {
        public InCluster {
            requireNonNull(server, "server is null");
            requireNonNull(token, "token is null");
            requireNonNull(authority, "authority is null");
        }
    }

    /** As a person, by the file that kubectl uses as well. */
    record Kubeconfig(Path file) implements ClusterAccess {
        public Kubeconfig {
            requireNonNull(file, "file is null");
        }
    }

    /**
     * What the process has been given: KUBECONFIG if it is set, else the credentials of its pod.
     *
     * @param serviceAccount the directory of those
     * @return empty outside of a cluster, and for a pod without credentials
     */
    static Optional<ClusterAccess> find(Map<String, String> environment, Path serviceAccount) {
        String kubeconfig = environment.getOrDefault("KUBECONFIG", "");
        if (!kubeconfig.isEmpty()) {
            return Optional.of(new Kubeconfig(Path.of(kubeconfig)));
        }
        String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
        String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
        Path token = serviceAccount.resolve("token");
        if (host.isEmpty() || !Files.isReadable(token)) {
            return Optional.empty();
        }
        String server = "https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        return Optional.of(new InCluster(server, token, serviceAccount.resolve("ca.crt")));
    }
}
